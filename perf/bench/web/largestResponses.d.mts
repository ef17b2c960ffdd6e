// The types of largestResponses.mjs, for the browser tests.
type JsonObject = Record<string, unknown>;

export function largestDashboard(base: JsonObject): JsonObject;
export function largestLog(): { data: JsonObject[] };
