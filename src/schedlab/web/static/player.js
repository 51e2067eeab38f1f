// Plays side by side on one clock: step by step, with the queue, the picture, and what was decided in words.

import { make } from "./dom.js";
import { pieces } from "./rich.js";
import { figure, horizon, inkOn, short, stage } from "./stage.js";

const PACE = 1600; // milliseconds a step

export class Player {
  /** `notes` are told at their times; `colours` are those of jobs in turn. */
  constructor(plays, { notes = [], colours }) {
    this.plays = plays;
    this.notes = new Map(notes.map(note => [note.at, note]));
    this.times = [...new Set(plays.flatMap(play => play.steps.map(step => step.time)))].sort((a, b) => a - b);
    this.until = Math.max(...plays.map(horizon));
    // The same job has one colour in all plays. (Its label says which it is: numbers of workflows' jobs are given anew.)
    const known = new Map(plays.flatMap(play => play.jobs.map(job => [job.label, job.id])));
    this.labels = [...known.keys()].sort((a, b) => known.get(a) - known.get(b));
    const turn = new Map(this.labels.map((label, at) => [label, colours[at % colours.length]]));
    this.colourOf = (play, job) => turn.get(this.label(play, job));
    this.at = 0;
    this.revealed = new Set(); // times whose questions were answered
    this.quiz = false;
    this.chosen = plays.map(() => new Set());
    this.timer = null;
    this.element = make("section", { class: "player", tabindex: "-1" });
    this.build();
    this.show();
    this.sizes = new ResizeObserver(() => this.draw());
    this.sizes.observe(this.element);
  }

  build() {
    const button = (name, text, title, act) =>
      make("button", { class: `plain ${name}`, type: "button", title, onclick: () => { this.stop(); act(); } }, text);
    this.playButton = make("button", { class: "plain play", type: "button", title: "Play or pause (space)",
      onclick: () => this.toggle() }, "▶ Play");
    this.slider = make("input", { type: "range", min: "0", max: String(this.times.length - 1), value: "0", step: "1",
      "aria-label": "Step", oninput: () => { this.stop(); this.go(Number(this.slider.value)); } });
    this.place = make("output", { class: "place" });
    this.asking = make("input", { type: "checkbox", onchange: () => { this.quiz = this.asking.checked; this.show(); } });
    this.question = make("div", { class: "question", "aria-live": "polite" });
    this.note = make("div", { class: "note", "aria-live": "polite" });
    this.columns = this.plays.map(play => {
      const queue = make("ol", { class: "queue" }), picture = make("div", { class: "picture" });
      const said = make("ul", { class: "told", "aria-live": "polite" }), free = make("p", { class: "free" });
      const title = make("h3", {}, play.policy);
      const element = make("div", { class: "play-column" }, title,
        make("div", { class: "scene" }, make("div", { class: "queue-panel" }, make("h4", {}, "Queue"), queue, free), picture), said);
      return { play, queue, picture, said, free, element };
    });
    this.results = make("div", { class: "outcome" });
    this.element.append(
      make("div", { class: "controls" },
        button("first", "|◀ First", "First step (Home)", () => this.go(0)),
        button("back", "◀ Back", "One step back (←)", () => this.back()),
        button("next", "Next ▶", "One step on (→)", () => this.next()),
        this.playButton, this.slider, this.place,
        make("label", { class: "quiz" }, this.asking, " ask me first")),
      this.question, this.note,
      make("div", { class: `columns of-${this.plays.length}` }, ...this.columns.map(column => column.element)),
      this.results);
  }

  get time() { return this.times[this.at]; }

  /** Whether the decisions of this step are still a question. */
  get open() {
    if (this.revealed.has(this.time)) return false;
    if (this.notes.get(this.time)?.ask) return true;
    return this.quiz && this.fresh().some(({ step }) => step.queue_before.length > 0);
  }

  fresh() {
    return this.columns.map((column, at) => ({ column, at, step: column.play.steps.find(step => step.time === this.time) }))
      .filter(each => each.step);
  }

  go(at) {
    this.at = Math.max(0, Math.min(this.times.length - 1, at));
    for (const chosen of this.chosen) chosen.clear();
    this.show();
  }

  next() {
    if (this.open) this.reveal();
    else this.go(this.at + 1);
  }

  back() { this.go(this.at - 1); }

  reveal() {
    this.revealed.add(this.time);
    this.show();
  }

  toggle() {
    if (this.timer) { this.stop(); return; }
    if (this.at === this.times.length - 1) this.go(0);
    this.playButton.textContent = "❚❚ Pause";
    this.timer = setInterval(() => {
      if (this.open) { this.stop(); return; } // a question is for somebody to answer
      if (this.at === this.times.length - 1) this.stop();
      else this.go(this.at + 1);
    }, PACE);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.playButton.textContent = "▶ Play";
  }

  /** What a key does; true if it does anything. */
  key(event) {
    const acts = { ArrowRight: () => this.next(), ArrowLeft: () => this.back(), Home: () => this.go(0),
      End: () => this.go(this.times.length - 1), " ": () => this.toggle() };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key !== " ") this.stop();
    act();
    return true;
  }

  show() {
    this.slider.value = String(this.at);
    this.place.textContent = `step ${this.at + 1} of ${this.times.length}, at ${figure(this.time)} s`;
    this.slider.setAttribute("aria-valuetext", this.place.textContent);
    this.element.dataset.time = String(this.time);
    this.element.dataset.open = String(this.open);
    this.ask();
    const note = this.notes.get(this.time);
    this.note.replaceChildren(...(note && !this.open ? [make("p", {}, ...pieces(note.text))] : []));
    for (const [at, column] of this.columns.entries()) this.tell(column, this.chosen[at]);
    this.sum();
    this.draw();
  }

  ask() {
    const note = this.notes.get(this.time), parts = [];
    if (this.open) {
      parts.push(make("p", {}, ...pieces(note?.ask || "Which of the waiting jobs start now? Mark them in the queue.")));
      parts.push(make("button", { class: "plain reveal", type: "button", onclick: () => this.reveal() }, "Show what happens"));
    } else if (this.revealed.has(this.time) && this.chosen.some(chosen => chosen.size)) {
      for (const { column, at, step } of this.fresh()) {
        const started = new Set(step.starts.map(start => start.job)), chosen = this.chosen[at];
        const right = started.size === chosen.size && [...started].every(job => chosen.has(job));
        const names = step.starts.map(start => this.label(column.play, start.job)).join(", ") || "nobody";
        const text = right ? "right" : `not quite: ${names} ${step.starts.length === 1 ? "starts" : "start"} here`;
        parts.push(make("p", { class: right ? "right" : "wrong" }, `${column.play.policy}: ${text.replace("nobody start ", "nobody starts ")}.`));
      }
    }
    this.question.replaceChildren(...parts);
  }

  label(play, job) { return play.jobs.find(each => each.id === job).label; }

  current(column) { return column.play.steps.filter(step => step.time <= this.time).at(-1) ?? null; }

  tell(column, chosen) {
    const { play } = column, step = this.current(column), fresh = step?.time === this.time, open = this.open && fresh;
    const waiting = step === null ? [] : open ? step.queue_before : step.waits.map(wait => wait.job);
    const held = new Set(step?.waits.filter(wait => wait.why === "dependency" || wait.why === "held").map(wait => wait.job));
    column.queue.replaceChildren(...waiting.map(id => {
      const job = play.jobs.find(each => each.id === id), colour = this.colourOf(play, id);
      const mine = chip(colour, short(job.label));
      const wants = make("span", {}, `${job.cores} × ${figure(job.estimate)} s${job.user ? `, ${job.user}` : ""}${job.application ? `, ${job.application}` : ""}`);
      if (!open) return make("li", { class: held.has(id) ? "held" : "", title: job.label }, mine, wants);
      const mark = make("button", { class: "choose", type: "button", "aria-pressed": String(chosen.has(id)), onclick: () => {
        if (!chosen.delete(id)) chosen.add(id);
        mark.setAttribute("aria-pressed", String(chosen.has(id)));
      } }, mine, wants);
      return make("li", {}, mark);
    }));
    if (!waiting.length) column.queue.append(make("li", { class: "nobody" }, "nobody waits"));
    const free = step === null ? 0 : open ? step.free_before : step.free;
    column.free.textContent = step === null ? "" : `${free} ${free === 1 ? "core" : "cores"} free`;
    const line = (kind, sign, each) => {
      const colour = this.colourOf(play, each.job);
      return make("li", { class: kind, "data-job": each.job },
        chip(colour, sign, { "aria-hidden": "true" }), each.words);
    };
    const news = fresh ? step.news.filter(each => each.what !== "rate") : [];
    const rates = fresh && !open ? step.news.filter(each => each.what === "rate") : [];
    const signs = { ended: "■", killed: "✕", held: "‖" };
    column.said.replaceChildren(
      ...news.map(each => line(`news ${each.what}`, signs[each.what] ?? "+", each)),
      ...(fresh && !open ? step.starts : []).map(each => line(each.backfilled ? "start backfilled" : "start", "▶", each)),
      ...rates.map(each => line("news rate", "≈", each)),
      ...(step && !open ? step.waits : []).map(each => line("wait", "…", each)));
    if (!column.said.children.length) column.said.append(make("li", { class: "nothing" }, "Nothing happens here now."));
  }

  draw() {
    for (const column of this.columns) {
      const step = this.current(column), width = column.picture.clientWidth;
      if (!width) continue;
      const open = this.open && step?.time === this.time;
      column.picture.replaceChildren(stage(column.play, step, this.time, this.until, width, job => this.colourOf(column.play, job), open));
    }
  }

  /** Waits so far, and at the end what `schedlab compare` would say. */
  sum() {
    const head = make("tr", {}, make("th", {}, "job"), make("th", {}, "comes"), make("th", {}, "cores"), make("th", {}, "runs"),
      make("th", {}, "estimate"), ...this.plays.map(play => make("th", {}, this.plays.length > 1 ? `starts, ${play.policy}` : "starts")));
    const rows = this.labels.map(label => {
      const inPlays = this.plays.map(play => play.jobs.find(each => each.label === label));
      const at = inPlays.findIndex(Boolean), job = inPlays[at], colour = this.colourOf(this.plays[at], job.id);
      const starts = inPlays.map(own => {
        const known = own && own.start !== null && (own.start < this.time || (own.start === this.time && !this.open));
        const text = !own ? "" : known ? `${figure(own.start)}` : "–";
        return make("td", { class: "start-of", "data-job": own?.id ?? "" }, text);
      });
      return make("tr", {}, make("th", {}, chip(colour, short(job.label))),
        ...[job.submit, job.cores, job.runtime, job.estimate].map(value => make("td", {}, figure(value))), ...starts);
    });
    const over = this.at === this.times.length - 1 && !this.open;
    const metrics = (over ? Object.keys(this.plays[0].metrics) : []).map(name => make("tr", { class: "metric" }, make("th", { colspan: "5" }, name),
      ...this.plays.map(play => make("td", {}, play.metrics[name]))));
    this.results.replaceChildren(make("div", { class: "wide" }, make("table", { class: "jobs-played" },
      make("thead", {}, head), make("tbody", {}, ...rows, ...metrics))));
  }
}

/** In a colour of a job. (Pages allow no styles in attributes.) */
function chip(colour, text, attributes = {}) {
  const element = make("i", attributes, text);
  element.style.background = colour;
  element.style.color = inkOn(colour);
  return element;
}
