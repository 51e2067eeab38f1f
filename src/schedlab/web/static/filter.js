// What is typed above the table of jobs, as a condition: `user=alice cores>=64 wait>1h state=killed`.

const FIELD = /^([a-z]+)(>=|<=|!=|=|>|<)(.+)$/i;
const UNITS = { s: 1, m: 60, min: 60, h: 3600, d: 86400, w: 604800 };

/** A function row -> whether it is wanted; throws a sentence for what cannot be understood. */
export function condition(text, columns) {
  const tests = text.trim().split(/\s+/).filter(Boolean).map(word => one(word, columns));
  return row => tests.every(test => test(row));
}

function one(word, columns) {
  const match = FIELD.exec(word);
  if (!match) {
    const wanted = word.toLowerCase();
    return row => columns.job.text(row).toLowerCase().includes(wanted);
  }
  const [, name, sign, value] = match, column = columns[name.toLowerCase()];
  if (!column) throw new Error(`there is no column '${name}'; there are ${Object.keys(columns).join(", ")}`);
  if (!column.number || (sign === "=" || sign === "!=") && Number.isNaN(amount(value))) {
    const wanted = value.toLowerCase(), same = sign !== "!=";
    if (sign !== "=" && sign !== "!=") throw new Error(`${name} is a word: write ${name}=${value}`);
    const fits = text => (text.toLowerCase() === wanted) === same;
    if (!column.code) return row => fits(column.text(row));
    const known = new Map(); // a word is looked at once, however many jobs have it
    return row => {
      const code = column.code(row);
      if (!known.has(code)) known.set(code, fits(column.word(code)));
      return known.get(code);
    };
  }
  const limit = amount(value);
  if (Number.isNaN(limit)) throw new Error(`'${value}' is not a number, nor a duration such as 2h`);
  const { number } = column;
  return {
    ">": row => number(row) > limit, "<": row => number(row) < limit, ">=": row => number(row) >= limit,
    "<=": row => number(row) <= limit, "=": row => number(row) === limit, "!=": row => number(row) !== limit,
  }[sign];
}

/** `64`, `1.5h`, `30min`. */
function amount(text) {
  const match = /^(-?[\d.,]+)([a-z]*)$/i.exec(text);
  if (!match) return NaN;
  const value = Number(match[1].replaceAll(",", ""));
  return match[2] === "" ? value : value * (UNITS[match[2].toLowerCase()] ?? NaN);
}
