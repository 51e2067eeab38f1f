// Studies: how far each is, its table with intervals, its verdicts, its report.

import { ask, withRuns } from "./api.js";
import { make } from "./dom.js";
import { number, plural } from "./format.js";
import { ago, copied, folderOf, heading, lastPart, link, messages, root, section } from "./site.js";

const name = new URLSearchParams(location.search).get("study");
const said = messages();

async function all() {
  const { studies } = await ask("/api/things");
  root.replaceChildren(heading("Studies", "Several policies or parameters, repeated: means with intervals, and verdicts."), said.element,
    make("p", {}, link("/setup?study", "Compose a study", "go")),
    studies.length ? make("ul", { class: "things" }, ...studies.map(each => make("li", {}, link(`/studies?study=${encodeURIComponent(each.name)}`, lastPart(each.name)),
      make("small", {}, ` ${folderOf(each.name)} ${ago(each.modified)}`)))) : make("p", { class: "hint" }, "There is none in the folder yet."));
}

async function one() {
  const study = await ask(`/api/study?study=${encodeURIComponent(name)}`);
  const state = `${plural(study.planned, "run")} planned, ${number(study.done)} done, ${number(study.failed)} failed, ${number(study.open)} open`;
  const again = make("button", { class: "plain", type: "button", onclick: async () => {
    try {
      const work = await ask(`/api/study/again?study=${encodeURIComponent(name)}`, {});
      location.href = `/work#${work.id}`;
    } catch (error) { said.show(error); }
  } }, "go on with it");
  const actions = make("p", { class: "actions" }, study.open + study.failed ? again : null,
    study.done ? make("a", { class: "go", href: `/api/study/report?study=${encodeURIComponent(name)}`, download: "" }, "report (HTML)") : null,
    study.runs?.length ? link(withRuns("/explore", study.runs.filter(run => run.repetition === 1).slice(0, 8).map(run => `${name}/runs/${run.run}`)), "look at its first runs", "button") : null);
  const parts = [heading(study.name, state, actions), said.element];
  if (study.failures.length) parts.push(section("Failed", "", ...study.failures.map(each => make("p", { class: "problem" }, `${each.run}, repetition ${each.repetition}: ${each.error}`))));
  if (study.groups) {
    parts.push(section("Means", "± half of the 95 % interval of the mean over repetitions", study.said_first.length ? make("ul", { class: "said" }, ...study.said_first.map(text => make("li", {}, text))) : null,
      make("div", { class: "wide" }, make("table", { class: "comparison", id: "groups" },
        make("thead", {}, make("tr", {}, make("th", {}, "group"), ...study.metrics.map(metric => make("th", { class: "number" }, metric.label)))),
        make("tbody", {}, ...study.groups.map(group => make("tr", {}, make("th", { scope: "row" }, group.name),
          ...study.metrics.map(metric => make("td", { class: "number", "data-key": metric.key }, group.texts[metric.key] ?? "–"))))))),
      study.more_groups ? make("p", { class: "hint" }, `and ${number(study.more_groups)} more groups in the report`) : null, study.copies ? make("p", { class: "hint" }, study.copies) : null));
    if (study.verdicts.length) parts.push(section("Verdicts", "", make("ul", { class: "verdicts", id: "verdicts" }, ...study.verdicts.map(text => make("li", {}, text)))));
    if (study.notes.length) parts.push(section("Notes", "", make("ul", { class: "hint" }, ...study.notes.map(text => make("li", {}, text)))));
  }
  if (study.text) parts.push(section("The study file", "", copied("study.toml", study.text).element));
  root.replaceChildren(...parts);
}

root.className = "site";
(name ? one() : all()).catch(error => { root.replaceChildren(heading("Studies"), said.element); said.show(error); });
