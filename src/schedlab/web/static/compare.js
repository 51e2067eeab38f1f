// Runs side by side: the table that `schedlab compare` prints, and who won and who lost, job by job.

import { make } from "./dom.js";
import { duration, number, percent, plural } from "./format.js";

const OTHERS_LABEL = "all metrics";
const MOST_SAID = 4;

/** The table of metrics; a click on a run shows or hides it, its name makes it the one that is looked at. */
export function comparisonTable(comparison, runs, { toggle, focus }) {
  const { columns, differences } = comparison;
  const heads = [...Object.keys(differences), ...columns.map(column => [column.label, column.unit])];
  const table = make("table", { class: "comparison" },
    make("thead", {}, make("tr", {}, make("th", {}, "run"), ...heads.map(head => typeof head === "string" ? make("th", {}, head)
      : make("th", { class: "number" }, head[0], head[1] ? make("small", {}, ` ${head[1]}`) : "")))),
    make("tbody", {}, ...runs.map((run, at) => {
      const dot = make("button", {
        class: "dot", title: `show or hide ${run.label}`, "aria-pressed": "true", onclick: () => toggle(at),
      });
      const row = make("tr", { "data-run": at },
        make("th", { scope: "row" }, make("span", {}, dot, make("button", { class: "link", title: "show its machine and jobs", onclick: () => focus(at) }, run.label))),
        ...Object.values(differences).map(values => make("td", {}, values[at])),
        ...columns.map(column => make("td", { class: column.best.includes(at) ? "number best" : "number", "data-key": column.key }, column.texts[at])));
      return row;
    })));
  return make("div", { class: "wide" }, table);
}

/** What is to be said before anybody looks at means. */
export function saidFirst(comparison) {
  const { said_first: all } = comparison;
  if (!all.length) return null;
  const list = make("ul", { class: "said" }, ...all.slice(0, MOST_SAID).map(text => make("li", {}, text)));
  if (all.length > MOST_SAID) list.append(make("li", { class: "hint" }, `and ${number(all.length - MOST_SAID)} more`));
  return list;
}

/** One run: its numbers as cards. */
export function cards(comparison, facts) {
  const wanted = ["wait.mean", "wait.median", "wait.p95", "bounded_slowdown.mean", "utilisation", "makespan", "queue_length.mean", "backfilled_share"];
  const found = wanted.map(key => comparison.columns.find(column => column.key === key)).filter(Boolean);
  const others = comparison.columns.filter(column => column.key && !wanted.includes(column.key));
  const card = column => make("div", { class: "card", "data-key": column.key },
    make("b", {}, column.texts[0], make("small", {}, column.unit && ` ${column.unit}`)), make("span", {}, column.label));
  const jobs = make("div", { class: "card" }, make("b", {}, number(facts.jobs)), make("span", {}, "jobs"));
  const more = make("details", { class: "more" }, make("summary", {}, OTHERS_LABEL), make("div", { class: "cards" }, ...others.map(card)));
  return make("div", {}, make("div", { class: "cards" }, jobs, ...found.map(card)), others.length ? more : null);
}

/** Each run against the baseline: who waits less, as long, longer; and the jobs with the largest differences. */
export function differencesPanel(comparison, runs, pick) {
  const { baseline, pairs } = comparison;
  const parts = runs.map((run, at) => {
    const pair = pairs[at];
    if (!pair || !pair.jobs) return null;
    const lists = make("div", { class: "two" }, extremes(run, at, -1, pick), extremes(run, at, 1, pick));
    return make("section", { class: "against" }, make("h4", {}, run.label), wonBar(pair), make("p", {}, whoWon(pair, runs[baseline].label)), lists);
  }).filter(Boolean);
  return make("section", { class: "differences" },
    ...(parts.length ? [make("p", { class: "hint" }, `Every job's wait against its own under ${runs[baseline].label}.`), ...parts]
      : [make("p", { class: "hint" }, "The runs have other jobs to do: there is nothing to compare job by job.")]));
}

/** The shares of jobs that wait less, as long and longer. */
export function wonBar(pair) {
  return make("div", { class: "won" }, ...[["less", pair.shorter], ["same", pair.same], ["more", pair.longer]].map(([kind, share]) => {
    const part = make("i", { class: kind, title: percent(share) }, share > 0.08 ? percent(share, 0) : "");
    part.style.flexGrow = String(share);
    return part;
  }));
}

export function whoWon(pair, baseline) {
  return `${percent(pair.shorter, 0)} of ${number(pair.jobs)} jobs wait less than under ${baseline}, `
    + `${percent(pair.longer, 0)} longer; on average ${signed(pair.mean)}, in the median ${signed(pair.median)}.`;
}

function extremes(run, at, sign, pick) {
  const { difference } = run.jobs, found = [];
  for (let row = 0; row < (difference?.length ?? 0); row++) {
    const value = sign * difference[row];
    if (!(value > 0) || (found.length === 5 && value <= found[4][0])) continue;
    found.push([value, row]);
    found.sort((one, other) => other[0] - one[0]);
    if (found.length > 5) found.pop();
  }
  return make("div", {}, make("h5", {}, sign < 0 ? "gained most" : "lost most"), make("ul", {}, ...found.map(([value, row]) =>
    make("li", {}, make("button", { class: "link", onclick: () => pick(at, row) }, `job ${run.jobs.title(row)}`),
      ` (${plural(run.jobs.cores[row], "core")}) ${sign < 0 ? "−" : "+"}${duration(value)}`))));
}

/** Thousandths of a second say nothing of minutes. */
export function signed(seconds) {
  if (seconds === null) return "–";
  return `${seconds > 0 ? "+" : ""}${duration(Math.abs(seconds) >= 60 ? Math.round(seconds) : seconds)}`;
}
