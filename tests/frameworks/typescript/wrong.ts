// Each constant is a body that the service would refuse.
import type { Body } from "./client.js";
const noScope: Body<"ingestEvents"> = {};
const unknown: Body<"ingestEvents"> = { scope: { user_id: "1" }, stream: "chat-1" };
const wrongType: Body<"ingestEvents"> = { scope: { user_id: 1 } };
const wrongRule: Body<"ingestEvents"> = { scope: { user_id: "1" }, generationTriggerConfig: { generationRule: { eventCount: "20" } } };
const noQuery: Body<"retrieveMemories"> = { scope: { user_id: "1" }, similaritySearchParams: {} };
const wrongKind: Body<"retrieveMemories"> = { scope: { user_id: "1" }, memoryTypes: ["FACT"] };
