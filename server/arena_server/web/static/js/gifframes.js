// The frames of an animated GIF: each only the rectangle that differs from the picture before it. Their colours have 15
// bits a pixel, 5 each of red, green, blue.

/** RGBA bytes as 15-bit colours. */
export function reduceColours(rgba) {
  const colours = new Uint16Array(rgba.length / 4);
  for (let i = 0, at = 0; at < rgba.length; i++, at += 4) {
    colours[i] = (rgba[at] >> 3) << 10 | (rgba[at + 1] >> 3) << 5 | rgba[at + 2] >> 3;
  }
  return colours;
}

/**
 * The rectangle {x, y, width, height} in which `after` differs from `before`, of pictures `width` wide; one pixel if
 * nowhere.
 */
export function changed(before, after, width) {
  let [left, right, top, bottom] = [width, 0, -1, 0];
  for (let i = 0; i < after.length; i++) {
    if (before[i] === after[i]) continue;
    const x = i % width;
    bottom = (i - x) / width;
    if (top < 0) top = bottom;
    if (x < left) left = x;
    if (x > right) right = x;
  }
  return top < 0 ? { x: 0, y: 0, width: 1, height: 1 }
    : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

/** The part of `colours` (a picture `width` wide) in a rectangle. */
export function cut(colours, width, rectangle) {
  const part = new Uint16Array(rectangle.width * rectangle.height);
  for (let row = 0; row < rectangle.height; row++) {
    const from = (rectangle.y + row) * width + rectangle.x;
    part.set(colours.subarray(from, from + rectangle.width), row * rectangle.width);
  }
  return part;
}
