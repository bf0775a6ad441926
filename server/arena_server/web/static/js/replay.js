// The replay of a record: a game view with a link per ply, a download, and the check in a worker.

import { el, pliesText } from "./dom.js";
import { GameError } from "./games/base.js";
import { GameView } from "./gameview.js";
import { Timeline } from "./timeline.js";

/** The script of all pages is the worker too. Replaced in a page that is one file. */
export const startWorker = () => new Worker(import.meta.url, { type: "module" });

/** Show a record in `host`. `download` is the address of its file, or null. */
export function showRecord(host, record, { download = null, botLink, worker = startWorker } = {}) {
  let timeline;
  try {
    timeline = Timeline.ofRecord(record);
  } catch (error) {
    if (!(error instanceof GameError)) throw error;
    host.replaceChildren(el("div", { class: "error", role: "alert" }, el("h1", {}, "This record cannot be played"), el("p", {}, error.message)));
    return null;
  }
  const view = new GameView(timeline, { botLink });
  const copy = el("button", { type: "button", onclick: async () => {
    try { await navigator.clipboard.writeText(location.href); copy.textContent = "Copied"; } catch { copy.textContent = location.href; }
    setTimeout(() => { copy.textContent = "Copy the link to this ply"; }, 2000);
  } }, "Copy the link to this ply");
  host.replaceChildren(
    el("div", { class: "title" },
      el("h1", {}, `${record.names.join(" – ")}`),
      el("p", { class: "sub" }, `${record.contest}, game ${record.game_id} of ${record.game}, ${pliesText(record.plies.length)}`),
      el("p", { class: "tools" }, copy, download ? el("a", { href: download, download: `${record.game_id}.record`, class: "button" }, "Download the record") : null)),
    view.element);
  view.onply = (ply) => { if (!view.playing) history.replaceState(null, "", `#ply=${ply}`); };
  document.addEventListener("keydown", (event) => { if (host.contains(view.element)) view.key(event); });
  const wanted = /^#ply=(\d{1,6})$/.exec(location.hash);
  if (wanted) view.go(Number(wanted[1]));
  addEventListener("hashchange", () => {
    const ply = /^#ply=(\d{1,6})$/.exec(location.hash);
    if (ply && Number(ply[1]) !== view.ply) view.jump(Number(ply[1]));
  });
  check(record, view, worker);
  return view;
}

function check(record, view, worker) {
  view.showVerdict(undefined);
  const thread = worker();
  thread.onmessage = ({ data }) => { view.showVerdict(data.problem); thread.terminate(); };
  thread.onerror = () => { view.showVerdict("The check could not be started."); thread.terminate(); };
  thread.postMessage(record);
}
