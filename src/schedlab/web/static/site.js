// What all pages share: headings, messages, things to copy, light and dark.

import { forgetShades, make } from "./dom.js";

export const root = document.getElementById("root");

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", forgetShades); // before anybody draws again

/** What the server put into the page. */
export function pageData() {
  const found = document.getElementById("data");
  return found ? JSON.parse(found.textContent) : null;
}

export function heading(title, lead = "", ...more) {
  return make("header", { class: "lead-in" }, make("h1", {}, title), lead ? make("p", {}, lead) : null, ...more);
}

export function section(title, hint, ...children) {
  return make("section", { class: "part" }, make("div", { class: "part-head" }, make("h2", {}, title), hint ? make("p", { class: "hint" }, hint) : null), ...children);
}

/** A mistake as the command line says it: what, and what to do about it. */
export function problem(error) {
  return make("p", { class: "problem", role: "alert" }, make("span", {}, error.message ?? error.error ?? String(error)),
    error.hint ? make("small", {}, error.hint) : null);
}

/** A line that says something, or nothing. */
export function messages() {
  const element = make("div", { class: "messages", "aria-live": "polite" });
  return { element, clear: () => element.replaceChildren(), show: (...errors) => element.replaceChildren(...errors.map(problem)) };
}

/** A text to be copied as it stands. */
export function copied(label, text) {
  const area = make("pre", { class: "to-copy", tabindex: 0, "aria-label": label }, text);
  const button = make("button", { class: "plain small", type: "button", onclick: async () => {
    try {
      await navigator.clipboard.writeText(area.textContent);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(area);
      button.textContent = "selected: press Ctrl+C";
    }
    setTimeout(() => { button.textContent = "copy"; }, 1600);
  } }, "copy");
  const element = make("div", { class: "copied" }, make("div", { class: "copied-head" }, make("span", {}, label), button), area);
  return { element, area, set: value => { area.textContent = value; }, words: value => { area.replaceChildren(...value.split(/( )/).map(word => word === " " ? word : make("span", {}, word))); } };
}

export function field(label, control, hint = "") {
  return make("label", { class: "field" }, make("span", {}, label), control, hint ? make("small", {}, hint) : null);
}

export function select(options, value, onchange) {
  const element = make("select", { onchange: () => onchange?.(element.value) }, ...options.map(option => {
    const [name, text] = Array.isArray(option) ? option : [option, option];
    return make("option", { value: name, selected: name === value }, text);
  }));
  element.value = value;
  return element;
}

export function link(href, text, kind = "") { return make("a", { href, class: kind }, text); }

/** What a path ends in. */
export function lastPart(name) { return name.split("/").filter(Boolean).pop() ?? name; }

/** The folder that something is in, as it is called on pages: other people's spaces are not seen, one's own is "yours". */
export function folderOf(name) {
  const parts = name.split("/").slice(0, -1);
  if (parts[0] === "spaces") parts.splice(0, 2);
  return parts.join("/");
}

/** `3 min ago`. */
export function ago(seconds) {
  const past = Date.now() / 1000 - seconds;
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["min", 60]]) if (past >= size) return `${Math.floor(past / size)} ${unit} ago`;
  return "just now";
}

/** Runs of the same jobs on the same machine in the same folder, those that changed last first. */
export function grouped(runs) {
  const found = new Map();
  for (const run of runs) {
    const folder = folderOf(run.name), key = [folder, run.own, run.log, run.cluster, run.jobs].join("\n");
    if (!found.has(key)) found.set(key, { folder, runs: [] });
    found.get(key).runs.push(run);
  }
  const last = group => Math.max(...group.runs.map(run => run.modified));
  return [...found.values()].sort((one, other) => last(other) - last(one));
}

export function titleOf({ folder, runs }) { return folder || (runs[0].own ? "your runs" : "in the folder"); }
