// A board that is played on: its moves are buttons for pointers, fingers and keys.

import { t } from "./texts.js";

/** A smaller cell, in CSS pixels, is not hit for sure by a finger. */
const FINGER_PX = 24;

/** Every move of the board is one button, its first shape; arrow keys go to the nearest one in their direction. */
export function makePlayable(view, pressed, play) {
  const shapes = [...view.board.element.querySelectorAll("[data-move]")];
  const nodes = [...new Map(shapes.reverse().map((node) => [node.dataset.move, node])).values()].reverse();
  view.board.element.setAttribute("role", "group");
  view.board.onmove = pressed;
  if (!nodes.length) return;
  // One stop of the tab key: the move that had the focus last.
  let stop = nodes[0];
  for (const node of nodes) {
    node.setAttribute("role", "button");
    node.setAttribute("tabindex", node === stop ? "0" : "-1");
    node.addEventListener("focus", () => {
      stop.setAttribute("tabindex", "-1");
      node.setAttribute("tabindex", "0");
      stop = node;
    });
    node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") play(node.dataset.move);
      else if (event.key.startsWith("Arrow")) nearest(nodes, node, event.key)?.focus();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
  nameMoves(view);
}

/** A move is named with what stands in its cell. */
export function nameMoves(view) {
  for (const node of view.board.element.querySelectorAll("[role=button][data-move]")) {
    const { move, sign = "." } = node.dataset;
    node.setAttribute("aria-label", sign === "." ? t`Move ${move}` : `${t`Move ${move}`}, ${sign}`);
  }
}

function nearest(nodes, from, arrow) {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[arrow];
  const centre = (node) => {
    const box = node.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const [x, y] = centre(from);
  let best = null;
  for (const node of nodes) {
    const [nx, ny] = centre(node);
    const along = (nx - x) * dx + (ny - y) * dy;
    const distance = along + 3 * Math.abs((nx - x) * dy + (ny - y) * dx);
    if (along > 1 && (best === null || distance < best.distance)) best = { node, distance };
  }
  return best?.node;
}

/** Whether a click on a move may have been meant for the one beside it. */
export function isUnsure({ pointerType, currentTarget }) {
  const { width, height } = currentTarget.getBoundingClientRect();
  return pointerType === "touch" && Math.min(width, height) * visualViewport.scale < FINGER_PX;
}

/** The board shows this move alone as one of a kind, "hint" or "chosen". */
export function markMove(view, kind, move) {
  for (const node of view.board.element.querySelectorAll("[data-move]")) {
    node.classList.toggle(kind, node.dataset.move === move);
  }
}
