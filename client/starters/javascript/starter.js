// A starter bot for insertion that needs Node.js alone. Replace `choose`; the rest can stay as it is.
"use strict";
const net = require("node:net");

// Return a move from 1 to 15. `game` holds seat, board (the start: rows from the top, joined by `/`), pictures (all
// that were shown so far; pictures[moves.length] is to be inserted now), moves (all plies so far), clock (ms left
// to this seat) and options (all that GAME said).
function choose(game) {
  return 6 + (game.moves.length % 5); // drops into the five columns in turn
}

const env = process.env;
const login = { resume: "", known: false, tries: 0 }; // the key of the last WELCOME; connections since then

function debug(mark, line) {
  if (env.ARENA_DEBUG === "1") process.stderr.write(`${new Date().toISOString().slice(11, 23)} ${mark} ${line}\n`);
}

function fail(text) {
  process.stderr.write(text + "\n");
  process.exit(1);
}

function optionsOf(words) {
  const pairs = words.filter((word) => word.includes("="));
  return Object.fromEntries(pairs.map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]));
}

// Play on one connection; give the line that ended it, or an empty one if it was cut.
function converse(host, port, name) {
  return new Promise((ended) => {
    const sock = net.connect({ host, port, noDelay: true });
    let pending = "", last = "", greeted = false, welcomed = false, game = {};
    const send = (line) => { debug(">", line); sock.write(line + "\n"); };

    function receive(line) {
      debug("<", line);
      const words = line.split(" ");
      const [verb, word = ""] = words;
      const options = optionsOf(words);
      if (["ZOMBIE", "OVER", "ERROR", "BYE"].includes(verb)) console.log(line);
      if (verb === "ARENA" && word === "1") {
        greeted = true;
        const key = login.resume ? ` resume=${login.resume}` : env.ARENA_TOKEN ? ` token=${env.ARENA_TOKEN}` : "";
        const slot = env.ARENA_SLOT ? ` slot=${env.ARENA_SLOT}` : "";
        const contest = env.ARENA_CONTEST ? ` contest=${env.ARENA_CONTEST}` : "";
        send(`HELLO 1 ${name} games=insertion agent=javascript-starter/1${slot}${contest}${key}`);
      } else if (verb === "BYE" || (verb === "ERROR" && !welcomed)) {
        last = line;
        sock.destroy();
      } else if (verb !== "" && !greeted) {
        fail(`this is no server of version 1 of the arena protocol: ${line.slice(0, 80)}`);
      } else if (verb === "WELCOME") {
        welcomed = true;
        Object.assign(login, { resume: options.resume, known: true, tries: 0 });
      } else if (verb === "PING") {
        send(`PONG ${word}`);
      } else if (verb === "GAME") {
        game = { seat: Number(options.seat), options, moves: [], pictures: "" };
        send(`READY ${word}`); // warm up before this line: no clock runs yet
      } else if (verb === "STATE") {
        game.board = word;
      } else if (verb === "NEXT") {
        game.pictures = word;
      } else if (verb === "PLAYED") {
        game.moves.push(Number(options.move));
        game.pictures += options.reveal || "";
      } else if (verb === "TURN") {
        game.clock = Number(options.clock.split(",")[game.seat - 1]);
        send(`MOVE ${choose(game)}`);
      }
    }

    sock.setEncoding("latin1");
    sock.on("data", (chunk) => {
      const lines = (pending + chunk).split("\n");
      pending = lines.pop();
      for (const line of lines) if (!last) receive(line.replace(/\r$/, ""));
    });
    sock.on("error", (error) => debug("#", error.message));
    sock.on("close", () => ended(last));
  });
}

async function main() {
  const given = env.ARENA_HOST ? [env.ARENA_HOST, env.ARENA_PORT, env.ARENA_NAME] : process.argv.slice(2, 5);
  if (given.length < 3 || !given.every(Boolean)) fail("usage: starter.js HOST PORT NAME, or ARENA_HOST, ARENA_PORT and ARENA_NAME set");
  const [host, port, name] = given;
  while (login.tries < 12) {
    let pause = Math.min(5000, 100 << login.tries++);
    const resuming = login.resume !== "";
    const words = (await converse(host, Number(port), name)).split(" ");
    const [verb, code] = words;
    if (verb === "BYE" && code !== "reason=slow") {
      const { again } = optionsOf(words);
      if (!again || env.ARENA_CONTEST) process.exit(0);
      pause = Number(again); // another contest may follow, which knows no key of this one
      Object.assign(login, { resume: "", known: false, tries: 0 });
    }
    if (verb === "ERROR") {
      if (code === "token" && resuming) login.resume = ""; // spent or forgotten: log in by name and token
      else if (code !== "full" && code !== "rate" && !(login.known && code === "name-taken")) process.exit(1);
      pause = Math.max(pause, Number(optionsOf(words).retry_after || 0));
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  fail(`gave up on ${host}:${port}`);
}

main();
