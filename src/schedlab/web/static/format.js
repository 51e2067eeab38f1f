// Numbers, durations and moments for people.

const UNITS = [["d", 86400], ["h", 3600], ["m", 60]];

/** `1d 12h`, `1m 30s`: as `schedlab why` writes durations; at most two units unless all are wanted. */
export function duration(seconds, all = false) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 0) return `-${duration(-seconds, all)}`;
  let rest = Math.round(seconds * 1000);
  const parts = [];
  for (const [unit, length] of UNITS) {
    const whole = Math.floor(rest / (length * 1000));
    rest -= whole * length * 1000;
    if (whole) parts.push(`${whole}${unit}`);
  }
  if (rest || !parts.length) parts.push(`${+(rest / 1000).toFixed(3)}s`);
  return (all ? parts : parts.slice(0, 2)).join(" ");
}

/** `4 h`, `30 min`: for ticks of axes. */
export function brief(seconds) {
  for (const [unit, length] of [["d", 86400], ["h", 3600], ["min", 60]]) {
    if (Math.abs(seconds) >= length) return `${+(seconds / length).toPrecision(3)} ${unit}`;
  }
  return `${+seconds.toPrecision(3)} s`;
}

const formats = []; // by decimals: to make one takes longer than to write a thousand numbers

/** 1,234.5 */
export function number(value, decimals = 0) {
  if (!Number.isFinite(value)) return "–";
  formats[decimals] ??= new Intl.NumberFormat("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return formats[decimals].format(value);
}

/** As many digits as a ratio needs: 1.03, 12.4, 345. */
export function ratio(value) {
  return number(value, value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

export function percent(share, decimals = 1) {
  return Number.isFinite(share) ? `${(100 * share).toFixed(decimals)} %` : "–";
}

export function bytes(amount) {
  for (const [unit, size] of [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
    if (amount >= size) return `${+(amount / size).toPrecision(3)} ${unit}`;
  }
  return `${number(amount)} B`;
}

export function amount(resource, value) {
  return resource === "memory" ? bytes(value) : number(value, value === Math.round(value) ? 0 : 2);
}

export function plural(count, one, several = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : several}`;
}

/** Seconds of a run as dates, if its log has an origin, else as time since its beginning. */
export class Clock {
  constructor(origin) { this.origin = origin ? Date.parse(origin) : null; }

  get dated() { return this.origin !== null; }

  /** `2026-03-03 22:11:40`, or `1d 22h 11m 40s`. */
  moment(seconds) {
    if (!this.dated) return duration(seconds, true);
    return new Date(this.origin + seconds * 1000).toISOString().slice(0, 19).replace("T", " ");
  }
}
