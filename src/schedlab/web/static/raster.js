// Rectangles as points of an image. A canvas draws some ten thousand rectangles in a frame; this draws some hundred
// thousand, and says of each point how much of it is covered, and by whom most: what web/tiles.py says of cells.

/** An image of so many points. Of rectangles it is known who has most of a point (-1: nobody), and how much of it all have. */
export class Raster {
  constructor() { this.width = this.height = 0; }

  /** As large as this, and empty. */
  begin(width, height) {
    if (width !== this.width || height !== this.height) {
      Object.assign(this, { width, height, who: null });
      this.image = new ImageData(width, height);
      this.points = new Uint32Array(this.image.data.buffer);
    } else this.points.fill(0);
  }

  /** Rectangles follow. */
  beginShapes() {
    const size = this.width * this.height;
    if (!this.who) Object.assign(this, { who: new Int32Array(size), cover: new Float32Array(size), most: new Float32Array(size) });
    this.who.fill(-1);
    this.cover.fill(0);
    this.most.fill(0);
  }

  /** A rectangle of a job, in points; parts outside are cut off. */
  add(row, left, right, upper, lower) {
    const { width, height, who, cover, most } = this;
    if (left < 0) left = 0;
    if (upper < 0) upper = 0;
    if (right > width) right = width;
    if (lower > height) lower = height;
    if (!(right > left && lower > upper)) return;
    const firstX = left | 0, lastX = Math.ceil(right) - 1, firstY = upper | 0, lastY = Math.ceil(lower) - 1;
    for (let y = firstY; y <= lastY; y++) {
      const down = Math.min(lower, y + 1) - Math.max(upper, y);
      for (let x = firstX, at = y * width + firstX; x <= lastX; x++, at++) {
        const across = x === firstX || x === lastX ? Math.min(right, x + 1) - Math.max(left, x) : 1, area = down * across;
        cover[at] += area;
        if (area > most[at]) { most[at] = area; who[at] = row; }
      }
    }
  }

  /** The rectangles in colours; what is covered in part lets the page shine through. */
  paintShapes(colours) {
    const { who, cover, points } = this;
    for (let at = 0; at < points.length; at++) {
      const row = who[at];
      points[at] = row < 0 ? 0 : colours[row] | (SEEN[cover[at] >= 1 ? 255 : (cover[at] * 255) | 0] << 24);
    }
  }

  /** Cells of a tile in colours: a point takes the fullest of those below it, and is covered as they are on average. */
  paintCells(tile, { bins, rows }, left, right, upper, lower, colours) {
    const { width, height, points } = this;
    const columns = below(left, right, bins, width), lines = below(upper, lower, rows, height);
    if (columns.several === 1 && lines.several === 1) {
      const shown = inColours(tile, colours), { from } = columns, number = from.length;
      for (let y = lines.first; y < lines.last; y++) {
        const row = lines.from[y - lines.first] * bins, at = y * width + columns.first;
        for (let x = 0; x < number; x++) points[at + x] = shown[row + from[x]];
      }
      return;
    }
    for (let y = lines.first; y < lines.last; y++) {
      const from = lines.from[y - lines.first], to = lines.to[y - lines.first];
      for (let x = columns.first; x < columns.last; x++) {
        const begin = columns.from[x - columns.first], end = columns.to[x - columns.first];
        let sum = 0, most = -1, cell = 0;
        for (let row = from; row < to; row++) {
          for (let i = row * bins + begin, last = row * bins + end; i < last; i++) {
            const part = tile.cover[i];
            sum += part;
            if (part > most) { most = part; cell = i; }
          }
        }
        const row = tile.who[cell];
        points[y * width + x] = row < 0 ? 0 : colours[row] | (SEEN[(sum / ((to - from) * (end - begin))) | 0] << 24);
      }
    }
  }
}

/** The cells of a tile as points: looked up once, and not in each frame among the colours of a million jobs. */
function inColours(tile, colours) {
  if (tile.shown?.of === colours) return tile.shown.points;
  const { who, cover } = tile, points = new Uint32Array(who.length);
  for (let i = 0; i < points.length; i++) points[i] = who[i] < 0 ? 0 : colours[who[i]] | (SEEN[cover[i]] << 24);
  tile.shown = { of: colours, points };
  return points;
}

// How opaque a point is of which so much is covered: what is short has to be seen too.
const SEEN = Uint8Array.from({ length: 256 }, (_, share) => Math.round(255 * (share / 255) ** 0.7));

/** Which of `number` cells between two places lie below each of the points there. */
function below(begin, end, number, points) {
  const first = Math.max(0, Math.ceil(begin - 0.5)), last = Math.max(first, Math.min(points, Math.ceil(end - 0.5)));
  const size = (end - begin) / number, several = Math.max(1, Math.round(1 / size));
  const from = new Int32Array(last - first), to = new Int32Array(last - first);
  for (let point = first; point < last; point++) {
    const middle = Math.min(number - 1, Math.floor((point + 0.5 - begin) / size));
    from[point - first] = Math.max(0, middle - (several >> 1));
    to[point - first] = Math.min(number, from[point - first] + several);
  }
  return { first, last, from, to, several };
}
