// A scenario that somebody types in: a table of jobs, a machine, policies. What is right is the server's business.

import { make } from "./dom.js";

const FIELDS = ["submit", "cores", "runtime", "estimate", "user"];
const HEADS = ["comes at", "cores", "run time", "estimate", "user"];
const NAMES = { submit: "submit", cores: "cores", runtime: "run time", estimate: "estimate", user: "user" };

/** A scenario as the part of an address behind #. */
export function fragment(typed) {
  const parts = new URLSearchParams();
  parts.append("machine", typed.machine);
  for (const policy of typed.policies) parts.append("policy", policy);
  if (typed.estimate !== "limit") parts.append("estimate", typed.estimate);
  if (typed.overrun !== "kill") parts.append("overrun", typed.overrun);
  for (const job of typed.jobs) parts.append("job", job.map(value => String(value).replaceAll(",", " ")).join(",").replace(/,$/, ""));
  return `#${parts}`;
}

export function linkTo(typed) { return `/learn/own${fragment(typed)}`; }

function fromFragment(text) {
  const parts = new URLSearchParams(text.replace(/^#/, ""));
  if (!parts.has("job")) return null;
  return { machine: parts.get("machine") ?? "8", policies: parts.getAll("policy"), estimate: parts.get("estimate") ?? "limit",
    overrun: parts.get("overrun") ?? "kill", jobs: parts.getAll("job").slice(0, 500).map(job => job.split(",")) };
}

export class OwnScenario {
  /** `played(plays)` is told what came of it; nothing if it is wrong. */
  constructor({ first, most }, played) {
    this.played = played;
    this.most = most;
    this.rows = make("tbody");
    this.machine = make("input", { name: "machine", size: "8", "aria-label": "machine", autocomplete: "off" });
    this.policies = [0, 1, 2].map(at => make("input", { name: `policy ${at + 1}`, size: "18", list: "policies", autocomplete: "off",
      "aria-label": `policy ${at + 1}`, placeholder: at ? "(none)" : "easy" }));
    const choice = (name, values) => make("select", { name, "aria-label": name }, ...values.map(([value, text]) => make("option", { value }, text)));
    this.estimate = choice("estimate", [["limit", "believes the estimates"], ["exact", "knows the run times"]]);
    this.overrun = choice("overrun", [["kill", "are killed"], ["run", "run on"]]);
    this.wrong = make("div", { class: "mistakes", role: "alert" });
    this.said = make("span", { class: "said-so", role: "status" });
    const button = (name, text, act) => make("button", { class: `plain ${name}`, type: "button", onclick: act }, text);
    this.element = make("form", { class: "own", onsubmit: event => { event.preventDefault(); this.play(); } },
      make("div", { class: "choices" },
        make("label", {}, "machine ", this.machine), make("small", {}, "8 (cores) or 4x2 (nodes x cores)"),
        ...this.policies.map((input, at) => make("label", {}, at ? "beside it " : "policy ", input)),
        make("datalist", { id: "policies" }, ...["none", "skip", "easy", "easy-strict", "easy:reservations=2", "easy:order=sjf", "easy:scan=sjf", "conservative", "fcfs", "sjf"].map(value => make("option", { value }))),
        make("label", {}, "the scheduler ", this.estimate), make("label", {}, "jobs at their estimates ", this.overrun)),
      make("div", { class: "wide" }, make("table", { class: "typed" },
        make("thead", {}, make("tr", {}, make("th", {}, "job"), ...HEADS.map(head => make("th", {}, head)), make("th"))), this.rows)),
      make("p", { class: "acts" }, button("add", "+ job", () => { this.add(); this.rows.lastChild.querySelector("input").focus(); }),
        make("button", { class: "plain go", type: "submit" }, "Play it"),
        button("copy", "Copy the link", () => this.copy()), button("save", "Save as SWF", () => this.save()), this.said),
      this.wrong);
    this.fill(fromFragment(location.hash) ?? first);
    addEventListener("hashchange", () => {
      const typed = fromFragment(location.hash);
      if (typed && fragment(typed) !== fragment(this.typed())) { this.fill(typed); this.play(); }
    });
  }

  fill(typed) {
    this.machine.value = typed.machine;
    this.policies.forEach((input, at) => { input.value = typed.policies[at] ?? ""; });
    this.estimate.value = typed.estimate;
    this.overrun.value = typed.overrun;
    this.rows.replaceChildren();
    for (const job of typed.jobs) this.add(job);
  }

  add(values = []) {
    const inputs = FIELDS.map((field, at) => make("input", { "data-field": field, size: field === "user" ? "8" : "5", autocomplete: "off",
      inputmode: field === "user" ? "text" : "decimal", value: values[at] ?? "" }));
    const row = make("tr", {}, make("th"), ...inputs.map(input => make("td", {}, input)),
      make("td", {}, make("button", { class: "plain", type: "button", title: "Take this job out", onclick: () => { row.remove(); this.count(); } }, "×")));
    this.rows.append(row);
    this.count();
  }

  count() {
    [...this.rows.children].forEach((row, at) => {
      row.firstChild.textContent = String(at + 1);
      for (const input of row.querySelectorAll("input")) input.setAttribute("aria-label", `job ${at + 1}, ${NAMES[input.dataset.field]}`);
    });
  }

  /** As it stands in the form. Rows with nothing in them are no jobs. */
  typed() {
    const jobs = [...this.rows.children].map(row => [...row.querySelectorAll("input")].map(input => input.value.trim()));
    return { machine: this.machine.value.trim(), policies: this.policies.map(input => input.value.trim()).filter(Boolean),
      estimate: this.estimate.value, overrun: this.overrun.value, jobs: jobs.filter(job => job.some(Boolean)) };
  }

  async send(where) {
    for (const row of [...this.rows.children])
      if (![...row.querySelectorAll("input")].some(input => input.value.trim()) && this.rows.children.length > 1) row.remove();
    this.count();
    const answer = await fetch(where, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(this.typed()) });
    if (answer.ok) { this.complain(""); return answer; }
    const found = await answer.json().catch(() => ({ error: `the server answered ${answer.status}`, hint: "" }));
    this.complain(found.hint ? `${found.error}\n  hint: ${found.hint}` : found.error);
    return null;
  }

  async play() {
    history.replaceState(null, "", fragment(this.typed()));
    this.said.textContent = "";
    try {
      const answer = await this.send("/learn/own/play");
      this.played(answer && (await answer.json()).plays);
    } catch (error) {
      this.complain(`the server does not answer (${error.message}): is schedlab web still running?`);
      this.played(null);
    }
  }

  /** What is wrong, and at which fields. */
  complain(text) {
    for (const input of this.element.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
    this.wrong.textContent = text;
    for (const line of text.split("\n")) {
      const where = line.match(/^(job \d+, [a-z ]+|machine|policy)(?=:)/)?.[1];
      if (!where) continue;
      for (const input of this.element.querySelectorAll("input"))
        if (input.getAttribute("aria-label") === where || (where === "policy" && input.name === "policy 1")) input.setAttribute("aria-invalid", "true");
    }
    this.element.querySelector("[aria-invalid]")?.scrollIntoView({ block: "nearest" });
  }

  async copy() {
    history.replaceState(null, "", fragment(this.typed()));
    try { await navigator.clipboard.writeText(location.href); this.said.textContent = "copied"; }
    catch { this.said.textContent = "copy it from the address bar"; }
  }

  async save() {
    const answer = await this.send("/learn/own/swf");
    if (!answer) return;
    const link = make("a", { href: URL.createObjectURL(await answer.blob()), download: "jobs.swf" });
    link.click();
    URL.revokeObjectURL(link.href);
    this.said.textContent = "saved as jobs.swf";
  }
}
