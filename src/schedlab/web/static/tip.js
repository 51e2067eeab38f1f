// What the pointer is at: a job, or free cores.

import { make } from "./dom.js";
import { duration, plural, ratio } from "./format.js";

export class Tip {
  constructor(clock) {
    this.clock = clock;
    this.element = make("div", { class: "tip", role: "status" });
    document.body.append(this.element);
  }

  hide() { this.element.classList.remove("seen"); }

  /** Of the place (x, y) in the chart of a run. */
  show(run, x, y, event) {
    const { element } = this, { job, time, row } = run.gantt.find(x, y);
    if (x < 0) { this.hide(); return; }
    const { jobs } = run, lines = [];
    if (job >= 0) {
      const owner = Object.keys(run.facts.owners)[0];
      lines.push(make("b", {}, `Job ${jobs.title(job)}`), `${plural(jobs.cores[job], "core")}${owner ? ` · ${jobs.owner(owner, job)}` : ""}`,
        `waited ${duration(jobs.wait[job])}, ran ${duration(jobs.end[job] - jobs.start[job])}`,
        `bounded slowdown ${ratio(jobs.slowdown[job])} · ${run.facts.words.state[jobs.state[job]]}`);
    } else lines.push("free");
    lines.push(make("small", {}, `${run.gantt.nodeName(row)} · ${this.clock.moment(time)}`));
    element.replaceChildren(...lines.map(line => make("div", {}, line)));
    element.classList.add("seen");
    const wide = element.offsetWidth, high = element.offsetHeight;
    element.style.left = `${Math.min(event.clientX + 14, window.innerWidth - wide - 8)}px`;
    element.style.top = `${event.clientY + 18 + high > window.innerHeight ? event.clientY - high - 12 : event.clientY + 18}px`;
  }
}
