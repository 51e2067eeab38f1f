// The explorer on a page of the server: of the runs that its address names, or of some that are to be chosen.

import { ask } from "./api.js";
import { make } from "./dom.js";
import { explore } from "./explorer.js";
import { ServerSource } from "./source.js";

const root = document.getElementById("root"), { runs } = JSON.parse(document.getElementById("data").textContent);

function failed(error) {
  root.replaceChildren(make("div", { class: "opening", role: "alert" }, make("p", {}, `The runs cannot be shown: ${error.message}`),
    error.hint ? make("p", { class: "hint" }, error.hint) : null, make("p", {}, make("a", { href: "/explore" }, "Choose other runs"))));
}

/** All runs that can be seen here, to be opened one at a time or side by side. */
async function choose() {
  const found = (await ask("/api/files")).files.filter(entry => entry.kind === "run");
  const open = make("button", { class: "plain", disabled: true }, "Compare");
  const tell = () => {
    const number = form.querySelectorAll("input:checked").length;
    open.disabled = number === 0;
    open.textContent = number > 1 ? `Open ${number} side by side` : "Open";
  };
  const form = make("form", { action: "/explore", method: "get", class: "choose", onchange: tell },
    make("h1", {}, "Which run?"),
    found.length ? make("p", { class: "hint" }, "Open one, or mark several and see them side by side.")
      : make("p", {}, "There are no runs in this folder yet. ", make("a", { href: "/setup" }, "Set one up"), " or make one with ", make("code", {}, "schedlab run LOG --out DIR"), "."),
    make("ul", { class: "runs" }, ...found.map(({ name }) => make("li", {},
      make("input", { type: "checkbox", name: "run", value: name, "aria-label": `mark ${name}` }), make("a", { href: `/explore?${new URLSearchParams({ run: name })}` }, name)))),
    found.length > 1 ? open : null);
  tell();
  root.replaceChildren(form);
}

if (runs.length) explore(root, new ServerSource("/api/explore", runs)).then(explorer => { window.explorer = explorer; }, error => { failed(error); throw error; });
else choose().catch(error => { failed(error); throw error; });
