// A simulation while it runs: the machine, its queue, and both over time, from the frames that the server sends.

import { make, fitted, shade } from "./dom.js";
import { brief, duration, number, percent, plural } from "./format.js";

const MOST_HEIGHT = 200, LARGEST = 38, ROWS = 12;

export class Live {
  constructor() {
    this.title = make("h3");
    this.when = make("b", { class: "when" });
    this.state = make("p", { class: "hint" });
    this.map = make("canvas", { class: "live-map", role: "img", "aria-label": "nodes of the machine: how busy each is" });
    const chart = label => make("canvas", { class: "live-past", role: "img", "aria-label": `${label}, so far` });
    this.busy = chart("cores in use");
    this.waiting = chart("cores waited for");
    this.queue = make("div", { class: "live-queue" });
    this.element = make("div", { class: "live" }, make("div", { class: "part-head" }, this.title, this.when), this.state,
      make("div", { class: "live-two" }, make("div", {}, this.map, make("p", { class: "hint key" }, "each square a node: the darker, the more of its cores are in use"), this.busy, make("p", { class: "hint key" }, "cores in use so far"), this.waiting, this.waitingKey = make("p", { class: "hint key" })), this.queue));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(frame) {
    this.frame = frame;
    this.draw();
  }

  draw() {
    const { frame } = this;
    if (!frame || !this.map.parentElement.clientWidth) return;
    this.title.textContent = frame.policy;
    this.when.textContent = frame.date || duration(frame.now);
    const speed = frame.time_speed ? ` · ${brief(frame.time_speed)} of it a second` : "";
    this.state.textContent = `${number(frame.done)} of ${plural(frame.jobs, "job")} · ${percent(frame.busy / Math.max(frame.cores, 1))} of ${number(frame.cores)} cores in use · ${plural(frame.queued, "job")} waiting${speed}`;
    this.drawMap();
    this.drawPast();
    this.listQueue();
  }

  drawMap() {
    const { free, total, states } = this.frame, wide = this.map.parentElement.clientWidth, count = total.length;
    let size = Math.min(LARGEST, Math.max(3, Math.floor(Math.sqrt(wide * MOST_HEIGHT / count))));
    while (size > 3 && Math.ceil(count / Math.floor(wide / size)) * size > MOST_HEIGHT) size--;
    const columns = Math.max(1, Math.floor(wide / size)), high = count === 1 ? 30 : Math.ceil(count / columns) * size;
    this.map.style.height = `${high}px`;
    const pen = fitted(this.map, wide, high), gap = size > 7 ? 2 : size > 3 ? 1 : 0;
    for (let node = 0; node < count; node++) {
      const [x, y] = count === 1 ? [0, 0] : [node % columns * size, Math.floor(node / columns) * size];
      const [w, h] = count === 1 ? [wide, high] : [size - gap, size - gap], share = total[node] ? 1 - free[node] / total[node] : 0;
      pen.globalAlpha = 1;
      pen.fillStyle = shade("--free");
      pen.fillRect(x, y, w, h);
      if (states.length && states[node] !== "up") { pen.fillStyle = shade("--closed"); pen.fillRect(x, y, w, h); continue; }
      if (!share) continue;
      pen.globalAlpha = count === 1 ? 1 : 0.25 + 0.75 * share;
      pen.fillStyle = shade("--accent");
      pen.fillRect(x, y, count === 1 ? w * share : w, h);
    }
    pen.globalAlpha = 1;
  }

  drawPast() {
    const { past, cores } = this.frame, most = Math.max(cores, ...past.waiting.map(value => value ?? 0));
    this.chart(this.busy, past.busy, cores, "--accent");
    this.chart(this.waiting, past.waiting, most, "--passed");
    this.waitingKey.textContent = `cores waited for so far, at most ${number(Math.max(0, ...past.waiting.map(value => value ?? 0)))}`;
  }

  chart(canvas, values, most, colour) {
    const wide = canvas.clientWidth, high = canvas.clientHeight, pen = fitted(canvas, wide, high), step = wide / Math.max(values.length, 1);
    pen.fillStyle = shade("--plot");
    pen.fillRect(0, 0, wide, high);
    pen.fillStyle = shade(colour);
    pen.beginPath();
    pen.moveTo(0, high);
    values.forEach((value, at) => {
      const y = high - (high - 2) * (value ?? 0) / most;
      pen.lineTo(at * step, y);
      pen.lineTo((at + 1) * step, y);
    });
    pen.lineTo(wide, high);
    pen.globalAlpha = 0.7;
    pen.fill();
    pen.globalAlpha = 1;
  }

  listQueue() {
    const { queue, now, queued, ending } = this.frame;
    const table = (title, heads, rows) => make("table", { class: "facts" }, make("caption", {}, title), make("thead", {}, make("tr", {}, ...heads.map(head => make("th", {}, head)))),
      make("tbody", {}, ...rows.map(row => make("tr", {}, ...row.map(text => make("td", {}, text))))));
    this.queue.replaceChildren(
      table(queued ? `The queue, ${plural(queued, "job")}` : "Nobody waits", ["job", "cores", "asks for", "waits"], queue.slice(0, ROWS).map(([id, cores, estimate, since]) => [String(id), number(cores), brief(estimate), brief(now - since)])),
      ending.length ? table("Next to end", ["job", "cores", "runs since", "until"], ending.slice(0, 5).map(([id, cores, start, end]) => [String(id), number(cores), brief(now - start), `in ${brief(Math.max(end - now, 0))}`])) : "");
  }
}
