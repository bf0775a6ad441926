// Games of one deal beside each other: one slider moves both.

import { el, link } from "./dom.js";
import { gameHead, GameView } from "./gameview.js";
import { pairLink } from "./pairs.js";
import { seatBox } from "./seats.js";
import { t } from "./texts.js";
import { betterText, partingPly, partingText, togetherOf, togetherTable } from "./together.js";

const PLY = /^#ply=(\d{1,6})$/;

/** A game that another one follows. */
class LeadingView extends GameView {
  go(ply, options) {
    this.follower?.go(ply, options);
    return super.go(ply, options);
  }
}

/**
 * Show in `host` the first two of `timelines`, games of one deal, beside each other, and the result of all of them;
 * `botLink` gives the address of a bot's page.
 */
export function showPair(host, contest, timelines, botLink) {
  const [one, other] = timelines;
  const ply = partingPly(one, other);
  const text = partingText(one, other, ply);
  const marks = ply === null ? [] : [{ kind: "parted", ply, text }];
  // The slider goes to the end of the longer game.
  const second = other.length > one.length;
  const lead = new LeadingView(second ? other : one, { botLink, marks });
  lead.follower = new GameView(second ? one : other, { botLink, marks });
  const views = second ? [lead.follower, lead] : [lead, lead.follower];
  const rows = togetherOf(timelines);
  const played = timelines.filter(({ end }) => end !== "void").length;
  const part = ply === null ? null : el("button", { type: "button", onclick: () => lead.jump(ply) }, t`Go there (n)`);
  host.replaceChildren(
    gameHead(one.info.names, t`the same deal twice: ${one.info.game_id} and ${other.info.game_id}`,
      { back: el("a", { href: link("game.html", { contest, game: one.info.game_id }) }, `← ${one.info.game_id}`) }),
    el("div", { class: "pair" },
      el("p", { class: "better" }, el("b", {}, betterText(rows, one.decided, played >= one.info.names.length)),
        el("span", {}, text, " ", part)),
      ...views.map((view) => column(contest, view)), lead.controls,
      el("section", { class: "panel", "aria-label": t`The result of both games` },
        el("div", { class: "scroll" }, togetherTable(contest, timelines, rows)), others(contest, timelines))));
  const wanted = () => PLY.exec(location.hash);
  lead.onply = (at) => {
    host.querySelector(".pair").classList.toggle("parted", ply !== null && at >= ply);
    if (!lead.playing) history.replaceState(history.state, "", `#ply=${at}`);
  };
  document.addEventListener("keydown", (event) => lead.key(event));
  addEventListener("hashchange", () => { if (wanted()) lead.jump(Number(wanted()[1])); });
  lead.go(Number(wanted()?.[1] ?? Math.max(0, (ply ?? 1) - 1)));
  return lead;
}

function column(contest, view) {
  const { game_id: id } = view.timeline.info;
  return el("section", { class: view.timeline.decided ? "pair-game decided" : "pair-game", "aria-label": id },
    el("h2", {}, el("a", { href: link("game.html", { contest, game: id }) }, id)),
    seatBox(view.seats),
    view.element.querySelector(".stage"));
}

/** Of a deal with more than two games: the way to each other one. */
function others(contest, timelines) {
  if (timelines.length < 3) return null;
  const [one, ...rest] = timelines.map(({ info }) => info.game_id);
  return el("p", { class: "sub" }, t`Beside ${one}: `,
    ...rest.toSorted().flatMap((id, i) => [i ? ", " : "", el("a", { href: pairLink(contest, one, id) }, id)]));
}
