// Two messages of a conversation, and a question about them in a later one.

import { Bank } from "./client.js";

declare const process: { env: Record<string, string | undefined> };

const url = process.env.STREAMBANK_URL ?? "http://127.0.0.1:8080";
const bank = new Bank(`${url}/v1beta1/reasoningEngines/default`, process.env.STREAMBANK_TOKEN ?? "local");
const scope = { user_id: `typescript-${crypto.randomUUID()}` };

const operation = await bank.ingestEvents({
  scope,
  streamId: "chat-1",
  directContentsSource: {
    events: [
      // The service takes an id once, so a call may be repeated.
      { eventId: "m-1", content: { role: "user", parts: [{ text: "I live in Graz." }] } },
      { eventId: "m-2", content: { role: "model", parts: [{ text: "Noted." }] } },
    ],
  },
});
console.log("accepted:", operation.metadata.acceptedEvents);

const found = await bank.retrieveMemories({
  scope,
  similaritySearchParams: { searchQuery: "Where do I live?", includePending: true },
});
const facts = (found.retrievedMemories ?? []).map((row) => row.memory.fact);
const pending = (found.retrievedEvents ?? []).map((row) => row.event.content.parts?.[0]?.text);
console.log("found:", [...facts, ...pending][0]);
