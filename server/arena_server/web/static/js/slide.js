// Rows of a table that is drawn again slide to where they stand now.

import { stillMotion } from "./dom.js";

const MS = 500;

/**
 * Draw by `draw`, and let each row of `box` with the name `data-of` that has another place come from its old one. The
 * focus stays on its link.
 */
export function slide(box, draw) {
  const places = () => new Map([...box.querySelectorAll("[data-of]")].map((row) =>
    [row.dataset.of, [row, row.getBoundingClientRect().top]]));
  const before = stillMotion() ? new Map() : places();
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
