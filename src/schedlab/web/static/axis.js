// The axis of time that all charts share: the part of it that is shown, and its ticks.

import { Clock, duration } from "./format.js";

const SHORTEST = 1; // seconds that are shown
const DAY = 86400;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, DAY, 2 * DAY, 7 * DAY,
  14 * DAY];
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120];
const NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = number => String(number).padStart(2, "0");

/** What part of the whole time is shown. Tells those who listen when it changes. */
export class TimeAxis {
  constructor(begin, end, origin) {
    const margin = Math.max((end - begin) * 0.004, 0.5);
    this.first = begin - margin;
    this.last = end + margin;
    this.begin = this.first;
    this.end = this.last;
    this.clock = new Clock(origin);
    this.listeners = [];
  }

  get length() { return this.end - this.begin; }

  /** How far it is zoomed in: 1 shows everything. */
  get zoom() { return (this.last - this.first) / this.length; }

  listen(listener) { this.listeners.push(listener); }

  show(begin, end) {
    const whole = this.last - this.first;
    const length = Math.min(Math.max(end - begin, Math.min(SHORTEST, whole)), whole);
    let from = (begin + end) / 2 - length / 2;
    from = Math.min(Math.max(from, this.first), this.last - length);
    if (from === this.begin && from + length === this.end) return;
    this.begin = from;
    this.end = from + length;
    for (const listener of this.listeners) listener();
  }

  all() { this.show(this.first, this.last); }

  /** The moment `time` stays where it is. */
  zoomAt(time, factor) {
    const length = Math.min(Math.max(this.length / factor, SHORTEST), this.last - this.first);
    const share = (time - this.begin) / this.length;
    this.show(time - share * length, time + (1 - share) * length);
  }

  pan(seconds) { this.show(this.begin + seconds, this.end + seconds); }

  place(time, width) { return (time - this.begin) / this.length * width; }

  time(place, width) { return this.begin + place / width * this.length; }

  /** Round moments about `apart` pixels from each other: [time, text, whether a larger unit begins]. */
  ticks(width, apart = 90) {
    const wanted = this.length * apart / Math.max(width, 1);
    const origin = this.clock.dated ? this.clock.origin / 1000 : 0;
    const step = STEPS.find(each => each >= wanted);
    if (step === undefined && this.clock.dated) return this.months(wanted, origin);
    const size = step ?? 10 ** Math.ceil(Math.log10(wanted / DAY)) * DAY;
    // Weeks begin on a Monday; the epoch was a Thursday.
    const shift = this.clock.dated && size % (7 * DAY) === 0 ? 4 * DAY : 0;
    const found = [];
    for (let tick = Math.ceil((this.begin + origin - shift) / size) * size + shift; tick <= this.end + origin; tick += size) {
      found.push([tick - origin, ...this.named(tick, size)]);
    }
    return found;
  }

  named(tick, size) {
    if (!this.clock.dated) return [tick === 0 ? "0" : duration(tick), false];
    const date = new Date(tick * 1000), midnight = tick % DAY === 0;
    if (midnight) {
      const day = `${date.getUTCDate()} ${NAMES[date.getUTCMonth()]}`;
      return [date.getUTCMonth() === 0 && date.getUTCDate() <= 14 && size >= 7 * DAY ? `${day} ${date.getUTCFullYear()}` : day, size < DAY];
    }
    const text = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
    return [size < 60 ? `${text}:${two(date.getUTCSeconds())}` : text, false];
  }

  months(wanted, origin) {
    const step = MONTHS.find(each => each * 30.4 * DAY >= wanted) ?? 240, found = [];
    const date = new Date((this.begin + origin) * 1000);
    let month = Math.ceil((date.getUTCFullYear() * 12 + date.getUTCMonth()) / step) * step;
    for (; ; month += step) {
      const tick = Date.UTC(Math.floor(month / 12), month % 12) / 1000;
      if (tick > this.end + origin) return found;
      if (tick < this.begin + origin) continue;
      const january = month % 12 === 0;
      found.push([tick - origin, january ? String(month / 12) : NAMES[month % 12], january && step < 12]);
    }
  }

  /** What the ticks leave out: the day, month or year that is shown. */
  period() {
    if (!this.clock.dated) return "since the beginning";
    const [one, other] = [this.begin, this.end].map(time => this.clock.moment(time));
    if (one.slice(0, 10) === other.slice(0, 10)) return `${one.slice(0, 10)} (UTC)`;
    if (one.slice(0, 4) === other.slice(0, 4)) return `${one.slice(0, 4)} (UTC)`;
    return `${one.slice(0, 10)} to ${other.slice(0, 10)} (UTC)`;
  }
}
