// How far a contest is: who leads, how many games are over, the latest results.

import {
  bdi, el, gameLink, gamesText, numberText, paceText, plural, rankingText, resultText, setParts, setText,
  someNames, unequal,
} from "./dom.js";
import { named, t } from "./texts.js";

/** Results in the head of the page. */
const LATEST = 3;

const firstNames = ({ standings }) =>
  someNames(standings.filter(({ rank }) => rank === 1).map(({ bot }) => bot));

/**
 * Who is first, with what the table ranks by. In a running contest none leads while all bots are level, or the
 * first ones have nothing yet: a bot that has not played may be below them.
 */
export function leaderText(contest) {
  const names = firstNames(contest);
  const first = contest.standings.filter((row) => row.rank === 1);
  if (!first.length || contest.status === "running" && first.length === contest.standings.length) return "";
  const [row] = first;
  if (contest.status === "running" && !("score" in row ? row.score : row[contest.scoring])) return "";
  const number = rankingText(contest, contest.standings, row);
  const wins = contest.scoring === "wins";
  const value = "score" in row ? t`a score of ${number}`
    : unequal(contest.standings) ? wins ? t`${number} wins a game` : t`${number} points a game`
      : plural(wins ? row.wins : row.points, contest.scoring.slice(0, -1));
  const games = plural(row.games, "game");
  if (contest.status === "running") {
    return first.length > 1 ? t`${names} lead with ${value} in ${games}` : t`${names} leads with ${value} in ${games}`;
  }
  return first.length > 1 ? t`${names} are first with ${value} in ${games}`
    : t`${names} is first with ${value} in ${games}`;
}

/** Show who leads in `element`: where there is no room for all of it the names end early, never what they have. */
export function showLeader(element, contest) {
  const text = contest.standings ? leaderText(contest) : "";
  const names = text && firstNames(contest);
  const none = contest.standings && contest.status === "running"
    ? [el("span", { class: "sub" }, t`No bot leads yet.`)] : [];
  // In all languages the names stand first.
  setParts(element, ...(text
    ? [el("span", { class: "who" }, bdi(names)), el("span", {}, text.slice(names.length))] : none));
  if (element.title !== text) element.title = text;
}

/** A word for a contest that begins no game before its organiser or its bots do something; null for any other. */
export function standing({ holds = [] }) {
  const kinds = holds.map(({ hold }) => hold);
  return kinds.includes("paused") ? "paused" : kinds.includes("not-begun") ? "planned" : null;
}

/** Show in `element` whether the contest is played, waits (`stands`) or is over. */
export function showStatus(element, { status }, stands) {
  const runs = status === "running";
  setText(element, named(runs && stands || status));
  element.classList.toggle("live", runs && !stands);
}

/** How far the contest is; an open one has no end to be measured by, and one that stands (`standing`) no pace. */
export function progress(contest, stands = null) {
  const done = contest.games_played;
  const broken = contest.games_void ? t`, ${numberText(contest.games_void)} void` : "";
  const text = `${gamesText(done, contest.games)}${broken}${stands ? "" : paceText(contest.pace)}`;
  const bar = contest.games
    ? el("progress", { max: contest.games, value: Math.min(done, contest.games), "aria-label": t`Games played` })
    : null;
  return [bar, el("span", {}, text)].filter(Boolean);
}

/** The newest results, each a link to the end of its game. */
export function latest(contest, rows) {
  const found = rows.slice(-LATEST).reverse().filter((row) => row.end !== "void");
  return found.flatMap((row) => {
    const result = resultText(row.seats.map((bot) => contest.bots[bot]), row.totals, row.end, !contest.decided);
    const text = `${row.id}: ${result}`;
    return [" ", el("a", { href: gameLink(contest.id, row.id, row.plies), title: text }, text)];
  });
}
