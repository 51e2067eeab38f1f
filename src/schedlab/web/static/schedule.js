// The rectangles of a run's Gantt chart. They come in blocks, in the order of their beginning, as they are needed.

const FEW = 256;

/** Which rectangles there are between two moments, and at one. */
export class Schedule {
  constructor(source, run, facts, jobs, chart, arrived) {
    Object.assign(this, { source, run, facts, jobs, arrived });
    this.number = chart.number[0];
    this.levels = [...chart.levels]; // tiles of each
    this.spans = Array.from(chart.first, (first, at) => [first, chart.last[at]]); // of blocks
    this.blocks = new Array(this.spans.length).fill(null);
    this.asked = new Set();
    this.tiles = new Map();
    this.moving = () => false; // whether the charts are being moved
    this.coming = 0; // tiles and blocks that were asked for
    this.came = 0; // blocks that are there
  }

  /** The blocks (row, low, size, begin, end) that tell of a span, as far as they are there; asks for the others. */
  between(begin, end) {
    const found = [];
    let missing = 0;
    this.spans.forEach(([first, last], at) => {
      if (first > end || last < begin) return;
      if (this.blocks[at]) found.push(this.blocks[at]);
      else { missing++; this.ask(at); }
    });
    return { found, missing };
  }

  /** How many rectangles the blocks of a span have: an upper bound of those in it. */
  bound(begin, end) {
    const { spans, number } = this;
    let blocks = 0, share = 0;
    spans.forEach(([first, last], at) => {
      if (first > end || last < begin) return;
      blocks++;
      // Those of a block begin one after the other: the next block's first is where its last begins.
      const until = at + 1 < spans.length ? spans[at + 1][0] : last, length = Math.max(until - first, 1e-9);
      share += Math.max(Math.min(end, until) - Math.max(begin, first), 0) / length;
    });
    return Math.min(number, Math.min(share + 0.02 * blocks, blocks) * number / Math.max(spans.length, 1));
  }

  /** While the charts move, one at a time is enough: what passes by need not come at all, and frames come first. */
  get patient() { return this.coming > 0 && this.moving(); }

  async fetch(name) {
    this.coming++;
    try { return await this.source.block(this.run, name); } finally { this.coming--; }
  }

  async ask(at) {
    if (this.asked.has(at) || this.patient) return;
    this.asked.add(at);
    const block = await this.fetch(`bars-${at}`);
    const { start, end } = this.jobs, number = block.row.length;
    if (!block.begin) {
      // Jobs that simply ran have the times of their stay in the table of jobs.
      block.begin = new Float64Array(number);
      block.end = new Float64Array(number);
      for (let i = 0; i < number; i++) { block.begin[i] = start[block.row[i]]; block.end[i] = end[block.row[i]]; }
    }
    block.latest = latest(block.end);
    this.blocks[at] = block;
    this.came++;
    this.arrived();
  }

  /** A tile of cells, if it is there; asks for it otherwise. */
  tile(level, at) {
    const name = `tile-${level}-${at}`;
    if (this.tiles.has(name)) return this.tiles.get(name);
    if (this.patient) return null;
    this.tiles.set(name, null);
    this.fetch(name).then(tile => { this.tiles.set(name, tile); this.arrived(); });
    return null;
  }

  /** The rectangles at a moment: [row, low, high] for each. */
  at(moment) {
    const { found, missing } = this.between(moment, moment), there = [];
    for (const block of found) {
      within(block, moment, moment, i => there.push([block.row[i], block.low[i], block.low[i] + block.size[i]]));
    }
    return { there, missing };
  }
}

/** The last end of each few rectangles: most of a block have ended long before the last of it. */
function latest(ends) {
  const found = new Float64Array(Math.ceil(ends.length / FEW)).fill(-Infinity);
  for (let i = 0; i < ends.length; i++) if (ends[i] > found[(i / FEW) | 0]) found[(i / FEW) | 0] = ends[i];
  return found;
}

/** Visit those rectangles of a block that begin by `until` and end after `from`. */
export function within(block, from, until, visit) {
  const number = upTo(block.begin, until);
  for (let first = 0, few = 0; first < number; first += FEW, few++) {
    if (block.latest[few] <= from) continue;
    const last = Math.min(first + FEW, number);
    for (let i = first; i < last; i++) if (block.end[i] > from) visit(i);
  }
}

/** How many of the values, which grow, are not above the limit. */
export function upTo(values, limit) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= limit) low = middle + 1; else high = middle;
  }
  return low;
}
