// Blocks of columns (web/block.py) as typed arrays. Unknown values are NaN in arrays of floats, -1 in arrays of integers.

const LARGEST_INT = 0x7fffffff;

/** The columns of a block: name -> Float64Array, Int32Array, Float32Array or an array of texts. */
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const heads = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const columns = {};
  let at = 4 + length;
  for (const head of heads) {
    const bytes = new Uint8Array(buffer, at, head.bytes);
    at += head.bytes;
    if (head.kind === "texts") columns[head.name] = JSON.parse(new TextDecoder().decode(bytes));
    else if (head.kind === "floats") columns[head.name] = floats(bytes, head.width);
    else columns[head.name] = whole(bytes, head, head.relative ? columns[head.relative] : null);
  }
  return columns;
}

/** Bytes of the same weight stand together: put each value's own side by side. */
function joined(bytes, width) {
  if (width === 1) return bytes;
  const number = bytes.length / width, together = new Uint8Array(bytes.length);
  for (let plane = 0; plane < width; plane++) {
    for (let i = 0, from = plane * number, to = plane; i < number; i++, to += width) together[to] = bytes[from + i];
  }
  return together;
}

function floats(bytes, width) {
  const together = joined(bytes, width);
  return width === 4 ? new Float32Array(together.buffer) : new Float64Array(together.buffer);
}

function whole(bytes, head, beside) {
  const together = joined(bytes, head.width);
  const raw = head.width === 1 ? together
    : new (head.width === 2 ? Uint16Array : Uint32Array)(together.buffer, together.byteOffset);
  const { divisor, base, nulls } = head, delta = head.first !== undefined;
  const small = divisor === 1 && !delta && !beside && base >= 0
    && (head.width < 4 || largest(raw) + base <= LARGEST_INT);
  const values = small ? new Int32Array(raw.length) : new Float64Array(raw.length);
  const unknown = small ? -1 : NaN, offset = base - nulls;
  let before = delta ? head.first : 0;
  for (let i = 0; i < raw.length; i++) {
    if (nulls && raw[i] === 0) { values[i] = unknown; continue; }
    let ticks = raw[i] + offset;
    if (delta) ticks = before += ticks;
    if (beside) ticks += Math.round(beside[i] * divisor);
    values[i] = divisor === 1 ? ticks : ticks / divisor;
  }
  return values;
}

function largest(raw) {
  let most = 0;
  for (let i = 0; i < raw.length; i++) if (raw[i] > most) most = raw[i];
  return most;
}
