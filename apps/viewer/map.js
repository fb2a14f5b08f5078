// The picture: which part is seen, the tiles that it is made of, and their colours.

const TILE = 256, MOST_X = 96, MOST_Y = 32;  // pixels of a cell, at most
const TOP = 30;                              // room for the axes
let LEFT = 66;                               // more where row numbers are long

/** What is seen: the cell in the middle, and pixels for each cell. */
class View {
  constructor(meta) {
    Object.assign(this, {meta, width: 1, height: 1, row: 0, col: 0, sx: 1, sy: 1});
  }
  resize(width, height) {
    const first = this.width === 1;
    this.width = Math.max(1, width - LEFT);
    this.height = Math.max(1, height - TOP);
    if (first) this.fit(); else this.settle();
  }
  /** Everything, in about its own shape, but never so flat or narrow that nothing could be seen. */
  whole() {
    const {rows, cols} = this.meta;
    const x = (this.width - 8) / Math.max(1, cols), y = (this.height - 8) / Math.max(1, rows);
    const s = Math.min(x, y), sx = Math.min(x, 3 * s, MOST_X), sy = Math.min(y, 3 * s, MOST_Y);
    const stretched = (scale, cells, other) => Math.max(scale, other / 6 / Math.max(1, cells));
    if (this.meta.labels) return {sx: Math.min(x, MOST_X), sy: Math.min(y, MOST_Y)};  // columns with room for labels
    return {sx: Math.min(x, MOST_X, stretched(sx, cols, rows * sy)),
      sy: Math.min(y, MOST_Y, stretched(sy, rows, cols * sx))};
  }
  fit() {
    Object.assign(this, this.whole());
    this.row = this.meta.rows / 2;
    this.col = this.meta.cols / 2;
  }
  settle() {
    const least = this.whole();
    this.sx = Math.min(MOST_X, Math.max(least.sx, this.sx));
    this.sy = Math.min(MOST_Y, Math.max(least.sy, this.sy));
    this.row = Math.min(this.meta.rows, Math.max(0, this.row));
    this.col = Math.min(this.meta.cols, Math.max(0, this.col));
  }
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const [row, col] = this.cellAt(x, y);
    this.sx *= factor;
    this.sy *= factor;
    this.settle();
    this.row = row - (y - this.height / 2) / this.sy;
    this.col = col - (x - this.width / 2) / this.sx;
    this.settle();
  }
  pan(dx, dy) {
    this.row += dy / this.sy;
    this.col += dx / this.sx;
    this.settle();
  }
  goTo(row, col) {
    Object.assign(this, {row: row + 0.5, col: col + 0.5, sx: MOST_X, sy: MOST_Y});
    this.settle();
  }
  cellAt(x, y) {
    return [this.row + (y - this.height / 2) / this.sy, this.col + (x - this.width / 2) / this.sx];
  }
  x(col) { return (col - this.col) * this.sx + this.width / 2; }
  y(row) { return (row - this.row) * this.sy + this.height / 2; }
  /** The cells in view; ends are one past the last. */
  cells() {
    const [top, left] = this.cellAt(0, 0), [bottom, right] = this.cellAt(this.width, this.height);
    const clip = (value, most) => Math.min(most, Math.max(0, value));
    return {top: clip(Math.floor(top), this.meta.rows), bottom: clip(Math.ceil(bottom), this.meta.rows),
      left: clip(Math.floor(left), this.meta.cols), right: clip(Math.ceil(right), this.meta.cols)};
  }
  showsValues() { return this.sx >= 44 && this.sy >= 15; }
}

class Pyramid {
  constructor(meta, most) {
    this.meta = meta;
    this.deepest = Math.max(...meta.levels);
    this.last = Math.min(this.deepest, most - 1);
  }
  rowStep(zoom) { return 2 ** Math.max(0, this.meta.levels[0] - zoom); }
  colStep(zoom) { return 2 ** Math.max(0, this.meta.levels[1] - zoom); }
  /** The zoom whose pixels are about as large as the screen's. */
  zoomFor(view) {
    const need = (levels, scale) => Math.min(levels, Math.max(0, Math.round(levels + Math.log2(Math.min(1, scale)))));
    return Math.min(this.last, Math.max(need(this.meta.levels[0], view.sy), need(this.meta.levels[1], view.sx)));
  }
  /** Tiles with a cell in view. */
  tiles(zoom, cells) {
    const list = [], high = TILE * this.rowStep(zoom), wide = TILE * this.colStep(zoom);
    for (let y = Math.floor(cells.top / high); y * high < cells.bottom; ++y) {
      for (let x = Math.floor(cells.left / wide); x * wide < cells.right; ++x) {
        list.push(this.tile(zoom, x, y));
      }
    }
    return list;
  }
  tile(zoom, x, y) {
    const high = TILE * this.rowStep(zoom), wide = TILE * this.colStep(zoom);
    return {zoom, x, y, top: y * high, left: x * wide,
      bottom: Math.min((y + 1) * high, this.meta.rows), right: Math.min((x + 1) * wide, this.meta.cols)};
  }
  /** The finer tiles that show the same cells. */
  below(tile) { return tile.zoom < this.last ? this.tiles(tile.zoom + 1, tile) : []; }
  above(tile) {
    if (tile.zoom === 0) return null;
    const zoom = tile.zoom - 1;
    return this.tile(zoom, Math.floor(tile.left / (TILE * this.colStep(zoom))),
      Math.floor(tile.top / (TILE * this.rowStep(zoom))));
  }
}

/** Tiles, those nearest to the middle of the view first. */
function fromTheMiddle(tiles, view) {
  const far = ({top, bottom, left, right}) =>
    Math.hypot(((top + bottom) / 2 - view.row) * view.sy, ((left + right) / 2 - view.col) * view.sx);
  return tiles.sort((a, b) => far(a) - far(b));
}

const tileName = (what, tile) => `tile/${what}/${tile.zoom}.${tile.x}.${tile.y}`;

/** Where pixel edges of a loaded tile are; those of samples are larger. */
function pixelEdge(tile, data, k, rows, pyramid) {
  const begin = rows ? tile.top : tile.left, end = rows ? tile.bottom : tile.right;
  const n = rows ? data.height : data.width;
  if (data.samples) return begin + (end - begin) * k / n;
  const step = rows ? pyramid.rowStep(tile.zoom) : pyramid.colStep(tile.zoom);
  return Math.min(end, begin + k * step);
}

/** The tile as an image in the colours of `scale`, made anew when they change; `colAt` tells a pixel's column. */
function imageOf(data, scale, colAt) {
  if (data.key !== scale.key) {
    data.image = data.image || new OffscreenCanvas(data.width, data.height);
    const context = data.image.getContext("2d"), image = context.createImageData(data.width, data.height);
    const {values, states} = data, bytes = image.data;
    let colour = null;
    for (let i = 0; i < values.length; ++i) {
      if (colour === null || scale.columns || values[i] !== values[i - 1] || states[i] !== states[i - 1]) {
        colour = colourOf(states[i], values[i], scaleAt(scale, colAt(i % data.width)));
      }
      for (let c = 0; c < 3; ++c) bytes[4 * i + c] = colour[c];
      bytes[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
    data.key = scale.key;
  }
  return data.image;
}

/** Draws the part of `tile` that `data`, of itself or of a coarser tile `from`, shows. */
function drawTile(context, view, tile, from, data, scale, pyramid) {
  const image = imageOf(data, scale, (k) => Math.floor(pixelEdge(from, data, k, false, pyramid)));
  const last = (rows) => pixelEdge(from, data, rows ? data.height : data.width, rows, pyramid);
  const stepY = data.samples ? (from.bottom - from.top) / data.height : pyramid.rowStep(from.zoom);
  const stepX = data.samples ? (from.right - from.left) / data.width : pyramid.colStep(from.zoom);
  const bottom = Math.min(tile.bottom, last(true)), right = Math.min(tile.right, last(false));
  const x0 = Math.round(view.x(tile.left)), x1 = Math.round(view.x(right));
  const y0 = Math.round(view.y(tile.top)), y1 = Math.round(view.y(bottom));
  context.drawImage(image, (tile.left - from.left) / stepX, (tile.top - from.top) / stepY,
    (right - tile.left) / stepX, (bottom - tile.top) / stepY, x0, y0, Math.max(1, x1 - x0), Math.max(1, y1 - y0));
}

/** Rows or columns of each pixel of a tile that are in view. */
function sizesInView(tile, data, rows, cells, pyramid) {
  const from = rows ? cells.top : cells.left, to = rows ? cells.bottom : cells.right;
  const edge = (k) => Math.min(to, Math.max(from, pixelEdge(tile, data, k, rows, pyramid)));
  return Float64Array.from({length: rows ? data.height : data.width}, (_, k) => edge(k + 1) - edge(k));
}

/** Calls take(value, state, cells, column) for every pixel of the loaded tiles with cells in view, and how many. */
function forEachPixel(tiles, cells, pyramid, dataOf, take) {
  for (const tile of tiles) {
    const data = dataOf(tile);
    if (!data) continue;
    const {values, states, width, height} = data;
    const high = sizesInView(tile, data, true, cells, pyramid), wide = sizesInView(tile, data, false, cells, pyramid);
    const cols = Array.from({length: width}, (_, k) => Math.floor(pixelEdge(tile, data, k, false, pyramid)));
    for (let r = 0; r < height; ++r) {
      if (high[r] === 0) continue;
      for (let c = 0, i = r * width; c < width; ++c, ++i) {
        if (wide[c] > 0) take(values[i], states[i], high[r] * wide[c], cols[c]);
      }
    }
  }
}
