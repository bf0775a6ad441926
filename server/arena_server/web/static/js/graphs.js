// The graphs of a game behind tabs: points, time left, and what the bots noted of it.

import { Chart } from "./chart.js";
import { bdi, el, NO_CLOCK_MS, numberText, shortText, svg } from "./dom.js";
import { t } from "./texts.js";

/** By which graph a browser shows first. */
const KEY = "graph";

const perSeat = (timeline, value) => timeline.info.names.map((_, seat) => value(timeline, seat));
const points = (timeline, seat) => [[0, 0], ...timeline.plies.map((ply, i) => [i + 1, ply.total[seat]])];
const clocks = (timeline, seat) => [[0, timeline.info.clock_ms],
  ...timeline.plies.map((ply, i) => [i + 1, ply.clock[seat]])];

/** What a seat noted: of several notes about a ply the last one. In a game of two the second seat's is mirrored. */
export function evaluations(timeline, seat) {
  const sign = timeline.info.names.length === 2 && seat === 1 ? -1 : 1;
  return [...new Map(timeline.notes.filter((note) => note.seat === seat + 1 && Number.isFinite(note.eval))
    .map((note) => [note.ply, sign * note.eval]))].sort((a, b) => a[0] - b[0]);
}

/** What is drawn of a game: {name, tab, title, series, format}. */
function graphsOf({ decided, info: { clock_ms: bank, names } }) {
  return [
    decided ? null : { name: "points", tab: t`Points`, title: t`Points`, series: points, format: numberText },
    bank >= NO_CLOCK_MS ? null : { name: "time", tab: t`Time left`, title: t`Time left`, series: clocks,
      format: (ms) => t`${Math.round(ms / 100) / 10} s` },
    { name: "evaluation", tab: t`Evaluation`,
      title: names.length === 2 ? t`Evaluation: up is better for ${names[0]}` : t`Evaluation, each bot for itself`,
      series: evaluations, format: (value) => shortText(value, true) },
  ].filter(Boolean);
}

function stored() {
  try { return localStorage.getItem(KEY); } catch { return null; }
}

export class Graphs {
  /** `onpick(ply)` is called for a click on a graph. */
  constructor(timeline, onpick) {
    this.names = timeline.info.names;
    this.timeline = timeline;
    this.ply = 0;
    this.graphs = graphsOf(timeline).map((graph) => this.#graph(graph, onpick));
    this.chosen = stored() ?? this.graphs[0].name;
    this.element = el("div", { class: "charts" },
      el("div", { class: "graph-tabs", role: "tablist", "aria-label": t`Graphs` },
        ...this.graphs.map(({ button }) => button)),
      ...this.graphs.map(({ panel }) => panel));
    this.update(timeline);
  }

  #graph({ name, tab, title, series, format }, onpick) {
    const chart = new Chart(title, (timeline) => perSeat(timeline, series), format, onpick);
    const button = el("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `graph-${name}`,
      onclick: () => this.#choose(name), onkeydown: (event) => this.#key(event) }, tab);
    const panel = el("figure", { role: "tabpanel", id: `graph-${name}`, "aria-labelledby": `tab-${name}` },
      el("figcaption", {}, title === tab ? null : title, this.#legend()), chart.element);
    return { name, chart, button, panel };
  }

  #legend() {
    return el("span", { class: "legend" },
      ...this.names.map((name, i) => el("span", { class: `key s${i + 1}` },
        svg("svg", { viewBox: "0 0 24 8", width: 24, height: 8, "aria-hidden": "true" },
          svg("line", { class: `line s${i + 1}`, x1: 0, x2: 24, y1: 4, y2: 4 })), bdi(name))));
  }

  #choose(name) {
    this.chosen = name;
    try { localStorage.setItem(KEY, name); } catch { /* the choice lasts for this page */ }
    this.#show();
  }

  /** The arrows go from tab to tab here, and not through the game. */
  #key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const shown = this.graphs.filter(({ button }) => !button.hidden);
    const next = shown[(shown.findIndex(({ button }) => button === event.target) + step + shown.length) % shown.length];
    this.#choose(next.name);
    next.button.focus();
  }

  /** A graph of evaluations is there once a bot has noted one. */
  #show() {
    for (const { name, button } of this.graphs) button.hidden = name === "evaluation" && !this.noted;
    const shown = this.graphs.filter(({ button }) => !button.hidden);
    const chosen = (shown.find(({ name }) => name === this.chosen) ?? shown[0])?.name;
    for (const { name, button, panel } of this.graphs) {
      panel.hidden = name !== chosen;
      button.setAttribute("aria-selected", String(name === chosen));
      button.tabIndex = name === chosen ? 0 : -1;
    }
    this.element.hidden = !shown.length;
    this.shown = this.graphs.find(({ name }) => name === chosen)?.chart;
    this.#draw();
  }

  /** One is shown, and only that one is drawn. */
  #draw() {
    this.shown?.update(this.timeline);
    this.shown?.point(this.ply);
  }

  update(timeline) {
    this.timeline = timeline;
    const noted = timeline.notes.some((note) => Number.isFinite(note.eval));
    if (this.noted === noted) return this.#draw();
    this.noted = noted;
    return this.#show();
  }

  point(ply) {
    this.ply = ply;
    this.shown?.point(ply);
  }
}
