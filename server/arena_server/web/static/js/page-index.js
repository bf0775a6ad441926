// The first page: running games, and all contests of the database.

import { get } from "./api.js";
import {
  aboutSite, applyTheme, cardTable, el, inTime, instantText, labelled, link, numberText, pageHeader,
} from "./dom.js";
import { loadedAfter } from "./loading.js";
import { seasonSections } from "./stages.js";
import { Wall } from "./wall.js";
import { named, t } from "./texts.js";

applyTheme();
document.body.prepend(pageHeader());
const main = document.getElementById("main");

async function begin() {
  const site = await get("site.json");
  const { contests } = await get("contests.json");
  const { text } = aboutSite();
  let headed = 0;
  const walls = [];
  const parts = text ? [el("p", { class: "about" }, text)] : [];
  if (site.live) {
    const known = site.running ?? [];
    const running = contests.filter(({ id, status }) => known.includes(id) && status === "running");
    for (const { id, name } of running.reverse()) {
      walls.push(new Wall(id, { sound: !walls.length }));
      parts.push(el("section", { class: "playing", "aria-label": t`Running games` },
        el(headed++ ? "h2" : "h1", {}, t`Now playing: `,
          el("a", { href: link("contest.html", { id }) }, name)), walls.at(-1).element));
    }
  }
  parts.push(...seasonSections(site, contests, headed ? "h2" : "h1"));
  headed += site.stages?.length ? 1 : 0;
  parts.push(el("section", { class: "list" }, el(headed++ ? "h2" : "h1", {}, t`Contests`),
    contests.length ? table(contests) : el("p", { class: "empty" }, t`No contest has begun yet.`)));
  await inTime(Promise.all(walls.map((wall) => wall.ready)));
  main.replaceChildren(...parts);
}

function table(contests) {
  const heads = [t`Contest`, t`Kind of game`, t`Games`, t`Started`, t`Status`];
  const gamesOf = ({ games, games_played: played }) => (games === null ? numberText(played)
    : t`${numberText(played)} of ${numberText(games)}`);
  const rows = contests.map((contest) => el("tr", {}, ...labelled(["", ...heads.slice(1, 4), ""], [
    el("td", { class: "name-cell" },
      el("a", { href: link("contest.html", { id: contest.id }) }, contest.about?.title ?? contest.name)),
    el("td", {}, named(contest.game_title ?? contest.game)),
    el("td", { class: "num" }, gamesOf(contest)),
    el("td", {}, instantText(contest.started_at)),
    el("td", {}, el("span", { class: contest.status === "running" ? "tag live" : "tag" }, named(contest.status))),
  ])));
  return el("div", { class: "panel scroll" }, cardTable(heads, rows, { isNumber: (place) => place === 2 }));
}

loadedAfter(begin().catch((error) => {
  main.replaceChildren(el("div", { class: "error", role: "alert" }, el("h1", {}, t`The contests cannot be shown`),
    el("p", {}, error.message)));
}));
