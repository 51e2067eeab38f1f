// The jobs of a run: columns in the order of the workload, and what jobs and their owners are called.

export class Jobs {
  constructor(columns, facts) {
    Object.assign(this, columns);
    this.facts = facts;
    this.wait = new Float64Array(this.start.length);
    for (let row = 0; row < this.wait.length; row++) this.wait[row] = this.start[row] - this.eligible[row];
  }

  get number() { return this.cores.length; }

  /** As its log writes it. */
  title(row) { return this.name ? this.name[row] : String(this.job[row]); }

  /** What the job with this id is called. */
  called(id) {
    if (!this.name) return String(id);
    this.byId ??= new Map(Array.from(this.job, (each, row) => [each, row]));
    return this.byId.has(id) ? this.name[this.byId.get(id)] : String(id);
  }

  owner(by, row) { return this.ownerName(by, this[by][row]); }

  ownerName(by, code) {
    return code < 0 ? "unknown" : this.facts.owners[by].labels[code] ?? `${by} ${code}`;
  }

  /** The row of the job that is called so, or -1. */
  find(text) {
    const wanted = text.trim();
    if (this.name) {
      const row = this.name.indexOf(wanted);
      if (row >= 0) return row;
    }
    return wanted === "" ? -1 : this.job.indexOf(Number(wanted));
  }
}
