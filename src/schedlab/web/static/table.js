// The table of jobs: millions of rows, of which only those on the screen are elements.

import { make, oncePerFrame } from "./dom.js";
import { condition } from "./filter.js";
import { duration, number, plural, ratio } from "./format.js";
import { ranks, sorted } from "./order.js";

const ROW = 27; // pixels
const HIGHEST = 8_000_000; // pixels that all browsers can scroll through; beyond, a pixel stands for more than one

export class JobTable {
  constructor(facts, jobs, clock, pick) {
    Object.assign(this, { facts, jobs, pick, chosen: -1, sorted: null, down: false, wanted: "" });
    this.columns = columns(facts, jobs, clock);
    this.order = new Uint32Array(jobs.number);
    for (let row = 0; row < jobs.number; row++) this.order[row] = row;
    this.shown = this.order;
    this.build();
  }

  build() {
    const field = make("input", {
      type: "search", placeholder: "filter: 390   user=alice   cores>=64   wait>1h   state=killed",
      "aria-label": "filter jobs", spellcheck: "false", oninput: () => this.filter(field.value),
    });
    this.count = make("span", { class: "count", role: "status" });
    this.heads = Object.entries(this.columns).map(([name, column]) => make("button", {
      class: column.number ? "number" : "", role: "columnheader", title: `sort by ${column.label}`,
      onclick: () => this.sort(name),
    }, column.label));
    this.head = make("div", { class: "row head", role: "row" }, ...this.heads);
    this.space = make("div", { class: "space" });
    this.rows = make("div", { class: "rows" });
    this.box = make("div", { class: "scroll", tabindex: 0, role: "grid", "aria-label": "jobs" }, this.head, this.space, this.rows);
    this.refresh = oncePerFrame(() => this.draw());
    this.box.addEventListener("scroll", this.refresh);
    this.box.addEventListener("keydown", event => this.key(event));
    this.element = make("section", { class: "jobs" }, make("div", { class: "tools" }, field, this.count), this.box);
    const widths = Object.values(this.columns).map(column => column.width).join(" ");
    this.element.style.setProperty("--columns", widths);
    new ResizeObserver(this.refresh).observe(this.box);
  }

  filter(text) {
    this.wanted = text;
    try {
      const wanted = condition(text, this.columns);
      this.shown = text.trim() ? this.order.filter(wanted) : this.order;
      this.wrong = "";
    } catch (error) {
      this.wrong = error.message;
    }
    this.box.scrollTop = 0;
    this.refresh();
  }

  /** The other way round when it is asked for again, then as the jobs were submitted. Numbers: the largest first. */
  sort(name) {
    const column = this.columns[name], first = Boolean(column.number);
    if (this.sorted !== name) [this.sorted, this.down] = [name, first];
    else [this.sorted, this.down] = this.down === first ? [name, !first] : [null, false];
    const sign = this.down ? -1 : 1, keys = new Float64Array(this.jobs.number);
    if (this.sorted === null) for (let row = 0; row < keys.length; row++) keys[row] = row;
    else if (column.number) for (let row = 0; row < keys.length; row++) keys[row] = sign * column.number(row); // unknown: last
    else {
      const of = column.code ?? (row => row), codes = new Set();
      for (let row = 0; row < keys.length; row++) codes.add(of(row));
      const rank = ranks([...codes], column.code ? column.word : column.text);
      for (let row = 0; row < keys.length; row++) keys[row] = sign * rank.get(of(row));
    }
    this.order = sorted(keys);
    Object.keys(this.columns).forEach((each, at) => {
      this.heads[at].setAttribute("aria-sort", each !== this.sorted ? "none" : this.down ? "descending" : "ascending");
    });
    this.filter(this.wanted);
  }

  get height() { return this.box.clientHeight - ROW; }

  /** A pixel of scrolling is `scale` pixels of the table. */
  get scale() {
    const whole = this.shown.length * ROW;
    return whole > HIGHEST ? (whole - this.height) / (HIGHEST - this.height) : 1;
  }

  draw() {
    const { shown, box } = this, whole = Math.min(shown.length * ROW, HIGHEST);
    this.count.textContent = this.wrong || (shown.length === this.jobs.cores.length ? plural(shown.length, "job")
      : `${number(shown.length)} of ${plural(this.jobs.cores.length, "job")}`);
    this.count.classList.toggle("wrong", Boolean(this.wrong));
    this.space.style.height = `${whole}px`;
    const first = Math.max(0, Math.floor(box.scrollTop * this.scale / ROW));
    const last = Math.min(shown.length, first + Math.ceil(this.height / ROW) + 2);
    const offset = this.scale === 1 ? first * ROW : box.scrollTop;
    this.rows.style.transform = `translateY(${offset}px)`;
    this.rows.replaceChildren(...Array.from({ length: Math.max(last - first, 0) }, (_, at) => this.line(shown[first + at])));
  }

  line(row) {
    const cells = Object.values(this.columns).map(column =>
      make("span", { class: column.number ? "number" : "", role: "gridcell" }, column.text(row)));
    const line = make("div", { class: row === this.chosen ? "row chosen" : "row", role: "row", onclick: () => this.pick(row) }, ...cells);
    return line;
  }

  /** Mark a job; bring it into view where it was chosen elsewhere. */
  choose(row, follow) {
    this.chosen = row;
    const at = follow && row >= 0 ? this.shown.indexOf(row) : -1;
    if (at >= 0) this.box.scrollTop = Math.max(0, (at * ROW - this.height / 2) / this.scale);
    this.refresh();
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12 }[event.key];
    if (!step || !this.shown.length) return;
    event.preventDefault();
    const at = this.shown.indexOf(this.chosen);
    const next = at < 0 ? 0 : Math.min(Math.max(at + step, 0), this.shown.length - 1);
    this.pick(this.shown[next]);
    this.choose(this.shown[next], true);
  }
}

/** A column of words, of which there are few: rows have codes of them. */
function worded(label, width, code, word) { return { label, width, code, word, text: row => word(code(row)) }; }

/** name -> label, width, text of a row, and its number if it has one, or the code of its word. */
function columns(facts, jobs, clock) {
  const found = { job: { label: "job", width: "minmax(70px,1fr)", text: row => jobs.title(row) } };
  if (!jobs.name) found.job.number = row => jobs.job[row];
  for (const by of ["user", "queue", "partition"].filter(name => facts.owners[name])) {
    found[by] = worded(by, "minmax(70px,1fr)", row => jobs[by][row], code => jobs.ownerName(by, code));
  }
  const plain = (label, width, of, text) => ({ label, width, number: of, text: row => text(of(row)) });
  found.cores = plain("cores", "70px", row => jobs.cores[row], value => number(value));
  found.submit = plain("submitted", "minmax(140px,1.3fr)", row => jobs.submit[row], value => clock.moment(value));
  found.wait = plain("wait", "100px", row => jobs.wait[row], value => duration(value));
  found.ran = plain("ran", "100px", row => jobs.end[row] - jobs.start[row], value => duration(value));
  found.slowdown = plain("bounded slowdown", "158px", row => jobs.slowdown[row], ratio);
  if (jobs.difference) {
    found.difference = plain("against baseline", "110px", row => jobs.difference[row],
      value => Number.isNaN(value) ? "–" : value > 0 ? `+${duration(value)}` : duration(value));
  }
  found.state = worded("state", "minmax(80px,1fr)", row => jobs.state[row], code => facts.words.state[code]);
  found.backfilled = worded("backfilled", "90px", row => jobs.backfilled[row], code => ["no", "yes", "–"][code]);
  return found;
}
