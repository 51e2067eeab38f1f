// The machine and its queue over time: of each pixel the mean, from steps counted beforehand or from every change.

import { upTo } from "./schedule.js";

export class OverTime {
  constructor(source, run, facts, arrived) {
    Object.assign(this, { source, run, facts: facts.over_time, span: facts.span, arrived });
    this.kept = new Map();
  }

  /** Means of `name` in each of `width` equal parts of the time between two moments; null while nothing is there. */
  means(name, begin, end, width) {
    const pixel = (end - begin) / width, length = this.span[1] - this.span[0];
    const level = this.facts.steps.findIndex(steps => length / steps <= pixel);
    if (level >= 0) return this.fromSteps(level, name, begin, end, width) ?? this.meanwhile(name, begin, end, width);
    // The changes of a small run are one block; of a large one, few blocks belong to what is shown this near.
    const blocks = this.changes(begin, end);
    if (blocks.every(block => block)) return fromChanges(blocks, name, begin, end, width);
    return this.meanwhile(name, begin, end, width);
  }

  /** Until what is wanted has come: from the finest steps that are there, without asking for others. */
  meanwhile(name, begin, end, width) {
    const level = this.facts.steps.findLastIndex((_, at) => this.kept.get(`steps-${at}`));
    return level < 0 ? null : this.fromSteps(level, name, begin, end, width);
  }

  /** The same of a budget, which has changes of its own. */
  power(begin, end, width) {
    const block = this.ask("power");
    if (!block) return null;
    block.area ??= areas(block.time, block.power);
    return fromAreas(block.time, block.power, block.area, begin, end, width);
  }

  /** What held at a moment. */
  at(name, moment) {
    const step = Math.max((this.span[1] - this.span[0]) * 1e-9, 1e-6);
    return this.means(name, moment, moment + step, 1)?.[0] ?? NaN;
  }

  ask(name) {
    if (!this.kept.has(name)) {
      this.kept.set(name, null);
      this.source.block(this.run, name).then(block => { this.kept.set(name, block); this.arrived(); });
    }
    return this.kept.get(name);
  }

  changes(begin, end) {
    const { changes } = this.facts;
    return changes.map((span, at) => [span, at])
      .filter(([[first, last], at]) => (first <= end || at === 0) && (last >= begin || at + 1 === changes.length))
      .map(([, at]) => this.ask(`changes-${at}`));
  }

  fromSteps(level, name, begin, end, width) {
    const block = this.ask(`steps-${level}`);
    if (!block) return null;
    const steps = this.facts.steps[level], [first, last] = this.span, size = (last - first) / steps;
    const key = `${level}-${name}`;
    if (!this.kept.has(key)) this.kept.set(key, sums(block[name]));
    const sum = this.kept.get(key), found = new Float64Array(width);
    const upto = time => {
      const place = Math.min(Math.max((time - first) / size, 0), steps), whole = Math.floor(place);
      return sum[whole] + (whole < steps ? (place - whole) * block[name][whole] : 0);
    };
    for (let x = 0; x < width; x++) {
      const from = begin + x / width * (end - begin), to = begin + (x + 1) / width * (end - begin);
      found[x] = (upto(to) - upto(from)) * size / (to - from);
    }
    return found;
  }
}

function sums(values) {
  const found = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i++) found[i + 1] = found[i] + values[i];
  return found;
}

/** A value holds until the next change, the last one for ever; before the first everything is 0. */
function fromChanges(blocks, name, begin, end, width) {
  const found = new Float64Array(width), pixel = (end - begin) / width;
  blocks.forEach((block, number) => {
    const { time } = block, values = block[name], last = number === blocks.length - 1;
    for (let i = Math.max(upTo(time, begin) - 1, 0); i < time.length; i++) {
      const from = Math.max(time[i], begin), to = Math.min(i + 1 < time.length ? time[i + 1] : last ? Infinity : time[i], end);
      if (from >= end) break;
      if (!(to > from) || !values[i]) continue;
      const left = (from - begin) / pixel, right = (to - begin) / pixel;
      for (let x = Math.floor(left); x < Math.min(Math.ceil(right), width); x++) {
        found[x] += values[i] * (Math.min(right, x + 1) - Math.max(left, x));
      }
    }
  });
  return found;
}

/** Under a line of steps, from the first of them to each. */
function areas(time, values) {
  const found = new Float64Array(time.length);
  for (let i = 1; i < time.length; i++) found[i] = found[i - 1] + values[i - 1] * (time[i] - time[i - 1]);
  return found;
}

function fromAreas(time, values, area, begin, end, width) {
  const upto = moment => {
    const at = upTo(time, moment) - 1;
    return at < 0 ? 0 : area[at] + values[at] * (moment - time[at]);
  };
  return Float64Array.from({ length: width }, (_, x) => {
    const from = begin + x / width * (end - begin), to = begin + (x + 1) / width * (end - begin);
    return (upto(to) - upto(from)) / (to - from);
  });
}
