// Animated GIF (GIF89a) of frames as `gifframes.js` makes them.
//
//   palette    at most 256 colours, for all frames: the most frequent ones; others get the nearest

const COLOURS = 256;
/** Codes of LZW have at most 12 bits; the table is begun again when they are used up. */
const CODES = 4096;
const CLEAR = 256;
const END = 257;
/** For ever. */
const LOOP = [0x21, 0xff, 11, ...ascii("NETSCAPE2.0"), 3, 1, 0, 0, 0];

function ascii(text) {
  return [...text].map((char) => char.charCodeAt(0));
}

const low = (number) => [number & 255, number >> 8];

const parts = (colour) => [colour >> 10, (colour >> 5) & 31, colour & 31];

/** The palette of all `pictures`, and for each of the 32,768 colours its index. */
function choosePalette(pictures) {
  const counts = new Uint32Array(1 << 15);
  for (const picture of pictures) for (const colour of picture) counts[colour]++;
  const used = [...counts.keys()].filter((colour) => counts[colour]).sort((a, b) => counts[b] - counts[a]);
  const palette = used.slice(0, COLOURS);
  const index = new Uint8Array(1 << 15);
  used.forEach((colour, rank) => { index[colour] = rank < COLOURS ? rank : nearest(palette, colour); });
  return { palette, index };
}

function nearest(palette, colour) {
  const [r, g, b] = parts(colour);
  let [best, least] = [0, Infinity];
  palette.forEach((each, i) => {
    const [red, green, blue] = parts(each);
    const distance = (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2;
    if (distance < least) [best, least] = [i, distance];
  });
  return best;
}

/** The indexes of a frame as LZW codes, in blocks of at most 255 bytes. */
function compress(indexes) {
  const bytes = [];
  let [pending, bits] = [0, 0];
  let width = 9;
  const put = (code) => {
    pending |= code << bits;
    for (bits += width; bits >= 8; bits -= 8, pending >>>= 8) bytes.push(pending & 255);
  };
  // For the code of a text and the byte after it the code of both, if it is of this `round` of the table.
  const table = new Int32Array(CODES << 8);
  let round = 0;
  let next = 0;
  const begin = () => { put(CLEAR); round++; next = END + 1; width = 9; };
  begin();
  let text = indexes[0];
  for (let i = 1; i < indexes.length; i++) {
    const key = text << 8 | indexes[i];
    const known = table[key];
    if (known >> 12 === round) { text = known & (CODES - 1); continue; }
    put(text);
    text = indexes[i];
    if (next === CODES) { begin(); continue; }
    table[key] = round << 12 | next;
    // A reader of the codes is one behind: it needs the wider code one code later.
    if (next++ === 1 << width) width++;
  }
  put(text);
  put(END);
  if (bits) bytes.push(pending & 255);
  const blocks = [];
  for (let at = 0; at < bytes.length; at += 255) {
    blocks.push([Math.min(255, bytes.length - at)], bytes.slice(at, at + 255));
  }
  return [[8], ...blocks, [0]];
}

/** The bytes of a GIF: `frames` are {x, y, width, height, colours, delay}, with the delay in hundredths of a second. */
export function encodeGif(width, height, frames) {
  const { palette, index } = choosePalette(frames.map((frame) => frame.colours));
  const table = Array.from({ length: COLOURS },
    (_, i) => parts(palette[i] ?? 0).map((part) => Math.round(part * 255 / 31))).flat();
  const chunks = [[...ascii("GIF89a"), ...low(width), ...low(height), 0xf7, 0, 0], table, LOOP];
  for (const frame of frames) {
    chunks.push([0x21, 0xf9, 4, 4, ...low(frame.delay), 0, 0],
      [0x2c, ...low(frame.x), ...low(frame.y), ...low(frame.width), ...low(frame.height), 0]);
    chunks.push(...compress(frame.colours.map((colour) => index[colour])));
  }
  chunks.push([0x3b]);
  return chunks.map((chunk) => Uint8Array.from(chunk));
}
