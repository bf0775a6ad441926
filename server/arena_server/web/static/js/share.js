// What can be taken along from a game: a link, its record, its moves as text, its board as a picture, code that embeds
// it.

import { makeBoard } from "./boards.js";
import { copy } from "./copy.js";
import { el, englishResult, link, numberText, resultText } from "./dom.js";
import { changed, cut, reduceColours } from "./gifframes.js";
import { apart, inRow } from "./locale.js";
import { inWorker } from "./thread.js";
import { t } from "./texts.js";

/** How long a button says what it has done. */
const SAID_MS = 2000;
/** The width of a GIF in pixels, and how long it shows a ply and the end, in hundredths of a second. */
const GIF_WIDTH = 400;
const PLY_DELAY = 40;
const END_DELAY = 400;
/** Of a longer game not every ply is a frame. */
const MOST_FRAMES = 400;

/**
 * A game as text that a person reads and a program parses, in no page's language: tags, then the moves of each round
 * of the seats.
 */
export function gameText(record) {
  const tag = (name, value) => `[${name} "${String(value).replace(/[\\\x22]/g, "\\$&")}"]`;
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
    ...record.names.map((name, i) => tag(`Seat${i + 1}`, name)),
    tag("Result", englishResult(record.names, record.totals, record.end)), "",
    ...lines, ""].join("\n");
}

/** What the rules begin with by which a board is drawn. */
const DRAWN = /^(:root$|\.c\d|\.s\d|\.(board|tile|rim|scene|mark|disc|coin|take|segment|cell-group|name)\b)/;

/** The rules of this page's style that a board needs, in the light theme. */
function boardStyle() {
  return [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule.selectorText && DRAWN.test(rule.selectorText))
    .map((rule) => rule.cssText).join("\n");
}

const svgElement = (tag, attributes, text = "") => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
};

/** The board as it is shown with `caption` below it, as a file of its own `width` wide: {text, width, height}. */
function boardPicture(board, style, caption, width) {
  const copy = board.cloneNode(true);
  const { x, y, width: across, height: down } = board.viewBox.baseVal;
  const size = across / 26;
  const lines = caption.map((text, i) => {
    const line = svgElement("text",
      { x: x + across / 2, y: y + down + size * (1.2 + 1.35 * i), fill: "#1d2126", "text-anchor": "middle" }, text);
    // A length of its own: a style of the page does not reach this text, and a long one stays in the picture.
    line.style.font = `600 ${Math.min(size, across * 1.55 / text.length)}px system-ui, sans-serif`;
    return line;
  });
  const tall = down + size * (0.6 + 1.35 * caption.length);
  const height = Math.round(width * tall / across);
  const box = { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `${x} ${y} ${across} ${tall}` };
  for (const [name, value] of Object.entries(box)) copy.setAttribute(name, value);
  copy.removeAttribute("role");
  copy.querySelector(".plans")?.remove();
  copy.prepend(svgElement("style", {}, style), svgElement("rect", { x, y, width: across, height: tall, fill: "#fff" }));
  copy.append(...lines);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

/** What stands below the board: who has how many points, and the ply or the result. */
function captionOf(timeline, ply) {
  const { names } = timeline.info;
  const points = timeline.points(ply);
  const over = timeline.end !== null && ply === timeline.length;
  const score = timeline.decided ? inRow(names, " – ")
    : names.map((name, i) => `${apart(name)} ${numberText(points[i])}`).join(" – ");
  return [score, over ? resultText(names, points, timeline.end, false) : t`ply ${ply} of ${timeline.length}`];
}

function pictureOf(view) {
  const { board, timeline, ply } = view;
  return boardPicture(board.element, boardStyle(), captionOf(timeline, ply), board.element.viewBox.baseVal.width).text;
}

/** The game as a GIF, drawn here: the server has no part in it. `ondone(share)` tells how far it is. */
async function gameGif(timeline, ondone) {
  const board = makeBoard(timeline.rules, timeline.info.layout);
  const style = boardStyle();
  const step = Math.ceil((timeline.length + 1) / MOST_FRAMES);
  const plies =
    [...new Set([...Array.from({ length: Math.ceil((timeline.length + 1) / step) }, (_, i) => i * step),
      timeline.length])];
  const canvas = el("canvas");
  const frames = [];
  let before = null;
  for (const ply of plies) {
    board.show(timeline.position(ply), timeline.ply(ply));
    const { text, width, height } = boardPicture(board.element, style, captionOf(timeline, ply), GIF_WIDTH);
    if (before === null) Object.assign(canvas, { width, height });
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    const colours = reduceColours(context.getImageData(0, 0, width, height).data);
    const place = before === null ? { x: 0, y: 0, width, height } : changed(before, colours, width);
    frames.push({ ...place, colours: cut(colours, width, place),
      delay: ply === timeline.length ? END_DELAY : PLY_DELAY });
    before = colours;
    ondone(frames.length / plies.length);
  }
  return inWorker({ frames, width: canvas.width, height: canvas.height });
}

/** Let the browser save `parts` as a file. */
function save(name, parts, type) {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), SAID_MS);
}

/**
 * The menu of a replay `view`; `download` is the address of the record's file, `embed` {contest} where other pages may
 * show it. `address(ply)` is the link to a ply, `card(ply)` that of its picture with the seats, where there is one.
 * A phone has the links `more` here, for which it has no room elsewhere.
 */
export function shareMenu(view, record, options = {}) {
  const { download = null, embed = null, more = [], address = () => location.href, card = null } = options;
  const name = record.game_id.replace(/[^\w-]/g, "_");
  const said = el("p", { class: "said", role: "status" });
  let timer = null;
  const say = (text) => {
    said.textContent = text;
    clearTimeout(timer);
    timer = setTimeout(() => { said.textContent = ""; }, SAID_MS);
  };
  const button = (label, title, onclick) => el("button",
    { type: "button", "aria-label": `${label}: ${title}`, onclick }, label);
  const copying = (title, text) => button(t`Copy`, title, async () => {
    const done = await copy(text());
    say(done ? t`${title}: copied` : t`This browser does not let the page copy`);
  });
  const saving = (title, file, parts, type) => button(t`Save`, title, () => {
    save(file(), parts(), type);
    say(t`${title}: saved`);
  });
  const row = (title, ...ways) => el("div", { class: "share-row" }, el("span", {}, title), ...ways);
  const [ply, moves, picture, png, film, whole, frame] = [t`Link to this ply`, t`Moves as text`, t`Board as SVG`,
    t`Seats and board as PNG`, t`Game as GIF`, t`Record`, t`Code to embed the game`];
  const label = `${t`Save`}: ${png}`;
  const saveCard = el("a", { class: "button", href: "", download: "", "aria-label": label, onclick: () => {
    saveCard.href = card(view.ply);
    saveCard.download = `${name}-${view.ply}.png`;
  } }, t`Save`);
  const svgName = () => `${name}-${view.ply}.svg`;
  const gif = button(t`Save`, film, async () => {
    gif.disabled = true;
    try {
      const parts = await gameGif(view.timeline, (share) => {
        said.textContent = t`${film}: ${Math.round(100 * share)} %`;
      });
      save(`${name}.gif`, parts, "image/gif");
      say(t`${film}: saved`);
    } finally {
      gif.disabled = false;
    }
  });
  return el("details", { class: "menu" }, el("summary", { class: "button" }, t`Share`),
    el("div", { class: "menu-items" },
    row(ply, copying(ply, () => address(view.ply))),
    row(moves, copying(moves, () => gameText(record)),
      saving(moves, () => `${name}.txt`, () => [gameText(record)], "text/plain")),
    row(picture, copying(picture, () => pictureOf(view)),
      saving(picture, svgName, () => [pictureOf(view)], "image/svg+xml")),
    card ? row(png, saveCard) : null,
    row(film, gif),
    download
      ? row(whole,
        el("a", { href: download, download: `${record.game_id}.record`, class: "button",
          "aria-label": `${t`Save`}: ${whole}` }, t`Save`)) : null,
    embed ? row(frame, copying(frame, () => embedCode(embed.contest, record.game_id, view.ply))) : null,
    ...more.map((each) => {
      const copied = each.cloneNode(true);
      copied.classList.replace("same", "narrow");
      return copied;
    }),
    said));
}

/** The code that shows the game in another page, at the ply that is shown. */
function embedCode(contest, game, ply) {
  const url = new URL(link("game.html", { contest, game, embed: 1 }, `ply=${ply}`), location.href).href;
  const escaped = url.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<iframe src="${escaped}" width="560" height="640" style="max-width: 100%" title="${game}"></iframe>`;
}
