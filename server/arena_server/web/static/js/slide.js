// Rows of a table that is drawn again slide to where they stand now.

import { stillMotion } from "./dom.js";

const MS = 500;

/**
 * Draw by `draw` the rows `names`, and let each row of `box` with the name `data-of` that has another place come from
 * its old one. The focus stays on its link.
 */
export function slide(box, names, draw) {
  const rows = () => [...box.querySelectorAll("[data-of]")];
  const places = () => new Map(rows().map((row) => [row.dataset.of, [row, row.getBoundingClientRect().top]]));
  // To ask for the places takes a layout before, and one behind.
  const moves = !stillMotion() && rows().some((row, i) => row.dataset.of !== names[i]);
  const before = moves ? places() : new Map();
  const focused = box.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  draw();
  if (focused) box.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  if (!before.size) return;
  for (const [name, [row, top]] of places()) {
    const moved = (before.get(name)?.[1] ?? top) - top;
    if (!moved) continue;
    row.animate([{ transform: `translateY(${moved}px)` }, { transform: "none" }], { duration: MS, easing: "ease" });
  }
}
