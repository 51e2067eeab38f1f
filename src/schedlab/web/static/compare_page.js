// Compare: runs side by side, as `schedlab compare` prints them; who won and who lost; figures and pages to keep.

import { ask, withRuns } from "./api.js";
import { saidFirst, signed, whoWon, wonBar } from "./compare.js";
import { make } from "./dom.js";
import { number } from "./format.js";
import { field, grouped, heading, lastPart, link, messages, root, section, select, titleOf } from "./site.js";

const given = new URLSearchParams(location.search);
const said = messages(), results = make("div", { class: "results" }), chooser = make("div");
let things, chosen = [], turn = 0;

function choose() {
  chooser.replaceChildren(...grouped(things.runs).map(({ folder, runs }) => {
    const boxes = runs.map(run => make("input", { type: "checkbox", value: run.name, checked: chosen.includes(run.name), onchange: event => {
      chosen = event.target.checked ? [...chosen, run.name] : chosen.filter(name => name !== run.name);
      show();
    } }));
    return make("fieldset", { class: "pick" }, make("legend", {}, titleOf({ folder, runs })),
      ...runs.map((run, at) => make("label", { class: "check" }, boxes[at], run.policy, make("small", {}, ` ${run.log} on ${run.cluster}${runs.filter(each => each.policy === run.policy).length > 1 ? ` · ${lastPart(run.name)}` : ""}`))));
  }));
  if (!things.runs.length) chooser.replaceChildren(make("p", { class: "hint" }, "There are no runs yet. "), link("/setup", "Set one up", "go"));
}

/** The table of the command line, digit for digit. */
function table(found) {
  const heads = [...Object.keys(found.differences).map(name => [name, ""]), ...found.columns.map(column => [column.label, column.unit])];
  return make("div", { class: "wide" }, make("table", { class: "comparison", id: "comparison" },
    make("thead", {}, make("tr", {}, make("th", {}, "run"), ...heads.map(([label, unit]) => make("th", { class: "number" }, label, unit ? make("small", {}, ` ${unit}`) : "")))),
    make("tbody", {}, ...found.labels.map((label, at) => make("tr", { "data-run": found.names[at] },
      make("th", { scope: "row" }, link(withRuns("/explore", [found.names[at]]), label)),
      ...Object.values(found.differences).map(values => make("td", {}, values[at])),
      ...found.columns.map(column => make("td", { class: column.best.includes(at) ? "number best" : "number", "data-key": column.key }, column.texts[at])))))));
}

/** In plain words: who is best at what, and by how much against the baseline. */
function verdicts(found) {
  const lines = [];
  const wanted = ["wait.mean", "bounded_slowdown.mean", "utilisation"];
  for (const column of found.columns.filter(each => wanted.includes(each.key) && each.best.length)) {
    const names = column.best.map(at => found.labels[at]), worst = found.labels.map((label, at) => `${label} ${column.texts[at]}`).filter((_, at) => !column.best.includes(at));
    lines.push(make("li", {}, make("b", {}, names.join(" and ")), ` ${names.length > 1 ? "have" : "has"} the best ${column.label}: ${column.texts[column.best[0]]}${column.unit ? ` ${column.unit}` : ""}`, make("small", {}, ` (${worst.join(", ")})`)));
  }
  return lines.length ? make("ul", { class: "verdicts" }, ...lines) : null;
}

function pairs(found) {
  const parts = found.pairs.map((pair, at) => {
    if (!pair?.jobs) return null;
    return make("section", { class: "against" }, make("h3", {}, found.labels[at]), wonBar(pair),
      make("p", { class: "hint" }, whoWon(pair, found.labels[found.baseline])),
      make("div", { class: "two" }, ...[["gained", "gained most"], ["lost", "lost most"]].map(([key, title]) => make("div", {}, make("h5", {}, title),
        make("ul", {}, ...(found.extremes[at]?.[key] ?? []).map(each => make("li", { "data-job": each.job }, `job ${each.job} `, make("small", {}, signed(each.difference)))))))));
  }).filter(Boolean);
  return parts.length ? section("Job by job", `Every job's wait against its own under ${found.labels[found.baseline]}: blue waits less, orange longer.`, ...parts) : null;
}

function classes(names) {
  const host = make("div"), problems = messages();
  const load = async by => {
    try {
      const found = await ask(withRuns("/api/classes", names, { by }));
      problems.clear();
      host.replaceChildren(...found.metrics.map(metric => make("div", { class: "wide" }, make("table", { class: "comparison" },
        make("caption", {}, `${metric.label}${metric.unit ? `, ${metric.unit}` : ""}`),
        make("thead", {}, make("tr", {}, make("th", {}, found.by), make("th", { class: "number" }, "jobs"), ...found.labels.map(label => make("th", { class: "number" }, label)))),
        make("tbody", {}, ...found.classes.map((each, row) => make("tr", {}, make("th", { scope: "row" }, each.name), make("td", { class: "number" }, number(each.jobs)),
          ...metric.rows[row].texts.map((text, at) => make("td", { class: metric.rows[row].best.includes(at) ? "number best" : "number" }, text)))))))),
        found.more ? make("p", { class: "hint" }, `and ${number(found.more)} more with less core time`) : "");
    } catch (error) { problems.show(error); }
  };
  load("size");
  return section("Class by class", "", field("by", select(["size", "runtime", "user", "group", "queue", "partition"], "size", load)), problems.element, host);
}

function keep(names) {
  const kind = select(["comparison"], "comparison"), query = format => withRuns("/api/figure", names, { kind: kind.value, format });
  const links = ["png", "svg", "pdf"].map(format => make("a", { class: "button", href: query(format), download: "", "data-format": format }, format.toUpperCase()));
  kind.addEventListener("change", () => links.forEach(each => { each.href = query(each.dataset.format); }));
  ask("/api/figures").then(({ figures }) => {
    kind.replaceChildren(...figures.map(each => make("option", { value: each.name, selected: each.name === "comparison" }, `${each.name}: ${each.summary}`)));
    kind.value = "comparison";
  }).catch(() => {});
  return section("To keep", "Made by the commands plot and explore.", make("div", { class: "row-of" }, field("figure", kind), make("div", { class: "actions" }, ...links)),
    make("p", {}, make("a", { class: "button", href: withRuns("/api/explorer", names), download: "" }, "the runs as one page that opens anywhere (HTML)")));
}

async function show() {
  const mine = ++turn;
  history.replaceState(null, "", chosen.length ? withRuns("/compare", chosen) : "/compare");
  if (!chosen.length) { results.replaceChildren(); return; }
  try {
    const names = [...chosen], found = await ask(withRuns("/api/compare", names));
    if (mine !== turn) return;
    said.clear();
    results.replaceChildren(...[
      section("Side by side", "The numbers of schedlab compare; the best are marked.", saidFirst(found), table(found), verdicts(found), make("p", {}, link(withRuns("/explore", names), "their Gantt charts on one time axis", "go"))),
      pairs(found), classes(names), keep(names)].filter(Boolean));
  } catch (error) { if (mine === turn) { said.show(error); results.replaceChildren(); } }
}

things = await ask("/api/things");
const folder = given.get("folder");
const there = new Set(things.runs.map(run => run.name));
chosen = folder ? things.runs.map(run => run.name).filter(name => name === folder || name.startsWith(`${folder}/`)) : given.getAll("run").filter(name => there.has(name));
root.className = "site";
root.replaceChildren(heading("Compare", "Choose runs, of the same jobs where they are to be judged."), make("details", { class: "part choose", open: !chosen.length }, make("summary", {}, "Choose runs"), chooser), said.element, results);
choose();
show();
