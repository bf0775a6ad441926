// A game's record: from JSON as `arena replay --json` prints it, or from the bytes of an exported file.

import { hex, sha256 } from "./sha256.js";

export const FORMAT = 2;
const PLY = ["seat", "move", "time_ms", "handed_ns", "arrived_ns", "clock", "points", "total", "zombie", "lag_ms",
  "credit_ms"];
const FAULT = ["seat", "ply", "kind", "line"];
const INFO = ["seat", "ply", "depth", "eval", "nodes", "line", "text"];
const USAGE = ["seat", "used_ms", "throttled_ms", "pressure_ms"];
const DIGEST = 32;
/** A board of more cells than this is not drawn. */
const MOST_CELLS = 10_000;
const NUMBERS = ["format", "clock_ms", "increment_ms", "margin_ms", "move_limit_ms", "byoyomi_ms", "lag_quota_ms",
  "first_move_limit_ms", "bench"];
const TEXTS = ["software", "contest", "game_id", "game", "seed", "nonce", "commit", "board", "sequence", "final", "end",
  "worker", "host", "cpu", "cores"];
const OF_PLY = ["seat", "time_ms", "handed_ns", "arrived_ns", "points", "lag_ms", "credit_ms"];

export class RecordError extends Error {}

/** A record in a file: canonical bytes with their digest, or JSON. Throws RecordError with one line. */
export function readRecord(bytes) {
  const first = bytes.find((byte) => !" \t\r\n".includes(String.fromCharCode(byte)));
  return first === 0x7b ? parseRecord(new TextDecoder().decode(bytes)) : decodeRecord(bytes);
}

/** A record from JSON; the seed, which may have 128 bits, becomes a decimal text. */
export function parseRecord(text) {
  let plain;
  try {
    plain = JSON.parse(text.replace(/"seed":\s*(-?[0-9]+)/, '"seed":"$1"'));
  } catch (error) {
    throw new RecordError(`not a record: ${error.message}`);
  }
  return checkRecord(plain);
}

/** A record from the bytes of an exported file. */
export function decodeRecord(bytes) {
  const payload = bytes.subarray(0, bytes.length - DIGEST);
  if (bytes.length <= DIGEST || hex(sha256(payload)) !== hex(bytes.subarray(bytes.length - DIGEST))) {
    throw new RecordError("not a record, or a damaged one: its bytes do not match its SHA-256 digest");
  }
  const plain = unpack(payload);
  if (plain === null || typeof plain !== "object" || Array.isArray(plain)) {
    throw new RecordError("damaged record: expected a map");
  }
  const named = (columns) => (row) => Object.fromEntries(columns.map((column, i) => [column, row[i]]));
  const rows = (value) => Array.isArray(value) && value.every(Array.isArray) ? value : [];
  plain.seed = BigInt(/^-?[0-9a-f]+$/.test(plain.seed) ? `0x${plain.seed.replace("-", "")}` : 0).toString();
  plain.plies = rows(plain.plies).map(named(PLY));
  plain.faults = rows(plain.faults).map(named(FAULT)).map((fault) => ({ ...fault, line: hex(fault.line) }));
  if (plain.infos !== undefined) plain.infos = rows(plain.infos).map(named(INFO));
  if (plain.usage !== undefined) plain.usage = rows(plain.usage).map(named(USAGE));
  return checkRecord(plain);
}

/** Every field that is used later has its type. Unknown fields are kept. */
function checkRecord(record) {
  const fail = (what) => { throw new RecordError(`not a record: ${what}`); };
  const whole = Number.isSafeInteger;
  const wholes = (value) => Array.isArray(value) && value.length === record.names.length && value.every(whole);
  if (record === null || typeof record !== "object") fail("expected an object");
  if (record.format !== FORMAT) fail(`format ${record.format}; this page reads format ${FORMAT}`);
  for (const key of ["first_move_limit_ms", "bench"]) if (record[key] === undefined) record[key] = 0;
  for (const key of ["worker", "host", "cpu", "cores"]) if (record[key] === undefined) record[key] = "";
  for (const key of NUMBERS) whole(record[key]) || fail(`${key} is not a whole number`);
  for (const key of TEXTS) typeof record[key] === "string" || fail(`${key} is not a text`);
  const texts = (value) => Array.isArray(value) && value.every((item) => typeof item === "string");
  if (record.images === undefined) record.images = [];
  texts(record.images) || fail("images are not texts");
  texts(record.names) && record.names.length || fail("names are not texts");
  record.options !== null && typeof record.options === "object" && texts(Object.values(record.options))
    || fail("options are not texts");
  wholes(record.totals) || fail("totals are not one whole number per seat");
  Array.isArray(record.plies) || fail("plies are not a list");
  Array.isArray(record.faults) || fail("faults are not a list");
  record.plies.forEach((ply, i) => {
    const hasNumbers = OF_PLY.every((key) => whole(ply?.[key]));
    const hasLists = hasNumbers && wholes(ply.clock) && wholes(ply.total);
    if (!hasLists || typeof ply.move !== "string" || typeof ply.zombie !== "boolean") fail(`ply ${i + 1}`);
    if (ply.seat < 1 || ply.seat > record.names.length) fail(`ply ${i + 1}: seat ${ply.seat}`);
  });
  record.faults.forEach((fault, i) => {
    if (!whole(fault?.seat) || !whole(fault.ply) || typeof fault.kind !== "string" || typeof fault.line !== "string") {
      fail(`fault ${i + 1}`);
    }
  });
  const info = ({ seat, ply, depth, eval: value, nodes, line, text }) => [seat, ply].every(whole)
    && [depth, value, nodes].every((number) => number === null || whole(number))
    && [line, text].every((item) => item === null || typeof item === "string");
  if (record.infos === undefined) record.infos = [];
  Array.isArray(record.infos) && record.infos.every((item) => item && info(item)) || fail("infos are not notes");
  const used = (item) => whole(item?.seat) && item.seat >= 1 && item.seat <= record.names.length
    && USAGE.slice(1).every((key) => item[key] === null || whole(item[key]));
  if (record.usage === undefined) record.usage = [];
  Array.isArray(record.usage) && record.usage.every(used) || fail("usage is not that of seats");
  if (record.scenes !== undefined) {
    checkScenes(record.scenes, record.plies.length) || fail("scenes are not positions for the start and for plies");
  }
  return record;
}

/** Whether these are the scenes of a game of `plies` plies, or of its first ones: `{layout, scene, to_move, after}`. */
export function checkScenes(scenes, plies) {
  const { layout, after } = scenes ?? {};
  const list = (value, holds) => Array.isArray(value) && value.every(holds);
  const text = (value) => typeof value === "string";
  const optional = (value, holds) => value === undefined || holds(value);
  const place = (pair) => list(pair, Number.isFinite) && pair.length === 2;
  const label = (value) => Array.isArray(value) && value.length === 5 && place(value.slice(0, 2))
    && value.slice(2).every(text);
  const size = (value) => Number.isFinite(value) && value >= 0 && value <= MOST_CELLS;
  if (layout === null || typeof layout !== "object" || !size(layout.width) || !size(layout.height)
    || !text(layout.form)) {
    return false;
  }
  if (layout.cells === undefined && layout.width * layout.height > MOST_CELLS) return false;
  if (!optional(layout.cells, (cells) => list(cells, place)) || !optional(layout.moves, (moves) => list(moves, text))) {
    return false;
  }
  if (!optional(layout.labels, (labels) => list(labels, label)) || layout.styles === null
    || typeof layout.styles !== "object") {
    return false;
  }
  if (!list(Object.values(layout.styles), text)) return false;
  const scene = (value) => value !== null && typeof value === "object"
    && [value.pieces, value.text, value.words, value.coming].every((field) => optional(field, text))
    && optional(value.marks,
      (marks) => marks !== null && typeof marks === "object"
        && Object.keys(marks).every((style) => /^[a-z]+$/.test(style))
        && list(Object.values(marks), (places) => list(places, Number.isInteger)))
    && optional(value.bar, (bar) => list(bar, Number.isFinite) && bar.length === 2)
      && optional(value.turn, Number.isInteger);
  const step = (value) => value !== null && typeof value === "object" && scene(value.scene)
    && (value.to_move === null || Number.isInteger(value.to_move));
  return step(scenes) && list(after, step) && after.length <= plies;
}

// -- msgpack: the part of it that records use

function unpack(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const take = (size) => {
    if (at + size > bytes.length) throw new RecordError("damaged record: it ends too early");
    at += size;
    return at - size;
  };
  const sized = (read, size) => { const from = take(size); return read.call(view, from); };
  const number = (read, size) => {
    const value = Number(sized(read, size));
    if (!Number.isSafeInteger(value)) throw new RecordError("damaged record: a number beyond 53 bits");
    return value;
  };
  const text = (size) => {
    const from = take(size);
    return new TextDecoder().decode(bytes.subarray(from, from + size));
  };
  const binary = (size) => { const from = take(size); return bytes.slice(from, from + size); };
  const list = (size, depth) => {
    const items = [];
    for (let i = 0; i < size; i++) items.push(value(depth));
    return items;
  };
  const map = (size, depth) => {
    const entries = [];
    for (let i = 0; i < size; i++) entries.push([value(depth), value(depth)]);
    return Object.fromEntries(entries);
  };
  const {
    getUint8: u8, getUint16: u16, getUint32: u32, getBigUint64: u64,
    getInt8: i8, getInt16: i16, getInt32: i32, getBigInt64: i64,
  } = DataView.prototype;
  const value = (depth) => {
    if (depth > 8) throw new RecordError("damaged record: nested too deeply");
    const tag = sized(u8, 1);
    if (tag < 0x80) return tag;
    if (tag < 0x90) return map(tag & 15, depth + 1);
    if (tag < 0xa0) return list(tag & 15, depth + 1);
    if (tag < 0xc0) return text(tag & 31);
    if (tag >= 0xe0) return tag - 256;
    switch (tag) {
      case 0xc0: return null;
      case 0xc2: return false;
      case 0xc3: return true;
      case 0xc4: return binary(sized(u8, 1));
      case 0xc5: return binary(sized(u16, 2));
      case 0xc6: return binary(sized(u32, 4));
      case 0xcc: return number(u8, 1);
      case 0xcd: return number(u16, 2);
      case 0xce: return number(u32, 4);
      case 0xcf: return number(u64, 8);
      case 0xd0: return number(i8, 1);
      case 0xd1: return number(i16, 2);
      case 0xd2: return number(i32, 4);
      case 0xd3: return number(i64, 8);
      case 0xd9: return text(sized(u8, 1));
      case 0xda: return text(sized(u16, 2));
      case 0xdb: return text(sized(u32, 4));
      case 0xdc: return list(sized(u16, 2), depth + 1);
      case 0xdd: return list(sized(u32, 4), depth + 1);
      case 0xde: return map(sized(u16, 2), depth + 1);
      case 0xdf: return map(sized(u32, 4), depth + 1);
      default: throw new RecordError(`damaged record: unexpected byte ${tag}`);
    }
  };
  const result = value(0);
  if (at !== bytes.length) throw new RecordError("damaged record: bytes behind its end");
  return result;
}
