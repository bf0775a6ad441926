// A sound at the end of a game: off until a visitor wants it, remembered by the browser, and made without a file.

import { el } from "./dom.js";
import { t } from "./texts.js";

/** Two notes, in Hz, and how long each sounds, in s. */
const NOTES = [660, 880];
const NOTE_S = 0.22;
const LOUDNESS = 0.12;

let audio = null;

function wanted() {
  try { return localStorage.getItem("sound") === "on"; } catch { return false; }
}

/** Browsers let a page sound once a visitor has touched it. */
function open() {
  if (!wanted()) return;
  audio ??= new AudioContext();
  audio.resume();
}
for (const event of ["pointerdown", "keydown"]) globalThis.addEventListener?.(event, open);

/** Sound, if it is wanted and the browser lets the page. */
export function ring() {
  open();
  if (audio?.state !== "running") return;
  NOTES.forEach((note, i) => {
    const at = audio.currentTime + i * NOTE_S;
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    tone.frequency.value = note;
    volume.gain.setValueAtTime(LOUDNESS, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + 2 * NOTE_S);
    tone.connect(volume).connect(audio.destination);
    tone.start(at);
    tone.stop(at + 2 * NOTE_S);
  });
}

/** The button that turns the sound on and off; turned on it sounds once. `said`: it shows what it is for. */
export function soundButton(said = false) {
  const title = t`Sound at the end of a game`;
  const toggle = async () => {
    const on = !wanted();
    try { localStorage.setItem("sound", on ? "on" : "off"); } catch { /* without storage there is none */ }
    button.setAttribute("aria-pressed", String(wanted()));
    if (!wanted()) return;
    open();
    await audio.resume();
    ring();
  };
  const pressed = { title, "aria-label": title, "aria-pressed": String(wanted()) };
  const button = el("button", { type: "button", ...pressed, onclick: toggle }, said ? `♪ ${title}` : "♪");
  return button;
}
