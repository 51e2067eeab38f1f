// Colours of jobs: by user, size, state, slowdown, wait … The same for all runs of a workload, and told in a legend.

import { brief, number } from "./format.js";

const STATE_COLOURS = ["#009E73", "#D55E00", "#E69F00", "#CC79A7", "#56B4E9", "#9aa0a6", "#0072B2", "#F0E442"];
const OTHERS = "#9aa0a6", UNKNOWN = "#c3c7cc";
const LESS = "#0072B2", MORE = "#D55E00", SAME = "#b9bec4";
const LONGEST = 7 * 86400, FROM = 60; // of waits on the scale
const MOST_SLOWDOWN = 1000;

export const NAMES = {
  job: "job", user: "user", group: "group", queue: "queue", partition: "partition", application: "application",
  size: "size", state: "state", slowdown: "slowdown", wait: "wait", backfilled: "backfilled",
  difference: "difference of waits",
};

/** Red, green and blue as one number, as the bytes of an image want them. */
export function packed(colour) {
  const value = parseInt(colour.slice(1), 16);
  return ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16);
}

export function css(value) {
  return `rgb(${value & 0xff},${(value >> 8) & 0xff},${(value >> 16) & 0xff})`;
}

/** What a page can colour jobs by. */
export function choices(facts, jobs) {
  const owners = Object.keys(facts.owners);
  return [...owners, "size", "wait", "slowdown", "state", ...(jobs.difference ? ["difference"] : []), "backfilled", "job"];
}

/** A colour for each job (an array of numbers as of `packed`), and what to write in the legend. */
export function colouring(by, facts, jobs, theme, dark) {
  const colours = new Uint32Array(jobs.cores.length);
  const fill = of => { for (let row = 0; row < colours.length; row++) colours[row] = of(row); };
  const ramp = (dark ? theme.shades.slice(0, -2).reverse() : theme.shades).map(packed); // the darkest is not seen there
  const scaled = share => ramp[Math.max(0, Math.min(ramp.length - 1, Math.round(share * (ramp.length - 1))))];
  const unknown = packed(UNKNOWN);

  if (facts.owners[by]) {
    const { first, names, number: count } = facts.owners[by];
    const own = new Map(first.map((owner, at) => [owner, packed(visible(theme.names[at], dark))]));
    const others = packed(OTHERS);
    fill(row => jobs[by][row] < 0 ? unknown : own.get(jobs[by][row]) ?? others);
    const legend = first.map((_, at) => [names[at], visible(theme.names[at], dark)]);
    if (count > first.length) legend.push([`${number(count - first.length)} others`, OTHERS]);
    return { colours, legend };
  }
  if (by === "state") {
    const shown = facts.words.state.map((_, at) => packed(STATE_COLOURS[at]));
    fill(row => shown[jobs.state[row]]);
    const there = facts.words.state.map((word, at) => [word, STATE_COLOURS[at], at]).filter(([word]) => facts.states[word]);
    return { colours, legend: there.map(([word, colour]) => [word, colour]) };
  }
  if (by === "backfilled") {
    const shown = ["#56B4E9", "#D55E00", UNKNOWN].map(packed);
    fill(row => shown[jobs.backfilled[row]]);
    return { colours, legend: [["in its turn", "#56B4E9"], ["backfilled", "#D55E00"], ["not said", UNKNOWN]] };
  }
  if (by === "difference") {
    const width = Math.asinh(LONGEST / FROM);
    fill(row => {
      const value = jobs.difference[row];
      if (Number.isNaN(value)) return unknown;
      const share = Math.min(Math.asinh(Math.abs(value) / FROM) / width * 1.25, 1);
      return mixed(packed(SAME), packed(value < 0 ? LESS : MORE), value === 0 ? 0 : 0.2 + 0.8 * share);
    });
    return { colours, legend: [["waits less than in the baseline", LESS], ["the same", SAME], ["waits longer", MORE]] };
  }
  if (by === "size") {
    const width = Math.log(Math.max(facts.machine.cores, 10));
    fill(row => scaled(Math.log(Math.max(jobs.cores[row], 1)) / width));
    return { colours, scale: { ramp: ramp.map(css), from: "1 core", to: `${number(facts.machine.cores)} cores` } };
  }
  if (by === "slowdown") {
    const width = Math.log(MOST_SLOWDOWN);
    fill(row => Number.isNaN(jobs.slowdown[row]) ? unknown : scaled(Math.log(jobs.slowdown[row]) / width));
    return { colours, scale: { ramp: ramp.map(css), from: "bounded slowdown 1", to: "1,000 or more" } };
  }
  if (by === "wait") {
    const width = Math.asinh(LONGEST / FROM);
    fill(row => Number.isNaN(jobs.wait[row]) ? unknown : scaled(Math.asinh(jobs.wait[row] / FROM) / width));
    return { colours, scale: { ramp: ramp.map(css), from: "no wait", to: `${brief(LONGEST)} or more` } };
  }
  const turn = theme.jobs.map(packed);
  fill(row => turn[row % turn.length]);
  return { colours, legend: [["each job has one of ten colours", theme.jobs[0]]] };
}

/** The colour of the run of that number. */
export function ofRun(theme, at, dark) { return visible(theme.names[at % theme.names.length], dark); }

/** Black cannot be seen on a dark page. */
function visible(colour, dark) { return colour === "#000000" ? (dark ? "#e8eaed" : "#3c4043") : colour; }

/** A part of the way from one packed colour to another. */
export function mixed(one, other, share) {
  const channel = shift => Math.round(((one >> shift) & 0xff) * (1 - share) + ((other >> shift) & 0xff) * share) << shift;
  return channel(0) | channel(8) | channel(16);
}
