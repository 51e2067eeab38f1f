// Home: what is in the folder, and the first steps.

import { ask, withRuns } from "./api.js";
import { make } from "./dom.js";
import { bytes, number, plural } from "./format.js";
import { ago, folderOf, grouped, heading, lastPart, link, messages, root, section, titleOf } from "./site.js";

const said = messages();

function steps(things) {
  const groups = grouped(things.runs), best = groups.find(({ runs }) => runs.length > 1) ?? groups[0];
  const names = best ? best.runs.map(run => run.name) : [];
  const example = make("button", { class: best ? "plain" : "go", type: "button", id: "example", onclick: async () => {
    example.disabled = true;
    try {
      const work = await ask("/api/example", {});
      location.href = `/work#${work.id}`;
    } catch (error) { said.show(error); example.disabled = false; }
  } }, "Run the example");
  const gantts = best ? link(withRuns("/explore", names), names.length > 1 ? `Open the ${plural(names.length, "Gantt chart")}` : "Open its Gantt chart", "go") : make("span", { class: "later" }, "after the run");
  if (best) gantts.id = "gantts";
  const step = (title, text, action) => make("li", {}, make("h3", {}, title), make("p", {}, text), action);
  return make("ol", { class: "steps" },
    step("Simulate", "Four schedulers on two weeks of a small cluster. Takes a second.", example),
    step("Look", "Their Gantt charts on one time axis: who had which nodes, and when.", gantts),
    step("Ask why", "Click a job: what it waited for, who passed it, and what held the cores.", best ? make("span", { class: "later" }, "in the Gantt charts, any job") : make("span", { class: "later" }, "any job")));
}

/** What is this browser's own can be removed, after a question. */
function remover(name) {
  return make("button", { class: "link quiet", type: "button", title: `remove ${name}`, onclick: async () => {
    if (!confirm(`Remove ${lastPart(name)} and everything in it?`)) return;
    try {
      await ask(`/api/files/${name.split("/").map(encodeURIComponent).join("/")}`, undefined, "DELETE");
      await show();
    } catch (error) { said.show(error); }
  } }, "remove");
}

function runTable({ folder, runs }) {
  const { numbers } = runs[0], names = runs.map(run => run.name);
  const several = runs.length > 1;
  const together = folder && runs.every(run => run.own), title = titleOf({ folder, runs });
  return make("section", { class: "run-group" },
    make("div", { class: "part-head" }, make("h3", {}, title), make("span", { class: "hint" }, `${runs[0].log} on ${runs[0].cluster} · ${number(runs[0].jobs)} jobs`),
      make("span", { class: "actions" }, link(withRuns("/explore", names), several ? "explore all" : "explore"), several ? link(withRuns("/compare", names), "compare") : null,
        together ? remover(runs[0].name.split("/").slice(0, -1).join("/")) : null)),
    make("div", { class: "wide" }, make("table", { class: "comparison" },
      make("thead", {}, make("tr", {}, make("th", {}, "run"), ...numbers.map(each => make("th", { class: "number" }, each.label, make("small", {}, each.unit ? ` ${each.unit}` : ""))))),
      make("tbody", {}, ...runs.map(run => make("tr", {},
        make("th", { scope: "row" }, link(withRuns("/explore", [run.name]), run.policy), run.incomplete ? make("small", {}, " incomplete") : null, run.own && !together ? make("small", { class: "beside" }, remover(run.name)) : null),
        ...run.numbers.map(each => make("td", { class: "number", "data-key": each.key }, each.text))))))));
}

function list(things, text) {
  return make("ul", { class: "things" }, ...things.map(each => make("li", {}, ...text(each))));
}

async function show() {
  const things = await ask("/api/things");
  root.className = "site";
  const parts = [heading("What would another scheduler have done?", "Replay a log on a machine under any scheduler; look at every job, and ask why it waited."), steps(things), said.element];
  if (things.runs.length) parts.push(section("Runs", "", ...grouped(things.runs).map(runTable)));
  if (things.studies.length) {
    parts.push(section("Studies", "", list(things.studies, each => [link(`/studies?study=${encodeURIComponent(each.name)}`, lastPart(each.name)), make("small", {}, ` ${ago(each.modified)} `), each.own ? remover(each.name) : ""])));
  }
  if (things.logs.length) {
    parts.push(section("Logs", "", list(things.logs, each => [link(`/setup?log=${encodeURIComponent(each.name)}`, lastPart(each.name)),
      make("small", {}, ` ${bytes(each.size)}${each.own ? " · yours" : folderOf(each.name) ? ` · ${folderOf(each.name)}` : ""} `), each.own ? remover(each.name) : ""])));
  }
  if (!things.runs.length && !things.logs.length) parts.push(section("Nothing here yet", "", make("p", { class: "hint" }, "Run the example above, or "), link("/setup", "set up a run of your own")));
  root.replaceChildren(...parts);
}

show().catch(error => { root.replaceChildren(said.element); said.show(error); });
