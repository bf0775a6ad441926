// The record of a game from the API.

import { get, getBytes } from "./api.js";
import { decodeRecord } from "./record.js";
import { RULES } from "./rules.js";

export const recordPath = (contest, game) =>
  `contests/${encodeURIComponent(contest)}/records/${encodeURIComponent(game)}`;

/** The record of a game, with its positions where this page does not have the rules; and its bytes. Throws ApiError. */
export async function loadRecord(contest, game) {
  const path = recordPath(contest, game);
  const bytes = await getBytes(`${path}.record`);
  const record = decodeRecord(bytes);
  if (!RULES.has(record.game)) record.scenes = (await get(`${path}.json`)).scenes;
  return { record, bytes };
}
