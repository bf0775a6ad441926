// Parts of a page under addresses of their own: without one the page shows all of them, and on paper always.

import { el } from "./dom.js";

/** The part that the hash of an address names; null shows all. */
export function chosenPart(hash, names) {
  const name = hash.replace(/^#/, "");
  return names.includes(name) ? name : null;
}

/**
 * Links to `parts`, {name, title, elements}, and to all of them as `whole`. `update` leaves out those that have nothing
 * to show, once the page is filled.
 */
export class Tabs {
  constructor(label, whole, parts) {
    this.parts = parts;
    this.links = [{ name: "all", title: whole }, ...parts].map(({ name, title }) =>
      el("a", { href: `#${name}` }, title));
    // Not shown before it is known which parts there are: those behind one that is left out would move.
    this.element = el("nav", { class: "tabs filling", "aria-label": label }, this.links);
    addEventListener("hashchange", () => this.update(!this.element.classList.contains("filling")));
    this.update(false);
  }

  update(filled = true) {
    if (filled) this.element.classList.remove("filling");
    const shown = this.parts.filter(({ elements }) => !filled || elements.some((each) => each?.childElementCount));
    const chosen = chosenPart(location.hash, shown.map(({ name }) => name));
    for (const part of this.parts) {
      for (const each of part.elements) each?.classList.toggle("aside", chosen !== null && part.name !== chosen);
    }
    this.links.forEach((anchor, place) => {
      const part = this.parts[place - 1];
      anchor.hidden = place > 0 && !shown.includes(part);
      if ((part?.name ?? null) === chosen) anchor.setAttribute("aria-current", "true");
      else anchor.removeAttribute("aria-current");
    });
  }
}
