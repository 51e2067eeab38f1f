// Distributions of waits and slowdowns: which share of the jobs met at most so much. A line for each run.

import { fitted, make, shade } from "./dom.js";
import { brief, number } from "./format.js";

const FONT = "11px system-ui, sans-serif";
const DURATIONS = [0, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400, 365 * 86400];
const LEFT = 44, BOTTOM = 26, TOP = 8;

export class Distributions {
  constructor(runs, source) {
    this.runs = runs; // {at, facts, colour(), visible}
    this.source = source;
    this.curves = new Map(); // of runs; null while they are on their way
    this.charts = Object.keys(runs[0].facts.distributions).map(metric => {
      const canvas = make("canvas", { class: "distribution", role: "img", "aria-label": `distribution of ${metric}` });
      return { metric, canvas };
    });
    this.element = make("section", { class: "distributions" }, ...this.charts.map(({ metric, canvas }) =>
      make("figure", {}, make("figcaption", {}, runs[0].facts.distributions[metric].label,
        make("small", {}, " · share of jobs with at most")), canvas)));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  draw() {
    if (!this.charts[0].canvas.clientWidth) return; // another tab is shown
    const there = this.runs.filter(run => run.visible && this.of(run));
    for (const { metric, canvas } of this.charts) {
      this.chart(canvas, there.map(run => [{ ...run.facts.distributions[metric], curve: this.of(run)[metric] }, run.colour()]));
    }
  }

  /** The curves of a run, asked for when they are to be seen. */
  of(run) {
    if (!this.curves.has(run.at)) {
      this.curves.set(run.at, null);
      this.source.block(run.at, "distributions").then(curves => { this.curves.set(run.at, curves); this.draw(); });
    }
    return this.curves.get(run.at);
  }

  chart(canvas, lines) {
    const width = canvas.clientWidth, height = canvas.clientHeight, pen = fitted(canvas, width, height);
    const wide = width - LEFT - 10, high = height - TOP - BOTTOM, there = lines.filter(([line]) => line.curve.length);
    if (!there.length) return;
    const { duration } = there[0][0];
    const most = Math.max(...there.map(([line]) => line.curve[line.curve.length - 1]), duration ? 60 : 2);
    // Minutes, hours and days all have room; ratios begin at 1.
    const scale = duration ? value => Math.asinh(value / 60) / Math.asinh(most / 60) : value => Math.log(Math.max(value, 1)) / Math.log(most);
    const x = value => LEFT + wide * scale(value), y = share => TOP + high * (1 - share);
    pen.font = FONT;
    pen.textBaseline = "middle";
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      pen.fillStyle = shade(share ? "--faint" : "--line");
      pen.fillRect(LEFT, Math.round(y(share)), wide, 1);
      pen.fillStyle = shade("--grey");
      pen.textAlign = "right";
      pen.fillText(`${100 * share} %`, LEFT - 6, y(share));
    }
    pen.textAlign = "center";
    const ticks = duration ? DURATIONS : Array.from({ length: 8 }, (_, power) => 10 ** power);
    let before = -Infinity;
    for (const tick of ticks.filter(each => each <= most)) {
      const text = duration ? tick ? brief(tick) : "0" : number(tick);
      if (x(tick) - before < 38) continue;
      before = x(tick);
      pen.fillStyle = shade("--faint");
      pen.fillRect(Math.round(x(tick)), TOP, 1, high);
      pen.fillStyle = shade("--grey");
      pen.fillText(text, x(tick), height - BOTTOM / 2);
    }
    pen.lineWidth = 1.8;
    for (const [line, colour] of there) {
      pen.strokeStyle = colour;
      pen.beginPath();
      line.curve.forEach((value, at) => {
        const share = at / (line.curve.length - 1);
        if (at) pen.lineTo(x(value), y((at - 1) / (line.curve.length - 1)));
        pen.lineTo(x(value), y(share));
      });
      pen.stroke();
    }
  }
}
