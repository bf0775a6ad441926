// Which games the wall shows, and where: a game keeps its place until another one begins.

/** How many bots with a star a browser remembers; their games stand out. */
const MOST_STARS = 100;
const KEY = "stars";

/** Games by their numbers: g9 is before g12. */
const byNumber = (one, other) => one.length - other.length || (one < other ? -1 : 1);

/** Up to this many boards are larger, with names in full, and games that are over stay beside those that run. */
export const FEW = 4;

/**
 * The places of the wall, at most `most`: `before` were shown, `running` run now and `over` have ended. Who begins
 * comes at the end; beyond FEW it takes the place of the first game that is over.
 */
export function arranged(before, running, over, most = Infinity) {
  const full = Math.min(FEW, most);
  const fresh = running.filter((id) => !before.includes(id));
  const added = fresh.splice(0, Math.max(0, full - before.length));
  const ended = before.filter((id) => !running.includes(id)).sort(byNumber);
  const successors = new Map(ended.map((id, place) => [id, fresh[place]]));
  const places = before.map((id) => successors.get(id) ?? id);
  places.push(...added, ...fresh.slice(ended.length));
  places.push(...over.filter((id) => !places.includes(id)).slice(0, Math.max(0, full - places.length)));
  return places.slice(0, most);
}

/** How many boards a contest may have at once: of games that run, one for two bots, or FEW with those that are over. */
export function mostAtOnce({ bots = [], games, games_played: played }) {
  return Math.min(Math.max(FEW, Math.floor(bots.length / 2)), games === null ? Infinity : games - played);
}

/** Boards of the only contest that runs, where others are listed below it. */
const MOST_BESIDE = 8;

/**
 * How many boards each card of the first page has: of `all` contests `running` run. With ten of all the page takes at
 * most two windows of 1280 x 800.
 */
export function boardsEach(running, all) {
  if (running > 1) return 1;
  return all > 1 ? MOST_BESIDE : Infinity;
}

/** Whether a game of these bots is looked for: a name has each word, and with `starred` a bot has a star. */
export function isWanted(names, text, stars, starred) {
  const words = text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return words.every((word) => names.some((name) => name.toLocaleLowerCase().includes(word)))
    && (!starred || names.some((name) => stars.includes(name)));
}

/** The bots with a star, the latest last. */
export function starred() {
  try {
    const names = JSON.parse(localStorage.getItem(KEY));
    return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
  } catch {
    return []; // storage may be forbidden, or hold something else
  }
}

/** Give a bot a star, or take it; whether it has one now. */
export function toggleStar(name) {
  const before = starred();
  const names = before.includes(name) ? before.filter((each) => each !== name) : [...before, name].slice(-MOST_STARS);
  try {
    localStorage.setItem(KEY, JSON.stringify(names));
  } catch { /* the star lasts for no page */ }
  return names.includes(name);
}
