// What can be taken along from a game: a link, its record, its moves as text, its board as a picture, code that embeds it.

import { el, link, resultText } from "./dom.js";
import { t } from "./texts.js";

/** How long a button says what it has done. */
const SAID_MS = 2000;

/** A button that copies what `text()` gives; where copying is not allowed it shows the text instead. */
function copyButton(label, text) {
  const button = el("button", { type: "button", onclick: async () => {
    try { await navigator.clipboard.writeText(text()); button.textContent = t`Copied`; } catch { button.textContent = text(); }
    setTimeout(() => { button.textContent = label; }, SAID_MS);
  } }, label);
  return button;
}

/** Let the browser save `text` as a file. */
function save(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), SAID_MS);
}

/** A game as text that a person reads and a program parses: tags, then the moves of each round of the seats. */
export function gameText(record) {
  const tag = (name, value) => `[${name} "${String(value).replace(/[\\"]/g, "\\$&")}"]`;
  const seats = record.names.length;
  const rounds = [];
  record.plies.forEach((ply, i) => {
    if (i % seats === 0) rounds.push([`${i / seats + 1}.`]);
    rounds.at(-1).push(ply.move + (ply.zombie ? "{server}" : ""));
  });
  const lines = [""];
  for (const round of rounds.map((parts) => parts.join(" "))) {
    if (lines.at(-1).length + round.length > 78) lines.push("");
    lines[lines.length - 1] += `${lines.at(-1) ? " " : ""}${round}`;
  }
  return [tag("Contest", record.contest), tag("Id", record.game_id), tag("Game", record.game),
    ...Object.entries(record.options).map(([name, value]) => tag(`Option ${name}`, value)),
    ...record.names.map((name, i) => tag(`Seat${i + 1}`, name)), tag("Result", resultText(record.names, record.totals, record.end)), "",
    ...lines, ""].join("\n");
}

/** The board as it is shown, as a file of its own: with the rules of this page's style that a board needs. */
function boardPicture(board) {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule.selectorText && /^(:root$|\.c\d|\.s\d|\.(board|tile|rim|scene|mark|disc|coin|take|segment|cell-group|name)\b)/.test(rule.selectorText));
  const copy = board.cloneNode(true);
  const { width, height } = board.viewBox.baseVal;
  for (const [name, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width, height })) copy.setAttribute(name, value);
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  style.textContent = rules.map((rule) => rule.cssText).join("\n");
  copy.prepend(style);
  return new XMLSerializer().serializeToString(copy);
}

/** The code that shows the game in another page, at the ply that is shown. */
function embedCode(contest, game, ply) {
  const url = new URL(link("game.html", { contest, game, embed: 1 }, `ply=${ply}`), location.href).href;
  const escaped = url.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<iframe src="${escaped}" width="560" height="640" title="${game}"></iframe>`;
}

/** The menu of a replay `view`; `download` is the address of the record's file, `embed` {contest} where other pages may show it. */
export function shareMenu(view, record, { download = null, embed = null } = {}) {
  const name = record.game_id.replace(/[^\w-]/g, "_");
  return el("details", { class: "menu" }, el("summary", { class: "button" }, t`Share`), el("div", { class: "menu-items" },
    copyButton(t`Copy the link to this ply`, () => location.href),
    download ? el("a", { href: download, download: `${record.game_id}.record`, class: "button" }, t`Download the record`) : null,
    copyButton(t`Copy the moves as text`, () => gameText(record)),
    el("button", { type: "button", onclick: () => save(`${name}.txt`, gameText(record), "text/plain") }, t`Save the moves as text`),
    el("button", { type: "button", onclick: () => save(`${name}-${view.ply}.svg`, boardPicture(view.board.element), "image/svg+xml") }, t`Save the board as SVG`),
    embed ? copyButton(t`Copy the code to embed the game`, () => embedCode(embed.contest, record.game_id, view.ply)) : null));
}
