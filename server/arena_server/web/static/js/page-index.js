// The first page: running games, and all contests of the database.

import { get } from "./api.js";
import {
  aboutSite, applyTheme, bdi, cardTable, el, errorBox, heldText, instantText, inTime, labelled, link, numberText,
  pageHeader, setParts, setText,
} from "./dom.js";
import { livePath, LiveStream } from "./livestream.js";
import { loadedAfter } from "./loading.js";
import { boardsEach, mostAtOnce } from "./places.js";
import { latest, progress, showLeader, showStatus, standing } from "./progress.js";
import { readRow } from "./rows.js";
import { marked } from "./sign.js";
import { soundButton } from "./sound.js";
import { seasonSections } from "./stages.js";
import { Wall } from "./wall.js";
import { formatName, gameName, named, t } from "./texts.js";

applyTheme();
document.body.prepend(pageHeader());
const main = document.getElementById("main");

/** A contest that runs: what it is, how far it is, and its running games, the oldest alone beside other contests. */
class ContestCard {
  constructor(contest, { level, alone, most }) {
    const { about = {} } = contest;
    this.stands = null;
    const page = link("contest.html", { id: contest.id });
    this.all = el("p", { class: "sub", hidden: !alone || most === Infinity },
      el("a", { href: page }, t`All running games`));
    this.wall = new Wall(contest.id, { alone, most, onchange: (games) => {
      // Its row is there from the beginning.
      this.all.style.visibility = games.filter((game) => game.end === null).length > most ? "" : "hidden";
    } });
    this.status = el("span", { class: "tag" });
    this.leader = el("p", { class: "leader" });
    this.played = el("p", { class: "progress" });
    this.newest = el("p", { class: "sub latest" });
    this.held = el("p", { class: "sub waiting" });
    const heading = `contest-${contest.id}`;
    const chips = [gameName(contest), formatName(contest), about.date, about.place];
    this.element = el("section", { class: alone ? "playing" : "playing beside", "aria-labelledby": heading },
      el("div", { class: "contest-head" },
        el(level, { id: heading }, el("a", { href: page }, marked(contest.name, about.title ?? contest.name)), " ",
          this.status),
        about.text ? el("p", { class: "sub words", dir: "auto" }, about.text) : null,
        el("p", { class: "chips" }, chips.filter(Boolean).map((text) =>
          el("span", { class: "tag" }, bdi(text)))),
        this.leader, this.played, el("div", { class: "news" }, this.newest, this.held)), this.wall.element, this.all);
    this.show(contest);
    let tell;
    const told = new Promise((done) => { tell = done; });
    /** Resolved once it is known whether the contest waits, and what it plays. */
    this.ready = Promise.all([told, this.wall.ready]);
    new LiveStream(livePath("contest", contest.id), { contest: (event) => {
      const held = heldText(event);
      setText(this.held, held);
      if (this.held.title !== held) this.held.title = held;
      // Between two games nothing is held: the wall keeps its place.
      this.element.classList.toggle("waits", !event.running.length && held !== "");
      this.stands = standing(event);
      this.show(event.contest ? { ...event.contest, standings: event.standings } : this.contest);
      tell();
    } });
  }

  show(contest) {
    this.contest = contest;
    showStatus(this.status, contest, this.stands);
    showLeader(this.leader, contest);
    setParts(this.played, ...progress(contest, this.stands));
    const results = contest.latest ? latest(contest, [readRow(contest.latest)]) : [];
    setParts(this.newest, ...(results.length ? [t`Latest:`, ...results] : []));
  }
}

async function begin() {
  const site = await get("site.json");
  const { contests } = await get("contests.json");
  const { text } = aboutSite();
  let headed = 0;
  const cards = [];
  const parts = text ? [el("p", { class: "about", dir: "auto" }, text)] : [];
  const known = site.live ? site.running ?? [] : [];
  const running = contests.filter(({ id, status }) => known.includes(id) && status === "running").reverse();
  const most = boardsEach(running.length, contests.length);
  for (const contest of running) {
    cards.push(new ContestCard(contest, { level: headed++ ? "h2" : "h1", alone: running.length === 1, most }));
  }
  if (cards.length) parts.push(el("div", { class: "contests" }, cards.map((card) => card.element)));
  if (cards.length > 1) parts.push(el("div", { class: "tools" }, soundButton(true)));
  // Those that run have been shown above.
  const others = contests.filter((contest) => !running.includes(contest));
  parts.push(...seasonSections(site, contests, headed ? "h2" : "h1"));
  headed += site.stages?.length ? 1 : 0;
  if (others.length || !cards.length) {
    parts.push(el("section", { class: "list" }, el(headed ? "h2" : "h1", {}, t`Contests`),
      others.length ? table(others)
        : el("p", { class: "empty" }, t`No contest has begun yet. An organiser begins one with arena serve.`)));
  }
  await inTime(Promise.all(cards.map(({ ready }) => ready)));
  main.replaceChildren(...parts);
  for (const { wall, contest } of cards) wall.reserve(mostAtOnce(contest));
}

function table(contests) {
  const heads = [t`Contest`, t`Kind of game`, t`Games`, t`Started`, t`Status`];
  const gamesOf = ({ games, games_played: played }) => (games === null ? numberText(played)
    : t`${numberText(played)} of ${numberText(games)}`);
  const rows = contests.map((contest) => el("tr", {}, ...labelled(["", ...heads.slice(1, 4), ""], [
    el("td", { class: "name-cell" },
      el("a", { href: link("contest.html", { id: contest.id }) },
        marked(contest.name, contest.about?.title ?? contest.name))),
    el("td", {}, gameName(contest)),
    el("td", { class: "num" }, gamesOf(contest)),
    el("td", {}, instantText(contest.started_at)),
    el("td", {}, el("span", { class: contest.status === "running" ? "tag live" : "tag" }, named(contest.status))),
  ])));
  return el("div", { class: "panel scroll" }, cardTable(heads, rows, { isNumber: (place) => place === 2 }));
}

loadedAfter(begin().catch((error) => {
  main.replaceChildren(errorBox(t`The contests cannot be shown`, error.message));
}));
