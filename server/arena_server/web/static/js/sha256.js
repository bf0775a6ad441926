// SHA-256, and the draws that a seed fixes. crypto.subtle exists only on https and localhost, and is asynchronous.

const K = new Uint32Array(64);
const H = new Uint32Array(8);
for (let n = 2, count = 0; count < 64; n++) {
  let prime = true;
  for (let d = 2; d * d <= n && prime; d++) prime = n % d !== 0;
  if (!prime) continue;
  const fraction = (root) => ((n ** root % 1) * 2 ** 32) >>> 0;
  if (count < 8) H[count] = fraction(1 / 2);
  K[count++] = fraction(1 / 3);
}

/** The digest of bytes, or of a text as UTF-8: a Uint8Array of 32. */
export function sha256(data) {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  const padded = new Uint8Array(((bytes.length + 8) >> 6 << 6) + 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const state = H.slice();
  const w = new Uint32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let t = 0; t < 16; t++) w[t] = view.getUint32(block + 4 * t);
    for (let t = 16; t < 64; t++) {
      const s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >>> 3;
      const s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >>> 10;
      w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let t = 0; t < 64; t++) {
      const t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (e & f ^ ~e & g) + K[t] + w[t];
      const t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + (a & b ^ a & c ^ b & c);
      [h, g, f, e, d, c, b, a] = [g, f, e, d + t1 | 0, c, b, a, t1 + t2 | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => { state[i] += value; });
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((value, i) => digest.setUint32(4 * i, value));
  return new Uint8Array(digest.buffer);
}

function rotate(value, bits) {
  return value >>> bits | value << 32 - bits;
}

export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The endless bytes of one seed; `label` is the game's name, `seed` a decimal text. */
export function* drawBytes(label, seed) {
  for (let block = 0; ; block++) yield* sha256(`${label}:${seed}:${block}`);
}

/** The next number from 0 to n - 1. */
export function drawBelow(draws, n) {
  const limit = 256 - 256 % n;
  for (;;) {
    const byte = draws.next().value;
    if (byte < limit) return byte % n;
  }
}
