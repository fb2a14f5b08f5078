// Values of cells: their pieces, and pictures made of them where a page holds no others.

const SIDES = given.pieces ? given.cells : [64, 64];  // rows and columns of a piece; null: no cells

const pieceName = (x, y) => `cells/${x}.${y}`;

const NOT_READ = Symbol("not read");  // a cell of a piece that could not be had

/**
 * The text of a cell; undefined while it is on its way, null where no block covers it, or NOT_READ.
 * `zero` is that of cells that are not stored.
 */
function cellText(cellStore, row, col, zero, ask) {
  const y = Math.floor(row / SIDES[0]), x = Math.floor(col / SIDES[1]);
  const name = pieceName(x, y), piece = ask ? cellStore.get(name) : cellStore.peek(name);
  if (piece === undefined) return cellStore.failed(name) ? NOT_READ : undefined;
  if (piece === null) return zero;  // all of it
  const covers = ([top, bottom, left, right]) => row >= top && row < bottom && col >= left && col < right;
  if (piece.covered && !piece.covered.some(covers)) return null;
  const number = String((row - y * SIDES[0]) * SIDES[1] + col - x * SIDES[1]);
  if (!Object.hasOwn(piece.cells, number)) return zero;
  const text = piece.cells[number];
  return Array.isArray(text) ? text[1] || "missing" : text;
}

/** Of a cell's text, which may be followed by what it stands for. */
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

/**
 * The tiles of all figures made of the cells in a page, or that of kinds of its blocks; `load` gives
 * their pieces.
 */
async function tilesOfCells(kind, tile, pyramid, load) {
  const steps = [pyramid.rowStep(tile.zoom), pyramid.colStep(tile.zoom)];
  const height = Math.ceil((tile.bottom - tile.top) / steps[0]), width = Math.ceil((tile.right - tile.left) / steps[1]);
  const n = height * width;
  const put = (tile, i, value) => {
    tile.values[i] = value;
    tile.states[i] = Number.isNaN(value) ? NAN : NUMBER;
  };
  if (kind) {
    const kinds = emptyTile(width, height);
    const most = new Float64Array(n);
    for (const {zoom, x, y} of pyramid.tiles(pyramid.meta.blocksZoom, tile)) {
      for (const [rx, cx, rows, cols, kind] of await load(`blocks/${zoom}.${x}.${y}`) || []) {
        forEachShared(tile, steps, width, [rx, rx + rows, cx, cx + cols], (i, cells) => {
          if (cells <= most[i]) return;
          most[i] = cells;
          put(kinds, i, KIND_NAMES.indexOf(kind));
        });
      }
    }
    return [kinds];
  }
  const sums = {cells: new Float64Array(n), nonzero: new Float64Array(n), nan: new Float64Array(n),
    sum: new Float64Array(n), least: new Float64Array(n).fill(Infinity), most: new Float64Array(n).fill(-Infinity)};
  for (let y = Math.floor(tile.top / SIDES[0]); y * SIDES[0] < tile.bottom; ++y) {
    for (let x = Math.floor(tile.left / SIDES[1]); x * SIDES[1] < tile.right; ++x) {
      const piece = await load(pieceName(x, y)), top = y * SIDES[0], left = x * SIDES[1];
      const whole = [[top, top + SIDES[0], left, left + SIDES[1]]];
      for (const rect of piece?.covered || whole) {
        forEachShared(tile, steps, width, rect, (i, cells) => { sums.cells[i] += cells; });
      }
      for (const [number, text] of Object.entries(piece?.cells || {})) {
        const row = top + Math.floor(number / SIDES[1]) - tile.top, col = left + number % SIDES[1] - tile.left;
        if (row < 0 || col < 0 || row >= tile.bottom - tile.top || col >= tile.right - tile.left) continue;
        const i = Math.floor(row / steps[0]) * width + Math.floor(col / steps[1]), value = numberOf([].concat(text));
        if (value !== 0) ++sums.nonzero[i];
        if (Number.isNaN(value)) { ++sums.nan[i]; continue; }
        sums.sum[i] += value;
        sums.least[i] = Math.min(sums.least[i], value);
        sums.most[i] = Math.max(sums.most[i], value);
      }
    }
  }
  const tiles = STAT_WHATS.map(() => emptyTile(width, height)), [density, mean, min, max] = tiles;
  for (let i = 0; i < n; ++i) {
    const cells = sums.cells[i], numbers = cells - sums.nan[i], zero = sums.nonzero[i] < cells;
    if (cells === 0) continue;
    put(density, i, sums.nonzero[i] / cells);
    put(mean, i, numbers ? sums.sum[i] / numbers : NaN);
    put(min, i, numbers ? (zero ? Math.min(0, sums.least[i]) : sums.least[i]) : NaN);
    put(max, i, numbers ? (zero ? Math.max(0, sums.most[i]) : sums.most[i]) : NaN);
  }
  return tiles;
}
