// The page of one file.

import { make } from "./dom.js";
import { explore } from "./explorer.js";
import { FileSource } from "./source.js";

const root = document.getElementById("root");
explore(root, new FileSource()).then(explorer => { window.explorer = explorer; }, error => {
  const old = typeof DecompressionStream === "undefined";
  root.replaceChildren(make("p", { class: "opening" }, old
    ? "This browser is too old to open the page: it cannot decompress. Firefox 113, Chrome 111, Safari 16.4 or later can."
    : `The page could not be opened: ${error.message}`));
  throw error;
});
