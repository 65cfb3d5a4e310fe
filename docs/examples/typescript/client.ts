// Calls of a bank with the types of docs/openapi.json; no code is generated, and fetch sends the requests. Both calls
// may be repeated: an ingest with event ids stores nothing twice, and a search changes nothing.

import type { operations } from "./streambank.js";

type Json = "application/json";
type Operation = keyof operations;

/** The body of an operation; fields that have a default may be left out. */
export type Body<Name extends Operation> = operations[Name] extends { requestBody?: { content: Record<Json, infer B> } }
  ? B
  : undefined;

/** The reply of an operation. */
export type Reply<Name extends Operation> = operations[Name] extends {
  responses: { 200: { content: Record<Json, infer R> } };
}
  ? R
  : never;

export class StreambankError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** A bank at its URL, such as https://HOST/v1beta1/reasoningEngines/default. */
export class Bank {
  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  ingestEvents(body: Body<"ingestEvents">): Promise<Reply<"ingestEvents">> {
    return this.send<"ingestEvents">("POST", "/memories:ingestEvents", body);
  }

  retrieveMemories(body: Body<"retrieveMemories">): Promise<Reply<"retrieveMemories">> {
    return this.send<"retrieveMemories">("POST", "/memories:retrieve", body);
  }

  private async send<Name extends Operation>(method: string, path: string, body: Body<Name>): Promise<Reply<Name>> {
    for (let attempt = 1; ; attempt += 1) {
      const reply = await fetch(this.url + path, {
        method,
        headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(30_000),
      });
      if (reply.ok) return (await reply.json()) as Reply<Name>;
      const mayPass = reply.status === 429 || reply.status >= 500;
      if (!mayPass || attempt === 4) throw new StreambankError(reply.status, await reply.text());
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 500 * 2 ** attempt));
    }
  }
}
