// Copying a text, and a button that does.

import { el } from "./dom.js";
import { t } from "./texts.js";

/** Copy `text`. Without the right to (a page over plain http has none) as a person would: by a selection. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea", { class: "visually-hidden", "aria-hidden": "true" });
    area.value = text;
    const before = document.activeElement;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    before?.focus();
    return done;
  }
}

/** A button that copies `text` and says so. */
export function copyButton(text) {
  const button = el("button", { type: "button", onclick: async () => {
    if (await copy(text)) button.textContent = t`Copied`;
  } }, t`Copy`);
  return button;
}
