// Pictures made of cells, by pages that have no server to make them.

/** Of a cell's text, which may be followed by its meaning. */
const numberOf = ([text]) => text.endsWith("inf") ? (text[0] === "-" ? -Infinity : Infinity) : Number(text);

/** Calls take(i, cells) for each pixel i of a tile that shows cells of a rectangle, and how many. */
function forEachShared(tile, steps, width, [top, bottom, left, right], take) {
  const first = (from, step, begin) => Math.max(0, Math.floor((from - begin) / step));
  const end = (to, step, begin, last) => Math.ceil((Math.min(to, last) - begin) / step);
  const shared = (k, step, begin, last, from, to) =>
    Math.min(begin + (k + 1) * step, last, to) - Math.max(begin + k * step, from);
  for (let r = first(top, steps[0], tile.top); r < end(bottom, steps[0], tile.top, tile.bottom); ++r) {
    const high = shared(r, steps[0], tile.top, tile.bottom, top, bottom);
    for (let c = first(left, steps[1], tile.left); c < end(right, steps[1], tile.left, tile.right); ++c) {
      take(r * width + c, high * shared(c, steps[1], tile.left, tile.right, left, right));
    }
  }
}

/** What the cells of each pixel of a tile come to; all figures follow from it. */
class Sums {
  constructor(tile, pyramid) {
    this.tile = tile;
    this.steps = [pyramid.rowStep(tile.zoom), pyramid.colStep(tile.zoom)];
    this.height = Math.ceil((tile.bottom - tile.top) / this.steps[0]);
    this.width = Math.ceil((tile.right - tile.left) / this.steps[1]);
    const zeros = () => new Float64Array(this.height * this.width);
    Object.assign(this, {cells: zeros(), nonzero: zeros(), nan: zeros(), unknown: zeros(), sum: zeros(),
      least: zeros().fill(Infinity), most: zeros().fill(-Infinity)});
  }
  /** Calls take(pixel, cells) for each pixel with cells of a rectangle. */
  share(rectangle, take) { forEachShared(this.tile, this.steps, this.width, rectangle, take); }
  cover(rectangle) { this.share(rectangle, (i, cells) => { this.cells[i] += cells; }); }
  /** The pixel of a cell, or -1. */
  pixel(row, col) {
    const {top, left, bottom, right} = this.tile;
    if (row < top || col < left || row >= bottom || col >= right) return -1;
    return Math.floor((row - top) / this.steps[0]) * this.width + Math.floor((col - left) / this.steps[1]);
  }
  add(i, value) {
    if (value !== 0) ++this.nonzero[i];
    if (Number.isNaN(value)) { ++this.nan[i]; return; }
    this.sum[i] += value;
    this.least[i] = Math.min(this.least[i], value);
    this.most[i] = Math.max(this.most[i], value);
  }
  /** Counts n cells that are NaN or missing, or no numbers at all. */
  addOther(i, why, n) {
    this.nonzero[i] += n;
    (why === NAN ? this.nan : this.unknown)[i] += n;
  }
  /** The tiles of all figures; `counts`: they are from statistics. */
  tiles(counts = false) {
    const tiles = STAT_WHATS.map(() => ({...emptyTile(this.width, this.height), counts})), [density, mean, min, max] = tiles;
    for (let i = 0; i < this.cells.length; ++i) {
      const cells = this.cells[i], numbers = cells - this.nan[i] - this.unknown[i], zero = this.nonzero[i] < cells;
      if (cells === 0) continue;
      put(density, i, this.nonzero[i] / cells);
      if (this.unknown[i] >= cells) {
        for (const tile of [mean, min, max]) tile.states[i] = UNKNOWN;
        continue;
      }
      put(mean, i, numbers > 0 ? this.sum[i] / numbers : NaN);
      put(min, i, numbers > 0 ? (zero ? Math.min(0, this.least[i]) : this.least[i]) : NaN);
      put(max, i, numbers > 0 ? (zero ? Math.max(0, this.most[i]) : this.most[i]) : NaN);
    }
    return tiles;
  }
}

function put(tile, i, value) {
  tile.values[i] = value;
  tile.states[i] = Number.isNaN(value) ? NAN : NUMBER;
}

/** The tile of kinds of blocks, which are [first row, first column, rows, columns, kind]. */
function tileOfKinds(tile, pyramid, blocks) {
  const sums = new Sums(tile, pyramid), kinds = emptyTile(sums.width, sums.height), most = new Float64Array(sums.cells.length);
  for (const [rx, cx, rows, cols, kind] of blocks) {
    sums.share([rx, rx + rows, cx, cx + cols], (i, cells) => {
      if (cells <= most[i]) return;
      most[i] = cells;
      put(kinds, i, KIND_NAMES.indexOf(kind));
    });
  }
  return kinds;
}

/**
 * The tiles of all figures made of the cells in a page, or that of kinds of its blocks; `load` gives
 * their pieces.
 */
async function tilesOfCells(kind, tile, pyramid, load, sides) {
  if (kind) {
    const places = pyramid.tiles(pyramid.meta.blocksZoom, tile);
    const lists = await Promise.all(places.map(({zoom, x, y}) => load(`blocks/${zoom}.${x}.${y}`)));
    return [tileOfKinds(tile, pyramid, lists.flatMap((list) => list || []))];
  }
  const sums = new Sums(tile, pyramid);
  for (let y = Math.floor(tile.top / sides[0]); y * sides[0] < tile.bottom; ++y) {
    for (let x = Math.floor(tile.left / sides[1]); x * sides[1] < tile.right; ++x) {
      const piece = await load(pieceName(x, y)), top = y * sides[0], left = x * sides[1];
      for (const part of piece?.covered || [[top, top + sides[0], left, left + sides[1]]]) sums.cover(part);
      for (const [number, text] of Object.entries(piece?.cells || {})) {
        const i = sums.pixel(top + Math.floor(number / sides[1]), left + number % sides[1]);
        if (i >= 0) sums.add(i, numberOf([].concat(text)));
      }
    }
  }
  return sums.tiles();
}
