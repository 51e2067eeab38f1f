// Where the data come from: the page itself, or a server. Both answer the same questions:
//   facts()            what is to be known of the runs first
//   block(run, name)   columns of a run (web/pack.py), as typed arrays; asked for once, then kept
//   expect(run, ...)   blocks that will be asked for may come already
//   waits(run, row)    a table of reasons in which those of that job are, or null

import { unpack } from "./block.js";

class Source {
  constructor() { this.kept = new Map(); }

  block(run, name) {
    const key = `${run}-${name}`;
    if (!this.kept.has(key)) this.kept.set(key, this.load(run, name));
    return this.kept.get(key);
  }

  /** Blocks that will be asked for: who does so is told what is wrong with them. */
  expect(run, ...names) { for (const name of names) this.block(run, name).catch(() => {}); }
}

/** Data in elements of this page, deflated and as base64. */
export class FileSource extends Source {
  async facts() { return JSON.parse(document.getElementById("facts").textContent); }

  async load(run, name) {
    const element = document.getElementById(`block-${run}-${name}`);
    const text = atob(element.textContent);
    element.remove(); // it is asked for once, and base64 is large
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return unpack(await new Response(stream).arrayBuffer());
  }

  /** What a job waited for, among others: the block that has it. */
  async waits(run, row) {
    const { first } = await this.block(run, "waits");
    const at = first.findIndex((begin, block) => begin <= row && row < first[block + 1]);
    return at < 0 ? null : this.block(run, `waits-${at}`);
  }
}

/** Data from a server: `base`/facts, and `base`/RUN/NAME for blocks, of the runs of these names. */
export class ServerSource extends Source {
  constructor(base, runs) {
    super();
    this.base = new URL(base, location.href).href;
    this.query = new URLSearchParams(runs.map(name => ["run", name]));
    this.worker = new Worker("/static/fetching.js", { type: "module" });
    this.asked = new Map(); // by number, who waits for the answer
    this.failed = null; // who is told what went wrong
    this.worker.onmessage = ({ data: { number, columns, error, hint } }) => {
      const { resolve, reject } = this.asked.get(number);
      this.asked.delete(number);
      if (columns) { resolve(columns); return; }
      this.failed?.(error);
      reject(failure(error, hint));
    };
  }

  async facts() {
    const answer = await fetch(this.address("facts"));
    if (answer.ok) return answer.json();
    const { error, hint } = await answer.json().catch(() => ({ error: `the server answers ${answer.status}`, hint: "" }));
    throw failure(error, hint);
  }

  load(run, name) {
    const number = this.next = (this.next ?? 0) + 1;
    return new Promise((resolve, reject) => {
      this.asked.set(number, { resolve, reject });
      this.worker.postMessage({ number, address: this.address(`${run}/${name}`) });
    });
  }

  /** What one job waited for: looked up there, however many reasons the run has. */
  waits(run, row) { return this.block(run, `reasons-${row}`); }

  address(path) { return `${this.base}/${path}?${this.query}`; }
}

function failure(error, hint) { return Object.assign(new Error(error), { hint }); }
