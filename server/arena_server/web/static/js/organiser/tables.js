// The tables of the organiser's page: running games, bots, workers and orders, as functions of the server's documents.
// `act(title, verb, target)` is a button that gives an order, `log(bot)` one that fetches the bot's log.

import { bdi, cardTable, el, instantText, labelled, meanText, numberText, plural, versus } from "../dom.js";
import { apart, locale } from "../locale.js";
import { said } from "../said.js";
import { named, t } from "../texts.js";

/** The latest orders that the page shows; `arena admin orders` has all. */
const SHOWN_ORDERS = 100;
/** How a chance is written that may be very small. */
const CHANCE = { notation: "scientific", minimumFractionDigits: 1, maximumFractionDigits: 1 };

/** A moment of the organiser's port, "2026-12-24 18:00 UTC", in the reader's zone. */
export const momentText = (text) => instantText(text.replace(" UTC", "Z").replace(" ", "T"));

/** On a phone each row is a card, so that its buttons, a list, are in view. */
function table(heads, rows) {
  const labels = heads.map((head) => ([t`Orders`, t`Log`].includes(head) ? "" : head));
  const cell = (content, place) => {
    if (Array.isArray(content)) return el("td", { class: "order-cell" }, el("div", { class: "orders" }, content));
    return el("td", { class: place === 0 ? "name-cell" : null }, content);
  };
  return cardTable(heads, rows.map((cells) => el("tr", {}, ...labelled(labels, cells.map(cell)))));
}

const none = (text) => el("p", { class: "empty" }, text);

export function gamesTable({ running }, act) {
  if (!running.length) return none(t`No game is running.`);
  return table([t`Game`, t`Bots`, t`Plies`, t`Orders`], running.map(({ game_id: id, names, plies }) => [
    id, el("span", {}, versus(names)), numberText(plies),
    [act(t`Break off`, "void", id), act(t`Play again`, "replay", id)],
  ]));
}

/** A contest that is `over` takes no orders. */
export function botsTable({ bots }, over, act, log) {
  const heads = [
    t`Bot`, t`Author`, t`State`, t`Points`, t`Games`, t`Mean move`, t`Faulty games`, over ? t`Log` : t`Orders`,
  ];
  return table(heads, bots.map((bot) => [
    bdi(bot.name), authorText(bot), stateText(bot), numberText(bot.points), numberText(bot.games),
    moveText(bot.move_ms), numberText(bot.faulty_games), [...(over ? [] : botOrders(bot, act)), log(bot.name)],
  ]));
}

/** The bots that have registered, and wait for the organiser. */
export function applicantsTable({ applicants }, over, act) {
  const orders = (name) => [act(t`Approve`, "approve", name), act(t`Reject`, "reject", name)];
  return table([t`Bot`, t`Author`, t`Language`, over ? "" : t`Orders`], applicants.map((bot) => [
    bdi(bot.name), authorText(bot), bdi(bot.language), over ? [] : orders(bot.name),
  ]));
}

/** Who was invited, and which bot was registered. */
export function invitationsTable({ invitations }) {
  return table([t`Author`, t`Valid until`, t`Bot`], invitations.map(({ owner, until, bot, expired }) => [
    bdi(owner), momentText(until), bot ? bdi(bot) : (expired ? t`expired` : t`not registered yet`),
  ]));
}

function botOrders({ name, where }, act) {
  if (where === "withdrawn") return [act(t`Add`, "add", name)];
  const lifted = ["kicked", "probation", "validation"].includes(where);
  const validated = ["probation", "validation"].includes(where);
  return [
    act(t`Kick`, "kick", name),
    ...(lifted ? [act(t`Lift`, "lift", name)] : []),
    ...(validated ? [act(t`Validate`, "validate", name)] : []),
    act(t`Withdraw`, "remove", name),
    act(t`Token`, "token", name),
  ];
}

/** Where a bot is, and below that from where it is connected and what it calls its program. */
function stateText({ where, address, agent }) {
  const from = [address, agent].filter(Boolean).join(" ");
  return el("div", {}, named(where), from ? el("div", { class: "sub" }, from) : "");
}

const moveText = (ms) => (ms === null ? "" : ms < 1000 ? t`${ms} ms` : t`${meanText(ms / 1000)} s`);

/** Who wrote a bot, in which language, whose it is, and where it is described. */
function authorText({ author, language, owner, url }) {
  const whose = author && owner && author !== owner ? t`for ${owner}` : "";
  const text = [apart(author || owner), language && `(${language})`, whose].filter(Boolean).join(" ");
  if (/^https?:[/][/]/.test(url)) return el("a", { href: url, rel: "noreferrer" }, bdi(text || url));
  return text ? bdi(text) : "";
}

/** The workers that play the games (--on): how fast they are, and which is unlike the others; null without one. */
export function workersTable({ workers, benches }, over, act) {
  const names = [...new Set([...benches, ...workers].map((each) => each.worker))];
  if (!names.length) return null;
  const heads = [t`Worker`, t`Plies/s before its first game`, t`Stands out`, ...(over ? [] : [t`Orders`])];
  return table(heads, names.map((name) => {
    const bench = benches.find((each) => each.worker === name);
    const odd = oddities(bench, workers.filter((each) => each.worker === name));
    const lines = odd.map((text) => el("div", {}, text));
    return [
      // What is empty has no label on a phone.
      bdi(name), bench ? numberText(bench.bench) : "", lines.length ? el("div", {}, ...lines) : "",
      ...(over ? [] : [[act(t`Play its games again`, "void-worker", name)]]),
    ];
  }));
}

function oddities(bench, found) {
  const chances = found.map(({ what, games, chance }) =>
    t`${said(what)} (of equal workers a chance of at most ${locale.number(chance, CHANCE)} in ${plural(games, "game")})`);
  return [...(bench?.slow ? [t`it is slow: the others make ${numberText(bench.others)}`] : []), ...chances];
}

export function ordersTable(orders) {
  if (!orders.length) return none(t`No order was given.`);
  const shown = orders.toReversed().slice(0, SHOWN_ORDERS);
  return table([t`Order`, t`At`, t`Who`, t`What`, t`Why`], shown.map(({ number, at, who, verb, target, reason }) => [
    String(number), instantText(at),
    bdi(who.replace(/^(organiser|by invitation)\b/, (word) => named(word))),
    el("span", {}, `${named(verb)} `, bdi(target)), bdi(reason),
  ]));
}
