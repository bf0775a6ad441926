// What games of one deal gave their players: where two of them part, and who did better with the same luck.

import { bdi, el, link, numberText, plural } from "./dom.js";
import { t } from "./texts.js";

/** The first ply at which two games of one deal differ; null if they have the same plies to the end. */
export function partingPly(one, other) {
  const longest = Math.max(one.length, other.length);
  for (let ply = 1; ply <= longest; ply++) {
    const [mine, its] = [one.plies[ply - 1], other.plies[ply - 1]];
    if (mine?.seat !== its?.seat || mine?.move !== its?.move) return ply;
  }
  return null;
}

/** What the seat to move does at the ply where two games part, as a sentence; `ply` null: they never do. */
export function partingText(one, other, ply) {
  if (ply === null) return t`The games have the same moves from the first ply to the last.`;
  const told = (timeline) => {
    const played = timeline.plies[ply - 1];
    if (!played) return t`${timeline.info.game_id} is over`;
    const name = played.seat ? timeline.info.names[played.seat - 1] : t`the server`;
    return t`${name} plays ${played.move} in ${timeline.info.game_id}`;
  };
  return t`The games part at ply ${ply}: ${told(one)}, ${told(other)}.`;
}

/** What a game gave a seat: its points, and of a game that is only won or lost 1, a half or 0. */
function scoreOf(timeline, seat) {
  const { totals, decided, end } = timeline;
  if (end === "void") return null;
  if (!decided) return totals[seat];
  const best = Math.max(...totals);
  return totals[seat] < best ? 0 : 1 / totals.filter((total) => total === best).length;
}

/** By player what each game gave and all together, the most first: {name, scores: [{seat, score}], sum}. */
export function togetherOf(timelines) {
  const rows = timelines[0].info.names.map((name) => {
    const scores = timelines.map((timeline) => {
      const seat = timeline.info.names.indexOf(name);
      return { seat: seat + 1, score: scoreOf(timeline, seat) };
    });
    return { name, scores, sum: scores.reduce((sum, { score }) => sum + score, 0) };
  });
  return rows.sort((a, b) => b.sum - a.sum);
}

/** Who did better with the same luck, as a sentence; `whole`: each player has sat in every seat. */
export function betterText(rows, decided, whole) {
  const [first, second] = rows;
  const difference = first.sum - second.sum;
  if (!whole) return t`Not every seat of this deal was played by every bot: the luck of the seats is not the same.`;
  if (!difference) {
    return t`With the same luck ${first.name} and ${second.name} did equally well: ${numberText(first.sum)} each.`;
  }
  const by = decided ? numberText(difference) : plural(difference, "point");
  return t`With the same luck ${first.name} did better by ${by}.`;
}

/** The table of `togetherOf`: a row a player, a column a game. */
export function togetherTable(contest, timelines, rows) {
  const cell = ({ seat, score }) => el("td", { class: "num" },
    score === null ? "–" : numberText(score), el("span", { class: "sub" }, t` seat ${seat}`));
  return el("table", { class: "together" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t`Bot`),
      ...timelines.map(({ info }) => el("th", { scope: "col", class: "num" },
        el("a", { href: link("game.html", { contest, game: info.game_id }) }, info.game_id))),
      el("th", { scope: "col", class: "num" }, t`Together`))),
    el("tbody", {}, ...rows.map(({ name, scores, sum }) => el("tr", {},
      el("th", { scope: "row" }, bdi(name)), ...scores.map(cell),
      el("td", { class: "num" }, el("b", {}, numberText(sum)))))));
}
