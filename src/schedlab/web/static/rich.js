// Texts of lessons: paragraphs, *emphasis* and `code`, as elements. Nothing in them can become markup.

import { make } from "./dom.js";

/** The pieces of one paragraph. */
export function pieces(text) {
  return text.split(/(\*[^*]+\*|`[^`]+`)/).filter(Boolean).map(part => {
    if (part.length > 2 && part.startsWith("*") && part.endsWith("*")) return make("em", {}, part.slice(1, -1));
    if (part.length > 2 && part.startsWith("`") && part.endsWith("`")) return make("code", {}, part.slice(1, -1));
    return part;
  });
}

/** Paragraphs, which are apart by an empty line. */
export function paragraphs(text) {
  return text.trim().split(/\n\s*\n/).filter(Boolean).map(paragraph => make("p", {}, ...pieces(paragraph)));
}
