// What a page that is one file holds compressed.

/** The document in the script element `holder`. */
export function unpacked(holder) {
  const packed = new Blob([Uint8Array.from(atob(holder.textContent), (char) => char.charCodeAt(0))]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip")));
}
