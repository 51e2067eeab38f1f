// A job's story: why it waited, who passed it, who had the cores, when it could first have started.

import { make } from "./dom.js";
import { duration, number, percent, plural, ratio } from "./format.js";

const MOST = 5, MOST_STRETCHES = 8;
const REASON_COLOURS = ["#D55E00", "#0072B2", "#56B4E9", "#CC79A7", "#E69F00", "#009E73", "#9aa0a6", "#F0E442"];

/** What a stretch of waiting is called, in the words of `schedlab why`. */
function sentence(words, stretch) {
  const text = words[stretch.who === null ? "without" : "with"][stretch.code];
  return text.replaceAll("{who}", stretch.who ?? "").replaceAll("{words}", stretch.words ?? "");
}

/** The panel; `pick` chooses another job, `look` shows the time of this one, `go` a moment. */
export function storyPanel({ story, jobs, facts, words, clock, pick, look, go, close }) {
  const { row } = story, state = facts.words.state[jobs.state[row]], reason = facts.words.reason[jobs.reason[row]];
  const link = other => make("button", { class: "link", onclick: () => pick(other) }, `job ${jobs.title(other)}`);
  const instant = time => make("button", { class: "link", title: "show this moment in the charts", onclick: () => go(time) }, clock.moment(time));
  const fact = (name, value) => value === null ? [] : [make("dt", {}, name), make("dd", {}, value)];
  const waited = story.until - (story.eligible ?? story.submit);
  const parts = [
    make("header", {}, make("h3", {}, `Job ${jobs.title(row)}`),
      make("button", { class: "plain", title: "show it in the chart", onclick: look }, "show"),
      make("button", { class: "plain", title: "close (Esc)", "aria-label": "close", onclick: close }, "✕")),
    make("dl", {},
      ...Object.keys(facts.owners).slice(0, 3).flatMap(by => fact(by, jobs.owner(by, row))),
      ...fact("cores", number(jobs.cores[row])),
      ...fact("submitted", instant(story.submit)),
      ...fact("started", story.start === null ? null : instant(story.start)),
      ...fact("ended", instant(story.end)),
      ...fact("believed to run", duration(story.estimate)),
      ...fact("waited", story.start === null ? null : duration(waited, true)),
      ...fact("ran", story.start === null ? null : duration(story.end - story.start, true)),
      ...fact("bounded slowdown", story.start === null ? null : ratio(jobs.slowdown[row])),
      ...fact("fate", state + (reason ? `: ${reason}` : "") + (jobs.backfilled[row] === 1 ? ", backfilled" : "")),
      ...(jobs.difference && !Number.isNaN(jobs.difference[row])
        ? fact("against the baseline", jobs.difference[row] === 0 ? "the same wait"
          : `${duration(Math.abs(jobs.difference[row]))} ${jobs.difference[row] < 0 ? "shorter" : "longer"}`) : []),
    ),
    ...why(story, words, facts, waited),
  ];
  if (waited > 0 && story.eligible !== null) {
    parts.push(...passed(story, instant, link), ...heldBy(story, jobs, clock, link), couldStart(story, instant));
  }
  return make("article", { class: "story" }, ...parts);
}

function why(story, words, facts, waited) {
  if (!(waited > 0)) return [make("p", { class: "lead" }, "It did not wait.")];
  const lead = make("h4", {}, `Why it waited ${duration(waited, true)}`);
  if (!story.told) {
    return [lead, make("p", { class: "hint" }, "This run does not say why: simulate with ", make("code", {}, "--reasons"), " to know what jobs waited for.")];
  }
  const whole = story.waited.reduce((sum, each) => sum + each.end - each.begin, 0) || 1, kinds = [];
  const bar = make("div", { class: "reasons" });
  const together = new Map();
  for (const each of story.waited) {
    const kind = `${each.code} ${each.words ?? ""}`; // policies with words of their own have several
    if (!kinds.includes(kind)) kinds.push(kind);
    const colour = REASON_COLOURS[kinds.indexOf(kind) % REASON_COLOURS.length], text = sentence(words, each);
    const part = make("i", { title: `${duration(each.end - each.begin)}: ${text}` });
    part.style.flexGrow = String(each.end - each.begin);
    part.style.background = colour;
    bar.append(part);
    const entry = together.get(text) ?? { colour, length: 0, times: 0 };
    entry.length += each.end - each.begin;
    entry.times++;
    together.set(text, entry);
  }
  const longest = [...together.entries()].sort((one, other) => other[1].length - one[1].length);
  const list = make("ul", { class: "why" }, ...longest.slice(0, MOST_STRETCHES).map(([text, { colour, length, times }]) => {
    const dot = make("i");
    dot.style.background = colour;
    return make("li", {}, dot, make("b", {}, percent(length / whole, 0)), make("span", {}, `${text}`,
      make("small", {}, ` ${duration(length)}${times > 1 ? `, ${times} times` : ""}`)));
  }));
  const rest = longest.length - MOST_STRETCHES;
  return [lead, bar, list, rest > 0 ? make("p", { class: "hint" }, `and ${plural(rest, "other reason")}`) : null].filter(Boolean);
}

function passed(story, instant, link) {
  const { passed_by: all } = story;
  if (!all.length) return [make("h4", {}, "Who passed it"), make("p", {}, "Nobody who came later passed it.")];
  return [
    make("h4", {}, "Who passed it", make("span", { class: "key passed" })),
    make("p", {}, `${plural(all.length, "job")} that came later started before it:`),
    make("ul", {}, ...all.slice(0, MOST).map(each => make("li", {}, link(each.row), ` (${plural(each.cores, "core")}) at `, instant(each.start), "; ",
      make("small", {}, each.right)))),
    all.length > MOST ? make("p", { class: "hint" }, `and ${number(all.length - MOST)} more`) : null,
  ].filter(Boolean);
}

function heldBy(story, jobs, clock, link) {
  const { held_the_cores: all } = story;
  if (!all.length) return [make("h4", {}, "Who had the cores"), make("p", {}, "Nobody held any cores meanwhile.")];
  const rest = all.slice(MOST).reduce((sum, each) => sum + each.share, 0);
  return [
    make("h4", {}, "Who had the cores meanwhile"),
    make("ul", { class: "shares" }, ...all.slice(0, MOST).map(each => {
      const bar = make("i");
      bar.style.width = `${100 * each.share}%`;
      return make("li", { title: `from ${clock.moment(each.begin)} to ${clock.moment(each.end)}` },
        make("b", {}, percent(each.share)), make("span", {}, link(each.row), ` (${plural(each.cores, "core")})`), bar);
    })),
    all.length > MOST ? make("p", { class: "hint" }, `${percent(rest)}: ${plural(all.length - MOST, "other")}`) : null,
  ].filter(Boolean);
}

function couldStart(story, instant) {
  if (story.could_start >= story.until) {
    return make("p", { class: "lead" }, "There was no earlier time at which it could have started, as far as the tables tell.");
  }
  return make("p", { class: "lead" }, "It could first have started at ", instant(story.could_start),
    `, ${duration(story.until - story.could_start)} earlier${story.told ? "" : " (counting cores alone)"}.`);
}
