// The page on which a record file is dropped, and, with a record inside, the page of one file. No server is needed.

import { applyTheme, el, pageHeader, sentence } from "./dom.js";
import { apart, inRow } from "./locale.js";
import { readRecord } from "./record.js";
import { showRecord } from "./replay.js";
import { t } from "./texts.js";

applyTheme();
const main = document.getElementById("main");
const embedded = document.getElementById("record");
document.body.prepend(pageHeader());
const chooser = el("input", { type: "file", id: "file", class: "hidden-file", onchange: () => {
  if (chooser.files.length) open(chooser.files[0]);
  chooser.value = ""; // the same file may be chosen again
} });
const label = el("label", { class: "button", for: "file" }, t`Choose a file`);
const message = el("p", { class: "error-line", role: "alert" });
const host = el("div");
const drop = el("div", { class: "drop" },
  el("h1", {}, t`Replay a record`),
  el("p", {}, t`Drop a file here: a record of `, el("code", {}, "arena export"), t` or the output of `,
    el("code", {}, "arena replay --json"), t`. It stays in your browser.`),
  label, chooser, message);

async function open(file) {
  message.textContent = "";
  try {
    if (file.size > 50_000_000) throw new Error(t`the file is larger than 50 MB`);
    show(new Uint8Array(await file.arrayBuffer()));
  } catch (error) {
    message.textContent = sentence(`${apart(file.name)}: ${error.message}`, apart(file.name));
  }
}

function show(bytes, scenes = null) {
  const record = readRecord(bytes);
  if (scenes !== null) record.scenes = scenes;
  const download = URL.createObjectURL(new Blob([bytes]));
  main.classList.add("wide");
  if (!main.contains(host)) main.replaceChildren(host);
  if (!embedded && drop.contains(label)) {
    label.textContent = t`Choose another file`;
    main.prepend(el("div", { class: "another" }, label, chooser, el("span", { class: "sub" }, t`or drop it here`),
      message));
  }
  showRecord(host, record, { download: embedded ? download : null });
  document.title = `${inRow(record.names, " – ")}, ${record.game_id}`;
}

main.replaceChildren(drop);
if (embedded) {
  const data = (id) => Uint8Array.from(atob(document.getElementById(id).textContent), (char) => char.charCodeAt(0));
  show(data("record"), JSON.parse(new TextDecoder().decode(data("scenes"))));
}

addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dragging"); });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dragging"); });
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dragging");
  if (event.dataTransfer.files.length) open(event.dataTransfer.files[0]);
});
