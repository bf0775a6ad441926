// A line-based server for the tests: a JSON request a line on stdin, its answer a line on stdout.

import { createInterface } from "node:readline";

const base = new URL("../../../../server/arena_server/web/static/js/", import.meta.url);
const load = (name) => import(new URL(name, base));
const { playBoard, parseBoard, formatBoard, runs } = await load("games/insertion.js");
const { GameError } = await load("gameerror.js");
const { makeGame } = await load("rules.js");
const { parseRecord, readRecord, RecordError } = await load("record.js");
const { verify, verifyChain, verifyListed } = await load("verify.js");
const { hint } = await load("hint.js");
const { choose, interest, plannedAfter } = await load("interest.js");
const { arrange, clockText, heldText, paceText, rankingText, resultText } = await load("dom.js");
const { encodeGif } = await load("gif.js");
const { changed, cut, reduceColours } = await load("gifframes.js");
const { said } = await load("said.js");
const { gameText } = await load("share.js");
const { useCatalogue } = await load("language.js");
const { Locale } = await load("locale.js");
const { counted, Counted, placed } = await load("texts.js");
const { evaluations } = await load("graphs.js");
const { windowOf } = await load("movelist.js");
const { isAnonymous, Timeline } = await load("timeline.js");
const { leaderText } = await load("progress.js");
const { momentOf } = await load("programme.js");
const { playText } = await load("sentences.js");
const { quantile, valuesByBot } = await load("details.js");
const { expectedStarts, loadGames, loadSchedule, readRow, scoreFor } = await load("rows.js");
const { RULES } = await load("rules.js");
const { arranged, boardsEach, isWanted, mostAtOnce } = await load("places.js");
const { newsBetween } = await load("notices.js");
const { highlightTexts } = await load("highlights.js");
const { GuessBook, guessTable } = await load("guess.js");
const { personName } = await load("people.js");
const { isUnsure } = await load("playable.js");
const { opponents, playOnWish } = await load("playon.js");
const { betterText, partingPly, partingText, togetherOf } = await load("together.js");
const { signOf } = await load("sign.js");
const { slide } = await load("slide.js");
const { pairSign, pairWords } = await load("crossgrid.js");
const { roundTexts } = await load("swiss.js");
const { chosenPart } = await load("tabs.js");
const { hex, sha256 } = await load("sha256.js");

const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

const commands = {
  rules: () => [...RULES.keys()],
  sha256: ({ data }) => hex(sha256(bytes(data))),
  insertion: ({ board, move, colour }) => {
    const result = playBoard(parseBoard(board), move, colour);
    // Every phase follows from the one before by its paths.
    return [formatBoard(result.board), result.removed, result.fell, result.waves, result.phases.map((phase) => formatBoard(phase.board))];
  },
  guesses: ({ record, guesses }) => guessTable(Timeline.ofRecord(record), guesses),
  guessBook: ({ stored, games }) => {
    const kept = { text: stored };
    const storage = { getItem: () => kept.text, setItem: (_, text) => { kept.text = text; } };
    for (const [game, name, ply, move] of games) new GuessBook(game, storage).add(name, ply, move);
    return JSON.parse(kept.text);
  },
  sentence: ({ names, totals }) => resultText(names, totals, "complete"),
  held: ({ event }) => heldText(event),
  clock: ({ ms }) => clockText(ms),
  personNames: ({ texts }) => texts.map(personName),
  // Infinity is no JSON.
  boards: ({ running, all }) => String(boardsEach(running, all)),
  most: ({ contest }) => mostAtOnce(contest),
  sign: ({ name }) => signOf(name),
  pair: ({ names, rows, share, sums }) => [pairSign(rows, share), pairWords(names, rows, sums)],
  rounds: ({ fields }) => fields.map((field) => roundTexts(field, 12, "bob", "round 1")),
  playOn: ({ search }) => playOnWish(search),
  opponents: ({ source, seat }) => opponents(source, seat),
  highlight: ({ found }) => highlightTexts(found),
  runs: ({ board }) => runs(parseBoard(board)).length,
  deal: ({ game, options, seats, seed }) => makeGame(game, options, seats).deal(seed),
  play: ({ game, options, seats, deal, moves }) => {
    const rules = makeGame(game, options, seats);
    let position = rules.start(deal);
    const seen = [];
    const show = () => [rules.state(position), rules.toMove(position), rules.moves(position), rules.totals(position), rules.end(position)];
    seen.push(show());
    for (const move of moves) {
      const step = rules.play(position, move);
      position = step.position;
      seen.push([...show(), step.points]);
    }
    return seen;
  },
  hint: ({ game, options, seats, deal, moves, limit }) => {
    const rules = makeGame(game, options, seats);
    return hint(rules, moves.reduce((position, move) => rules.play(position, move).position, rules.start(deal)), limit);
  },
  unsure: ({ type, width, height, scale }) => {
    globalThis.visualViewport = { scale };
    return isUnsure({ pointerType: type, currentTarget: { getBoundingClientRect: () => ({ width, height }) } });
  },
  schedule: ({ contest }) => loadSchedule(contest),
  leader: ({ contest }) => leaderText(contest),
  ranking: ({ scoring, rows }) => rows.map((row) => rankingText({ scoring }, rows, row)),
  result: ({ names, totals, end }) => resultText(names, totals, end),
  interest: ({ game, gains, now, plies }) => interest(game, gains, now, plies),
  anonymous: ({ names }) => isAnonymous(names),
  quantiles: ({ values, shares }) => shares.map((share) => quantile(values, share)),
  values: ({ contest, rows }) => valuesByBot(contest, rows.map(readRow), (row, seat) => row.used[seat]),
  scores: ({ contest, row }) => contest.bots.map((_, bot) => scoreFor(contest, readRow(row), bot)),
  pace: ({ pace }) => paceText(pace),
  news: ({ before, now, stars }) => newsBetween(...[before, now].map((state) =>
    ({ ...state, rows: state.rows.map(readRow) })), stars),
  part: ({ hash, names }) => chosenPart(hash, names),
  arranged: ({ before, running, over, most }) => arranged(before, running, over, most ?? undefined),
  /** What `box` has of `before` once it is to have `after`, and how many nodes were put in. */
  placedIn: ({ before, after }) => {
    const nodes = new Map([...before, ...after].map((name) => [name, { name, remove() { drop(this); } }]));
    const box = { childNodes: before.map((name) => nodes.get(name)), get lastChild() { return this.childNodes.at(-1); },
      insertBefore(node, next) {
        drop(node);
        put += 1;
        box.childNodes.splice(next ? box.childNodes.indexOf(next) : box.childNodes.length, 0, node);
      } };
    const drop = (node) => { box.childNodes = box.childNodes.filter((each) => each !== node); };
    let put = 0;
    arrange(box, after.map((name) => nodes.get(name)));
    return [box.childNodes.map(({ name }) => name), put];
  },
  wanted: ({ names, text, stars, starred }) => isWanted(names, text, stars, starred),
  planned: ({ rows, ids }) => plannedAfter(rows, ids),
  moment: ({ highlight, length }) => momentOf(highlight, length),
  sentences: ({ record, plies }) => plies.map((ply) => playText(Timeline.ofRecord(parseRecord(record)), ply)),
  choose: ({ shown, scores, now }) => choose(shown, new Map(scores), now),
  // `pictures` are RGBA bytes as hexadecimal.
  gif: ({ width, height, pictures, delay }) => {
    let before = null;
    const frames = pictures.map((picture) => {
      const colours = reduceColours(bytes(picture));
      const place = before === null ? { x: 0, y: 0, width, height } : changed(before, colours, width);
      before = colours;
      return { ...place, colours: cut(colours, width, place), delay };
    });
    return encodeGif(width, height, frames).map(hex).join("");
  },
  text: ({ record }) => gameText(parseRecord(record)),
  said: ({ text }) => said(text),
  plurals: ({ code, counts }) => {
    const locale = new Locale(code);
    return [locale.rules.resolvedOptions().pluralCategories, counts.map((count) => locale.plural(count))];
  },
  spoken: ({ code, value, options, names }) => {
    const locale = new Locale(code);
    return [locale.number(value, options), locale.list(names), locale.date(new Date(0), { dateStyle: "long", timeZone: "UTC" })];
  },
  counted: ({ count, word }) => counted(count, word),
  placed: ({ text, values }) => placed(text, values.map((value) => (Array.isArray(value) ? new Counted(...value) : value))),
  /**
   * Which rows slide, and from how far, when a table of `before` is drawn again as `after`, 28 px a row; and whether
   * their places are asked for, which takes two layouts.
   */
  slide: ({ before, after, still }) => {
    const slid = {};
    let isAsked = false;
    const table = (names) => names.map((of, place) => ({ dataset: { of },
      getBoundingClientRect: () => { isAsked = true; return { top: 28 * place }; },
      animate: ([{ transform }]) => { slid[of] = transform; } }));
    let rows = table(before);
    globalThis.matchMedia = () => ({ matches: still });
    globalThis.document = { activeElement: null };
    slide({ querySelectorAll: () => rows, contains: () => false }, after, () => { rows = table(after); });
    delete globalThis.document;
    delete globalThis.matchMedia;
    return [slid, isAsked];
  },
  missed: ({ record }) => Timeline.ofRecord(parseRecord(record)).missed(),
  together: ({ records }) => {
    const timelines = records.map((record) => Timeline.ofRecord(parseRecord(record)));
    const [[one, other], rows] = [timelines, togetherOf(timelines)];
    const ply = partingPly(one, other);
    return { ply, parting: partingText(one, other, ply), rows, better: betterText(rows, one.decided, true) };
  },
  loadGames: async ({ games, chunk, known }) => {
    const ids = Array.from({ length: games }, (_, i) => `g${i + 1}`);
    const asked = [];
    globalThis.document = { documentElement: { dataset: {} } };
    globalThis.fetch = async (path) => {
      asked.push(Number(/games-(.*).json/.exec(path)[1]));
      const first = asked.at(-1) * chunk;
      return new Response(JSON.stringify(ids.slice(first, first + chunk).map((id) => [id, [0, 1], [1, 0], "win", 1, 0, []])));
    };
    const newest = [];
    const before = ids.slice(0, known).map((id, place) => ({ id, place }));
    let early = 0;
    const rows = await loadGames({ id: 1, list: { games, chunk } }, before, async (some) => {
      newest.push(...some.map((row) => row.id));
      await new Promise((done) => { setTimeout(done); });
      early = asked.length;
    });
    delete globalThis.document;
    return { asked, newest, early, rows: rows.map((row) => [row.id, row.place]) };
  },
  expectedStart: ({ contest, rows, before, now }) => expectedStarts(contest, rows.map(readRow), now)(before),
  decisive: ({ record }) => Timeline.ofRecord(parseRecord(record)).decisive(),
  evaluation: ({ record, plies }) => plies.map((ply) => Timeline.ofRecord(parseRecord(record)).evaluation(ply)),
  expected: ({ record, plies }) => plies.map((ply) => Timeline.ofRecord(parseRecord(record)).expected(ply)),
  disagreement: ({ record }) => Timeline.ofRecord(parseRecord(record)).disagreement(),
  evaluations: ({ record }) => [0, 1].map((seat) => evaluations(Timeline.ofRecord(parseRecord(record)), seat)),
  window: ({ ply, length }) => windowOf(ply, length),
  verify: ({ record }) => { verify(parseRecord(record)); return null; },
  listed: ({ record, listed }) => { verifyListed(parseRecord(record), listed); return null; },
  chain: ({ data, chain }) => { verifyChain(bytes(data), chain); return null; },
  read: ({ data }) => readRecord(bytes(data)),
};

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let answer;
  useCatalogue(request.catalogue ?? {});
  try {
    answer = { value: await commands[request.command](request) };
  } catch (error) {
    const expected = error instanceof GameError || error instanceof RecordError;
    answer = { error: error.message, kind: expected ? "expected" : error.stack };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
