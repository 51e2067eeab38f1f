// Sorting rows by a key: a million in some hundredths of a second, in time that does not depend on what they are.

const BITS = 16, SIZE = 1 << BITS;

/** Rows in the order of their keys, the smaller row first where keys are equal; unknown (NaN) keys are last. */
export function sorted(keys) {
  const number = keys.length, whole = new Uint16Array(Float64Array.from(keys).buffer); // four digits a key, the lowest first
  for (let row = 0; row < number; row++) {
    // Bytes of doubles grow with the numbers, if the sign is turned round, and negative ones altogether.
    const top = 4 * row + 3;
    if (Number.isNaN(keys[row])) whole.fill(0xffff, top - 3, top + 1);
    else if (keys[row] === 0) { whole[top] = 0x8000; } // -0 is 0
    else if (whole[top] & 0x8000) for (let digit = top - 3; digit <= top; digit++) whole[digit] ^= 0xffff;
    else whole[top] |= 0x8000;
  }
  let from = new Uint32Array(number), to = new Uint32Array(number);
  for (let row = 0; row < number; row++) from[row] = row;
  const places = new Uint32Array(SIZE + 1);
  for (let digit = 0; digit < 4; digit++) {
    places.fill(0);
    for (let row = 0; row < number; row++) places[whole[4 * row + digit] + 1]++;
    if (places.includes(number, 1)) continue; // all have the same digit here
    for (let value = 1; value <= SIZE; value++) places[value] += places[value - 1];
    for (let at = 0; at < number; at++) to[places[whole[4 * from[at] + digit]]++] = from[at];
    [from, to] = [to, from];
  }
  return from;
}

/** Numbers for codes, in whose order their texts are as people sort them: equal ones for equal texts. */
export function ranks(codes, text) {
  const texts = new Map(codes.map(code => [code, text(code)]));
  const different = [...new Set(texts.values())].sort(new Intl.Collator().compare), rank = new Map(different.map((each, at) => [each, at]));
  return new Map(codes.map(code => [code, rank.get(texts.get(code))]));
}
