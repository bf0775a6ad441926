// Two games on the same deal, beside each other.

import { get } from "./api.js";
import { allContests, applyTheme, el, errorBox, gameLink, link, pageHeader, parameter } from "./dom.js";
import { loadRecord } from "./gamerecord.js";
import { loadedAfter } from "./loading.js";
import { inRow } from "./locale.js";
import { loadPairs } from "./pairs.js";
import { showPair } from "./pairview.js";
import { findGame } from "./rows.js";
import { t } from "./texts.js";
import { Timeline } from "./timeline.js";

applyTheme();
document.body.prepend(pageHeader());
const main = document.getElementById("main");
main.classList.add("wide");
const contest = parameter("contest");
const game = parameter("game");

function fail(message) {
  main.replaceChildren(errorBox(t`No two games on the same deal can be shown`, message,
    contest && game ? el("a", { href: gameLink(contest, game) }, t`Game ${game}`) : allContests()));
}

/** The game of the address and the other ones on its deal; that of `with=` is shown beside it, or the first one. */
async function show() {
  if (!contest || !game) return fail(t`The address names no game.`);
  const about = await get(`contests/${encodeURIComponent(contest)}.json`);
  if (!about.paired) return fail(t`Each game of this contest has a deal of its own.`);
  const at = await findGame(about, game);
  if (!at) return fail(t`Contest ${contest} has no game ${game} that can be shown; it may not have begun yet.`);
  const others = (await loadPairs(about, at.place)).get(game);
  if (!others) return fail(t`Not all games on the deal of ${game} are over: they are shown when each has a result.`);
  if (!others.length) {
    return fail(t`No other game on the deal of ${game} has a result: none was played, or it was void.`);
  }
  const wanted = parameter("with");
  if (wanted && !others.includes(wanted)) return fail(t`Game ${wanted} was not played on the deal of ${game}.`);
  const beside = wanted || others[0];
  const ids = [game, beside, ...others.filter((id) => id !== beside)];
  const records = await Promise.all(ids.map((id) => loadRecord(contest, id)));
  const timelines = records.map(({ record }) => Timeline.ofRecord(record));
  timelines.forEach((timeline) => timeline.call(about.called));
  document.title = `${inRow(timelines[0].info.names, " – ")}, ${game}, ${beside}`;
  return showPair(main, contest, timelines, (name) => link("bot.html", { contest, bot: name }));
}

async function begin() {
  try {
    await show();
  } catch (error) {
    fail(error.message);
  }
}

loadedAfter(begin());
