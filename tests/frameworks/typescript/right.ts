// Bodies with what the service needs and no more, and a reply.
import type { Body, Reply } from "./client.js";
export const least: Body<"ingestEvents"> = { scope: { user_id: "1" } };
export const search: Body<"retrieveMemories"> = { scope: { user_id: "1" }, similaritySearchParams: { searchQuery: "tea" } };
export const memory: Body<"createMemory"> = { scope: { user_id: "1" }, fact: "Likes tea.", metadata: { source: { stringValue: "crm" } } };
export const bank: Body<"updateBank"> = { displayName: "Support" };
export const ids = (reply: Reply<"retrieveMemories">): string[] => (reply.retrievedMemories ?? []).map((row) => row.memory.name);
