// The explorer: puts the parts together and keeps what is looked at (which runs, which job, which moment, which colours).

import { TimeAxis } from "./axis.js";
import { cards, comparisonTable, differencesPanel, saidFirst } from "./compare.js";
import { Distributions } from "./distributions.js";
import { forgetShades, make, oncePerFrame, shade, write } from "./dom.js";
import { brief, number, plural } from "./format.js";
import { Gantt } from "./gantt.js";
import { follow, keys } from "./gestures.js";
import { fromAddress, toAddress } from "./links.js";
import { Jobs } from "./jobs.js";
import { ClusterMap } from "./map.js";
import { Overview } from "./overview.js";
import { OverTime } from "./over_time.js";
import { NAMES, choices, colouring, ofRun } from "./palette.js";
import { Schedule } from "./schedule.js";
import { Series, drawAxis } from "./series.js";
import { storyPanel } from "./story.js";
import { JobTable } from "./table.js";
import { Tip } from "./tip.js";
import { HELD, PASSED, SELF, findStory } from "./waiting.js";

const FIRST = ["jobs", "nodes", "chart"]; // blocks without which there is nothing to show
const MOST_HELD = 200; // of those who had the cores: that keep their colours
const REST = 120; // milliseconds without a move
const PLAY = 12; // seconds from one end of what is shown to the other
const HELP = [["wheel, + −", "zoom in time"], ["drag, ← →", "move"], ["shift + wheel", "zoom into rows"], ["click", "why did this job wait?"],
  ["double click", "zoom to a job"], ["0", "show everything"], ["Esc", "let go of the job"]];

/** Show the runs of a source in `root`. */
export async function explore(root, source) {
  source.expect(0, ...FIRST); // there is one run at least
  const facts = await source.facts();
  const explorer = new Explorer(root, source, facts);
  await explorer.open();
  return explorer;
}

class Explorer {
  constructor(root, source, facts) {
    Object.assign(this, { root, source, facts, chosen: null, marks: null, playing: false });
    this.refresh = oncePerFrame(() => this.draw());
    const begin = Math.min(...facts.runs.map(run => run.span[0])), end = Math.max(...facts.runs.map(run => run.span[1]));
    const origins = new Set(facts.runs.map(run => run.origin));
    this.axis = new TimeAxis(begin, end, origins.size === 1 ? facts.runs[0].origin : null);
    this.axis.listen(() => this.moved());
    this.moment = begin + (end - begin) / 3;
    this.narrow = window.matchMedia("(max-width: 760px)");
    this.dark = window.matchMedia("(prefers-color-scheme: dark)");
    this.focus = 0;
  }

  get gutter() { return this.narrow.matches ? 42 : 64; }

  get clock() { return this.axis.clock; }

  get isDark() {
    const theme = document.documentElement.dataset.theme;
    return theme ? theme === "dark" : this.dark.matches;
  }

  async open() {
    this.runs = await Promise.all(this.facts.runs.map(async (facts, at) => {
      // What is drawn first is asked for before all jobs are there, which are large.
      if (facts.over_time.steps.length) this.source.expect(at, "steps-0");
      this.source.block(at, "chart").then(({ levels }) => { if (levels.length) this.source.expect(at, "tile-0-0"); }, () => {});
      const [columns, nodes, chart] = await Promise.all(FIRST.map(name => this.source.block(at, name)));
      const jobs = new Jobs(columns, facts);
      const schedule = new Schedule(this.source, at, facts, jobs, chart, this.refresh);
      schedule.moving = () => performance.now() - (this.movedAt ?? -Infinity) < REST;
      const run = {
        at, facts, jobs, schedule, nodes: nodes.name, label: facts.label, visible: at < 4,
        overTime: new OverTime(this.source, at, facts, this.refresh),
        colour: () => ofRun(this.facts.colours, at, this.isDark),
      };
      return run;
    }));
    this.by = choices(this.facts.runs[0], this.runs[0].jobs)[0];
    this.build();
    this.source.failed = error => this.lost(error);
    for (const { at, facts, gantt, map } of this.runs) {
      if (facts.closed) this.source.block(at, "closed").then(closed => { gantt.closed = map.closed = closed; this.refresh(); });
      if (facts.held) this.source.block(at, "held").then(held => { map.held = held; this.refresh(); });
    }
    this.recolour();
    this.narrow.addEventListener("change", this.refresh);
    this.dark.addEventListener("change", () => this.restyle());
    new ResizeObserver(this.refresh).observe(this.root);
    for (const moved of ["popstate", "hashchange"]) window.addEventListener(moved, () => this.followAddress());
    this.followAddress();
  }

  /** While the axis moves, few things are asked for; the rest once it has come to rest. */
  moved() {
    this.movedAt = performance.now();
    clearTimeout(this.resting);
    this.resting = setTimeout(this.refresh, REST + 10);
    this.refresh();
  }

  /** To the job and the moment that the address of the page names. */
  followAddress() {
    const { job, run, at } = fromAddress(), there = this.runs[run] ?? this.runs[0];
    const row = job === null ? -1 : there.jobs.find(job), same = this.chosen?.run === there.at && this.chosen.row === row;
    if (job === null) { if (this.chosen) this.choose(null); } else if (row < 0) this.missing(job);
    else if (!same) { this.choose({ run: there.at, row }); if (at === null) this.look(there.at, row); }
    if (at !== null) this.instant(at);
  }

  /** One moment in all charts, in the middle if it was not to be seen. */
  instant(time) {
    if (time < this.axis.begin || time > this.axis.end) this.axis.show(time - this.axis.length / 2, time + this.axis.length / 2);
    this.setMoment(time);
  }

  /** Back to the charts from what is below them: everything else, on a narrow screen. */
  toCharts(below = this.narrow.matches) {
    if (below) this.timeline.scrollIntoView({ behavior: "smooth", block: "start" });
  }

  /** Something that did not come; once, however much did not. */
  lost(error) {
    if (this.summary.querySelector("[role=alert]")) return;
    this.summary.prepend(make("p", { class: "warning", role: "alert" }, `Some of it cannot be shown: ${error}. Reload the page to try again.`));
  }

  /** Where the address says what is looked at; a `step` can be gone back from. */
  told(at = null, step = false) {
    const job = this.chosen && this.runs[this.chosen.run].jobs.title(this.chosen.row);
    toAddress({ job, run: this.chosen?.run ?? 0, at }, step);
  }

  build() {
    const { comparison } = this.facts, [first] = this.runs;
    const named = this.runs.length === 1 ? first.label : plural(this.runs.length, "run");
    const heading = make("h1", {}, make("span", {}, named), make("small", {}, ` ${first.facts.workload} on ${first.facts.machine.name}`));
    this.picker = make("select", { "aria-label": "colour by", onchange: () => { this.by = this.picker.value; this.recolour(); } });
    this.fillPicker();
    this.field = make("input", { type: "search", placeholder: "find job …", "aria-label": "find a job", spellcheck: "false" });
    const form = make("form", { class: "find", onsubmit: event => { event.preventDefault(); this.search(this.field.value); } }, this.field);
    const theme = make("button", { class: "plain", title: "light or dark", "aria-label": "light or dark", onclick: () => this.switchTheme() }, "◐");
    const header = make("header", { class: "top" }, heading, form, make("label", {}, "colour by ", this.picker), theme);
    const numbers = this.runs.length === 1 ? cards(comparison, first.facts)
      : comparisonTable(comparison, this.facts.runs, { toggle: at => this.toggle(at), focus: at => this.setFocus(at) });
    this.summary = make("section", { class: "summary" }, ...this.warnings(), saidFirst(comparison), numbers);
    this.legend = make("div", { class: "legend" });
    this.timeline = make("section", { class: "timeline" }, ...this.charts());
    this.side = make("aside", {}, this.mapPanel(), this.storyHost = make("div", { class: "story-host" }));
    this.storyHint();
    this.root.classList.add("explorer");
    this.root.replaceChildren(header, this.summary, make("main", {}, this.timeline, this.side), this.tabs());
    this.root.append(make("footer", {}, `schedlab ${first.facts.version}`, ...this.runs[0].facts.notes.map(note => make("span", {}, note))));
    this.tip = new Tip(this.clock);
    keys(this.axis, { Escape: () => this.choose(null) });
  }

  warnings() {
    return this.facts.runs.filter(run => run.incomplete).map(run =>
      make("p", { class: "warning" }, `${run.label}: this run ended before its time (${run.incomplete}); what came after is not here.`));
  }

  charts() {
    const found = [];
    const overview = make("canvas", { class: "overview", role: "img", "aria-label": "the whole run: drag to choose a part" });
    this.overview = new Overview(overview, this.axis, () => this.gutter);
    const button = (text, title, action) => make("button", { class: "plain", title, onclick: action }, text);
    const middle = () => (this.axis.begin + this.axis.end) / 2;
    this.period = make("span", { class: "period" });
    const help = make("details", { class: "help" }, make("summary", { title: "mouse and keys" }, "?"),
      make("dl", {}, ...HELP.flatMap(([key, what]) => [make("dt", {}, key), make("dd", {}, what)])));
    found.push(make("div", { class: "tools" }, this.legend, this.period,
      button("−", "zoom out (−)", () => this.axis.zoomAt(middle(), 1 / 1.6)), button("+", "zoom in (+)", () => this.axis.zoomAt(middle(), 1.6)),
      button("all", "show everything (0)", () => this.axis.all()), help), overview);
    for (const run of this.runs) {
      const canvas = make("canvas", { class: "gantt", tabindex: 0, role: "img", "aria-label": `Gantt chart of ${run.label}` });
      run.canvas = canvas;
      run.gantt = new Gantt(canvas, this.axis, run.facts, run.nodes, run.schedule, this.gutter);
      run.title = make("button", { class: "title", onclick: () => this.setFocus(run.at) });
      run.box = make("figure", {}, this.runs.length > 1 ? run.title : null, canvas);
      this.listen(canvas, run);
      found.push(run.box);
    }
    this.series = this.seriesCharts();
    found.push(...this.series.map(({ box }) => box));
    this.axisCanvas = make("canvas", { class: "axis" });
    found.push(this.axisCanvas);
    return found;
  }

  listen(canvas, run) {
    const { gantt } = run;
    follow(canvas, this.axis, {
      left: () => this.gutter,
      width: () => canvas.clientWidth - this.gutter,
      rows: { pan: pixels => { gantt.panRows(pixels); this.sameRows(gantt); }, zoom: (place, factor) => { gantt.zoomRows(place, factor); this.sameRows(gantt); } },
      click: (x, y) => {
        const { job, time } = gantt.find(x, y);
        this.setMoment(time);
        if (job >= 0) this.choose({ run: run.at, row: job });
      },
      twice: (x, y) => { const { job } = gantt.find(x, y); if (job >= 0) this.look(run.at, job); },
      hover: (x, y, event) => this.tip.show(run, x, y, event),
      leave: () => this.tip.hide(),
    });
  }

  /** Runs on machines of the same size show the same rows. */
  sameRows(gantt) {
    for (const run of this.runs) if (run.gantt.rows === gantt.rows) run.gantt.showRows(gantt.top, gantt.bottom);
    this.refresh();
  }

  seriesCharts() {
    const totals = Object.assign({}, ...this.runs.map(run => run.facts.over_time.totals)), kinds = [];
    for (const name of Object.keys(totals)) {
      kinds.push({ label: `${name} in use`, share: true, top: 1, of: run => {
        const total = run.facts.over_time.totals[name];
        return total ? (...where) => run.overTime.means(`used_${name}`, ...where)?.map(value => value / total) : null;
      } });
    }
    kinds.push({ label: "jobs waiting", of: run => (...where) => run.overTime.means("queued", ...where) });
    kinds.push({ label: "cores waited for", of: run => (...where) => run.overTime.means("queued_cores", ...where) });
    if (this.runs.some(run => run.facts.power)) {
      kinds.push({ label: "power (W)", of: run => run.facts.power ? (...where) => run.overTime.power(...where) : null });
    }
    return kinds.map(kind => {
      const canvas = make("canvas", { class: "series", role: "img", "aria-label": kind.label });
      follow(canvas, this.axis, {
        left: () => this.gutter, width: () => canvas.clientWidth - this.gutter,
        click: x => this.setMoment(this.axis.time(x, canvas.clientWidth - this.gutter)),
      });
      return { ...kind, canvas, chart: new Series(canvas, this.axis, this.gutter, kind), box: make("figure", {}, make("figcaption", {}, kind.label), canvas) };
    });
  }

  mapPanel() {
    for (const run of this.runs) {
      run.map = new ClusterMap(run.facts, run.nodes, run.schedule, null, row => this.choose({ run: run.at, row }));
    }
    this.slider = make("input", {
      type: "range", min: 0, max: 1000, step: "any", "aria-label": "moment",
      oninput: () => { this.setMoment(this.axis.begin + this.slider.value / 1000 * this.axis.length); },
    });
    this.play = make("button", { class: "plain", title: "play", "aria-label": "play", onclick: () => this.togglePlay() }, "▶");
    this.mapTitle = make("h3");
    this.mapTime = make("b", { class: "when" });
    this.mapState = make("p", { class: "hint" });
    this.mapHost = make("div");
    return make("section", { class: "map-panel" }, make("div", { class: "head" }, this.mapTitle, this.mapTime),
      make("div", { class: "slider" }, this.play, this.slider), this.mapState, this.mapHost);
  }

  tabs() {
    const several = this.runs.length > 1;
    this.tableHost = make("div");
    this.distributions = new Distributions(this.runs, this.source);
    const panels = {
      Jobs: this.tableHost, Distributions: this.distributions.element,
      ...(several ? { "Who won, who lost": differencesPanel(this.facts.comparison, this.runs, (run, row) => { this.choose({ run, row }, true); this.look(run, row); this.toCharts(true); }) } : {}),
    };
    const buttons = Object.keys(panels).map(name => make("button", { role: "tab", onclick: () => show(name) }, name));
    const show = name => {
      Object.entries(panels).forEach(([each, panel], at) => {
        panel.hidden = each !== name;
        buttons[at].setAttribute("aria-selected", String(each === name));
      });
      if (name === "Distributions") this.distributions.draw();
    };
    const element = make("section", { class: "tabs" }, make("div", { class: "tablist", role: "tablist" }, ...buttons), ...Object.values(panels));
    show("Jobs");
    this.setFocus(0);
    return element;
  }

  /** The run whose map and table are shown. */
  setFocus(at) {
    this.focus = at;
    const run = this.runs[at];
    run.visible = true;
    run.table ??= new JobTable(run.facts, run.jobs, this.clock, row => { this.choose({ run: at, row }); this.reveal(at, row); });
    this.tableHost.replaceChildren(run.table.element);
    this.mapHost.replaceChildren(run.map.element);
    this.mark();
    this.mapTitle.textContent = this.runs.length > 1 ? `The machine under ${run.label}` : "The machine";
    this.fillPicker();
    this.refresh();
    run.table.refresh();
  }

  toggle(at) {
    const run = this.runs[at];
    run.visible = !run.visible;
    if (this.runs.every(each => !each.visible)) run.visible = true;
    this.mark();
    this.refresh();
    this.distributions.draw();
  }

  fillPicker() {
    const wanted = this.runs.flatMap(run => choices(run.facts, run.jobs)).filter((name, at, all) => all.indexOf(name) === at);
    this.picker.replaceChildren(...wanted.map(name => make("option", { value: name, selected: name === this.by }, NAMES[name])));
    this.picker.value = this.by;
  }

  recolour() {
    for (const run of this.runs) {
      const by = choices(run.facts, run.jobs).includes(this.by) ? this.by : "job";
      run.colours = colouring(by, run.facts, run.jobs, this.facts.colours, this.isDark);
      if (this.by === "difference" && by !== "difference") {
        run.colours = { ...colouring("state", run.facts, run.jobs, this.facts.colours, this.isDark) };
        run.colours.colours.fill(0xc4beb9);
      }
    }
    this.explainColours();
    if (this.marks) this.marks.dimmed = null;
    this.refresh();
  }

  explainColours() {
    const { legend, scale } = (this.runs.find(run => choices(run.facts, run.jobs).includes(this.by)) ?? this.runs[0]).colours;
    const items = [];
    if (scale) {
      const ramp = make("i", { class: "ramp" });
      ramp.style.background = `linear-gradient(90deg, ${scale.ramp.join(",")})`;
      items.push(make("span", {}, `${scale.from} `), ramp, make("span", {}, ` ${scale.to}`));
    } else {
      for (const [name, colour] of legend) {
        const dot = make("i");
        dot.style.background = colour;
        items.push(make("span", {}, dot, name));
      }
    }
    this.legend.replaceChildren(...items);
  }

  switchTheme() {
    document.documentElement.dataset.theme = this.isDark ? "light" : "dark";
    this.restyle();
  }

  restyle() {
    forgetShades();
    for (const run of this.runs) run.map.drawn = null;
    this.mark();
    this.recolour();
    this.distributions.draw();
  }

  setMoment(time) {
    this.moment = Math.min(Math.max(time, this.axis.first), this.axis.last);
    this.refresh();
  }

  togglePlay() {
    this.playing = !this.playing;
    this.play.textContent = this.playing ? "❚❚" : "▶";
    let before = null;
    const step = now => {
      if (!this.playing) return;
      if (before !== null) this.setMoment(this.moment + (now - before) / 1000 / PLAY * this.axis.length);
      before = now;
      if (this.moment >= Math.min(this.axis.end, this.axis.last)) this.setMoment(this.axis.begin);
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  search(text) {
    const run = this.runs[this.focus], row = run.jobs.find(text);
    if (row < 0) { this.missing(text); return; }
    this.field.setCustomValidity("");
    this.choose({ run: run.at, row }, true);
    this.look(run.at, row);
  }

  missing(text) {
    this.field.value = text;
    this.field.setCustomValidity(`there is no job '${text}'`);
    this.field.reportValidity();
    this.field.oninput = () => this.field.setCustomValidity("");
  }

  /** The time of a job's wait and stay, with some around it. */
  look(at, row) {
    const { jobs } = this.runs[at], begin = jobs.submit[row], end = jobs.end[row], margin = Math.max((end - begin) * 0.35, 30);
    this.axis.show(begin - margin, end + margin);
  }

  /** Where it is not on the screen, show it. */
  reveal(at, row) {
    const { jobs } = this.runs[at];
    if (jobs.end[row] < this.axis.begin || jobs.submit[row] > this.axis.end) this.look(at, row);
  }

  /** Look at a job, or (null) at none; a `step` can be gone back from. */
  async choose(which, step = false) {
    this.chosen = which;
    this.told(null, step);
    if (!which) { this.marks = null; this.storyHint(); this.runs[this.focus].table.choose(-1, false); this.refresh(); return; }
    const run = this.runs[which.run];
    if (this.focus !== which.run) this.setFocus(which.run);
    run.table.choose(which.row, true);
    const story = await this.story(which.run, which.row);
    if (this.chosen !== which) return; // another one was chosen meanwhile
    const flags = new Uint8Array(run.jobs.number);
    for (const each of story.held_the_cores.slice(0, MOST_HELD)) flags[each.row] = HELD;
    for (const each of story.passed_by) flags[each.row] = PASSED;
    flags[which.row] = SELF;
    this.marks = { run: which.run, row: which.row, since: story.eligible ?? story.submit, until: story.until, flags };
    for (const other of this.runs) other.same = other === run ? null : this.sameJob(run, other, which.row);
    if (story.start !== null && (this.moment < story.submit || this.moment > story.end)) this.moment = (story.start + story.end) / 2;
    this.storyHost.replaceChildren(storyPanel({
      story, jobs: run.jobs, facts: run.facts, words: this.facts.story, clock: this.clock,
      pick: row => { this.choose({ run: which.run, row }, true); this.reveal(which.run, row); },
      go: time => { this.told(time, true); this.instant(time); this.toCharts(); },
      look: () => { this.look(which.run, which.row); this.toCharts(); }, close: () => this.choose(null),
    }));
    if (this.narrow.matches) this.storyHost.scrollIntoView({ behavior: "smooth", block: "nearest" });
    this.refresh();
  }

  /** Why a job waited. */
  story(at, row) {
    const { facts, jobs } = this.runs[at];
    return findStory(this.source, at, facts, this.facts.story, jobs, row);
  }

  /** The job in another run of the same workload, to be marked there too. */
  sameJob(run, other, row) {
    if (other.jobs.number !== run.jobs.number || other.jobs.job[row] !== run.jobs.job[row] || other.jobs.submit[row] !== run.jobs.submit[row]) return null;
    const { eligible, start, end } = other.jobs, flags = new Uint8Array(other.jobs.number);
    flags[row] = SELF;
    return { row, since: eligible[row], until: Number.isNaN(start[row]) ? end[row] : start[row], flags, bright: true };
  }

  /** What is marked in a run, if anything. */
  marksOf(run) {
    if (!this.marks) return null;
    return this.marks.run === run.at ? this.marks : run.same;
  }

  storyHint() {
    this.storyHost.replaceChildren(make("p", { class: "hint empty" }, make("b", {}, "Why did a job wait?"), " Click one in the chart or in the table below."));
  }

  /** Everything that shows the time, once a frame. */
  draw() {
    const shown = this.runs.filter(run => run.visible), most = this.narrow.matches ? 260 : [0, 400, 250, 190, 160][Math.min(shown.length, 4)];
    for (const run of this.runs) {
      run.box.hidden = !run.visible;
      if (!run.visible) continue;
      run.gantt.gutter = this.gutter;
      const height = `${run.gantt.height(most)}px`;
      if (run.canvas.style.height !== height) run.canvas.style.height = height; // to write it costs a layout
      run.box.classList.toggle("focus", this.runs.length > 1 && run.at === this.focus);
      run.gantt.draw(run.colours.colours, this.marksOf(run), this.moment);
    }
    const band = this.marks && this.marks.until > this.marks.since ? [this.marks.since, this.marks.until] : null;
    for (const { chart, of } of this.series) {
      chart.gutter = this.gutter;
      const lines = shown.map(run => ({ of: of(run), colour: this.runs.length > 1 ? run.colour() : shade("--accent") })).filter(line => line.of);
      chart.draw(lines, this.moment, band);
    }
    this.overview.draw(shown.map(run => ({ of: this.series[0].of(run), colour: this.runs.length > 1 ? run.colour() : shade("--accent") })), this.moment);
    drawAxis(this.axisCanvas, this.axis, this.gutter);
    const focused = this.runs[this.focus];
    focused.map.draw(focused.colours.colours, this.marksOf(focused), this.moment);
    this.tell(focused);
    this.finished(shown);
  }

  /** Which runs are shown, and in which colour. */
  mark() {
    for (const run of this.runs) {
      const dot = make("i");
      dot.style.background = run.colour();
      run.title.replaceChildren(dot, run.label);
    }
    for (const row of this.summary.querySelectorAll("tr[data-run]")) {
      const run = this.runs[row.dataset.run];
      row.classList.toggle("hidden", !run.visible);
      row.classList.toggle("focus", run.at === this.focus);
      row.querySelector(".dot").style.background = run.visible ? run.colour() : "transparent";
      row.querySelector(".dot").style.borderColor = run.colour();
      row.querySelector(".dot").setAttribute("aria-pressed", String(run.visible));
    }
  }

  /** Once everything that is to be seen first is there, it is marked: for those who measure. */
  finished(shown) {
    if (this.complete || !shown.every(run => run.gantt.complete) || !this.series.every(({ chart }) => chart.complete)) return;
    this.complete = true;
    requestAnimationFrame(() => setTimeout(() => performance.mark("explorer-complete"))); // after it was painted
  }

  /** What is written beside the charts: after all sizes were asked for, because to ask after a text was written costs a layout. */
  tell({ overTime, facts }) {
    write(this.period, `${this.axis.period()} · ${brief(this.axis.length)}`);
    this.slider.value = 1000 * (this.moment - this.axis.begin) / this.axis.length;
    write(this.mapTime, this.clock.moment(Math.round(this.moment)));
    const used = overTime.at("used_cores", this.moment), queued = overTime.at("queued", this.moment), running = overTime.at("running", this.moment);
    write(this.mapState, `${number(used)} of ${number(facts.machine.cores)} cores in use · ${number(running)} running · ${number(queued)} waiting`);
  }
}
