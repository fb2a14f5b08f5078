// A file at any address, or one that somebody chose, read in the page by the reader: no server of ours.

const BUDGET = 1 << 22;  // bytes of blocks that are read for one tile; of coarser ones statistics tell
const MOST_CELLS = 1 << 26;  // the same where pixels are cells
const MOST_TOLD = 1 << 26;  // bytes of a file whose names and attributes are fetched before its picture
const LABELS = 256, SIDE = 64, LONGEST = 200;

class RemoteFile {
  constructor(file, title) {
    Object.assign(this, {file, title, sides: [SIDE, SIDE], spots: 2, filters: false});
    this.figures = remembering(60, (place) => this.figuresOf(this.pyramid.tile(...place.split(".").map(Number))));
  }
  zooms() { return 65; }

  async meta() {
    const {file} = this, counts = await file.counts(), [rowLevels, colLevels] = [file.rows, file.cols].map((n) => n <= TILE ? 0
      : Math.floor(Math.log2((n - 1) / TILE)) + 1);
    this.counts = counts;
    this.ruled = file.isFrame && file.columns.some(needsRule);
    let zoom = 0;
    const tilesAt = (cells, levels) => Math.ceil(cells / (TILE * 2 ** Math.max(0, levels - zoom)));
    while (zoom < Math.max(rowLevels, colLevels) && counts.total / tilesAt(file.cols, colLevels) / tilesAt(file.rows, rowLevels) > 256) ++zoom;
    const told = file.size <= MOST_TOLD, noted = told ? await file.attributes() : {};
    this.names = [told ? await file.names("rows") : null, told && !file.isFrame ? await file.names("columns") : null];
    return {name: this.title, named: this.names.map((names) => names !== null),
      attributes: JSON.stringify(noted).length > 8192 ? {} : Object.fromEntries(Object.entries(noted).sort()), format: "dbdf", rows: file.rows, cols: file.cols, type: file.isFrame ? "frame" : file.type,
      labels: file.isFrame, ruled: this.ruled, stored: counts.stored, bytes: file.size, levels: [rowLevels, colLevels], blocks: counts,
      blocksZoom: zoom, grid: file.tiling ? [file.tiling.rows, file.tiling.cols] : null,
      what: counts.stored < file.rows * file.cols / 2 ? "density" : "mean", counts: !file.isFrame && file.type[0] === "u"};
  }

  async text(name) {
    const [kind, place] = name.split("/"), numbers = place.split(".").map(Number);
    if (kind === "labels") return this.labels(numbers[0]);
    if (kind === "names") return this.namesOf(0, numbers[0]);
    if (kind === "cells") return this.cells(...numbers);
    return (await this.blocksIn(numbers)).map((e) => [e.rx, e.cx, e.rows, e.cols, KIND_NAMES[e.kind], e.kind ? reader.TYPES[e.type] : "", e.stored]);
  }

  namesOf(axis, k) {
    const names = this.names[axis], first = k * LABELS;
    return Array.from({length: Math.max(0, Math.min(LABELS, names.length - first))}, (_, i) => names.at(first + i).slice(0, LONGEST));
  }

  labels(k) {
    if (!this.file.isFrame) return this.namesOf(1, k).map((name) => [name, "0", ""]);
    return this.file.columns.slice(k * LABELS, (k + 1) * LABELS).map((column) =>
      [column.label.slice(0, LONGEST), reader.reading(column, new reader.ARRAYS[column.type](1), () => "?").text(0) ?? "", typeText(column)]);
  }

  async blocksIn([zoom, x, y]) {
    const tile = this.pyramid.tile(zoom, x, y);
    return this.file.entriesIn({rows: [tile.top, tile.bottom], cols: [tile.left, tile.right]});
  }

  /** Texts of a piece of cells. */
  async cells(x, y) {
    const {file} = this, rows = [y * SIDE, Math.min(file.rows, (y + 1) * SIDE)], cols = [x * SIDE, Math.min(file.cols, (x + 1) * SIDE)];
    if (rows[0] >= rows[1] || cols[0] >= cols[1]) return null;
    const region = {rows, cols}, found = await file.read(region, {absent: 0}), piece = {cells: {}}, wide = cols[1] - cols[0];
    for (let c = 0; c < wide; ++c) {
      const column = file.columns?.[cols[0] + c], plain = !column || (column.meaning === "number" && column.missing === null);
      const values = file.isFrame ? found[c] : found, texts = plain ? null : reader.reading(column, values, () => "?");
      for (let r = 0; r < rows[1] - rows[0]; ++r) {
        const i = file.isFrame ? r : r * wide + c, number = shortText(values[i]);
        if (number !== "0") piece.cells[r * SIDE + c] = plain ? number : [number, textOr(texts, i, `code ${number}`).slice(0, LONGEST)];
      }
    }
    const covered = (await file.entriesIn(region)).map((e) => [Math.max(e.rx, rows[0]), Math.min(e.rx + e.rows, rows[1]),
      Math.max(e.cx, cols[0]), Math.min(e.cx + e.cols, cols[1])]);
    const all = covered.reduce((sum, [top, bottom, left, right]) => sum + (bottom - top) * (right - left), 0);
    return all < (rows[1] - rows[0]) * wide ? {...piece, covered} : piece;
  }

  async tile(name, pyramid) {
    const [, what, place] = name.split("/");
    this.pyramid = pyramid;
    if (what !== "kind") return (await this.figures(place))[STAT_WHATS.indexOf(what)];
    const tile = pyramid.tile(...place.split(".").map(Number));
    const entries = await this.file.entriesIn({rows: [tile.top, tile.bottom], cols: [tile.left, tile.right]});
    return tileOfKinds(tile, pyramid, entries.map((e) => [e.rx, e.cx, e.rows, e.cols, KIND_NAMES[e.kind]]));
  }

  /** Whether all tiles of a zoom are made of cells: it depends on none of them, so that no seams are seen. */
  readsCells(zoom) {
    const {file, pyramid} = this, cells = TILE * pyramid.rowStep(zoom) * TILE * pyramid.colStep(zoom);
    const each = file.size / Math.max(1, file.rows * file.cols);
    return Math.min(cells * each, file.size) <= BUDGET || (zoom === pyramid.deepest && this.largest() <= MOST_CELLS);
  }
  /** Bytes of a block, about. */
  largest() { return this.file.size / Math.max(1, this.counts.total); }

  async figuresOf(tile) {
    const sums = new Sums(tile, this.pyramid), region = {rows: [tile.top, tile.bottom], cols: [tile.left, tile.right]};
    if (!this.readsCells(tile.zoom)) {
      await this.addStatistics(sums, region);
      return sums.tiles(true);
    }
    const entries = await this.file.entriesIn(region);
    for (const e of entries) sums.cover([e.rx, e.rx + e.rows, e.cx, e.cx + e.cols]);
    await this.file.eachBlock(entries, region.rows, (e, stored) => this.addCells(sums, e, stored));
    return sums.tiles();
  }

  /** Adds the cells of a block in a tile; of words and times none is a number, stored or not. */
  addCells(sums, e, {rows, cols, values, from}) {
    const {tile} = sums, left = Math.max(tile.left, e.cx), right = Math.min(tile.right, e.cx + e.cols);
    const rules = this.ruled ? this.file.columns.slice(e.cx, e.cx + e.cols).map((column) => ruleOf(column, values)) : null;
    const add = (row, col, i) => {
      const at = sums.pixel(row, col), rule = rules?.[col - e.cx], why = rule ? rule.of(i) : NUMBER;
      if (at < 0 || (rows && rule && rule.zero === why && why !== NUMBER)) return;
      if (rows && rule && rule.zero !== NUMBER) sums.addOther(at, rule.zero, -1);
      if (why === NUMBER) sums.add(at, Number(values[i])); else sums.addOther(at, why, 1);
    };
    if (rows) {
      rules?.forEach((rule, c) => {
        if (rule && rule.zero !== NUMBER) sums.share([e.rx, e.rx + e.rows, e.cx + c, e.cx + c + 1], (i, n) => sums.addOther(i, rule.zero, n));
      });
      for (let i = 0; i < values.length; ++i) add(e.rx + rows[i], e.cx + cols[i], i);
      return;
    }
    for (let row = Math.max(tile.top, e.rx); row < Math.min(tile.bottom, e.rx + e.rows); ++row) {
      for (let col = left; col < right; ++col) add(row, col, (row - e.rx - from) * e.cols + col - e.cx);
    }
  }

  /** Adds what statistics tell of blocks, the same share to each of their cells. */
  async addStatistics(sums, region) {
    const {file} = this, known = await this.statistics();
    const blocks = known?.ofAll && file.tiling ? [...file.tilesIn(region)].map((n) => file.tileOf(n)) : await file.entriesIn(region);
    for (const b of blocks) {
      const k = b.number, cells = b.rows * b.cols, isKnown = known && known.has[k];
      const nonzero = isKnown ? known.nonzero[k] + known.nan[k] : b.stored;
      sums.share([b.rx, b.rx + b.rows, b.cx, b.cx + b.cols], (i, n) => {
        const part = n / cells;
        sums.cells[i] += n;
        sums.nonzero[i] += part * nonzero;
        if (!isKnown || this.ruled) { sums.unknown[i] += n; return; }
        sums.nan[i] += part * known.nan[k];
        sums.sum[i] += part * known.sum[k];
        sums.least[i] = Math.min(sums.least[i], known.least[k]);
        sums.most[i] = Math.max(sums.most[i], known.most[k]);
      });
    }
  }

  /** Statistics of all blocks, as numbers; null if there are none. */
  statistics() {
    this.known ??= this.file.statistics().catch((error) => {
      this.known = null;  // asked for again
      throw error;
    }).then((found) => {
      if (!found) return null;
      const made = {has: new Uint8Array(found.length)}, names = ["nonzero", "nan", "sum", "least", "most"];
      for (const name of names) made[name] = new Float64Array(found.length);
      for (let k = 0; k < found.length; ++k) {
        const s = found.of(k);
        if (!s) continue;
        const some = s.least <= s.greatest;
        made.has[k] = 1;
        const values = [s.nonzero, s.nan, s.sum, some ? s.least : Infinity, some ? s.greatest : -Infinity];
        values.forEach((value, i) => { made[names[i]][k] = Number(value); });
      }
      return {...made, ofAll: !made.has.includes(0)};
    });
    return this.known;
  }
}

/** "f64", "category of 3 words", "timestamp[us, UTC]". */
function typeText({type, meaning, unit, zone, words}) {
  if (meaning === "number") return type;
  if (meaning === "category") return `category of ${words.length} words`;
  return meaning === "timestamp" || meaning === "duration" ? `${meaning}[${unit}${zone ? ", " + zone : ""}]` : meaning;
}

/** The text of a cell, "" where it is missing; where its word cannot be read, which it says, the code. */
function textOr(texts, i, code) {
  try {
    return texts.text(i) ?? "";
  } catch (error) {
    complain(error);
    return code;
  }
}

/** Whether a number stored in a column may be anything but itself; the mark of missing floats is a NaN. */
const needsRule = ({meaning, type, missing}) => meaning !== "number" || (missing !== null && type[0] !== "f");

/** What value i of a column is to a picture, and a zero that is not stored; null where each is itself. */
function ruleOf(column, values) {
  const {meaning, type, missing} = column;
  if (!["number", "boolean"].includes(meaning)) return {zero: UNKNOWN, of: () => UNKNOWN};
  if (missing === null || !needsRule(column)) return null;
  const [mark] = new reader.ARRAYS[type](BigUint64Array.of(missing).buffer);
  return {zero: mark == 0 ? NAN : NUMBER, of: (i) => values[i] == mark ? NAN : NUMBER};  // also of BigInts and numbers
}

/** A number in the fewest digits that read back to it in its own type. */
function shortText(value) {
  if (typeof value !== "number" || Number.isInteger(value) || Math.fround(value) !== value) return reader.numberText(value);
  for (let digits = 6; digits < 9; ++digits) {
    if (Math.fround(Number(value.toPrecision(digits))) === value) return reader.numberText(Number(value.toPrecision(digits)));
  }
  return reader.numberText(value);
}

let shown = false;  // a file

/** Opens what is given, and shows it. */
async function openFile(from, name) {
  try {
    const file = await reader.open(from, {name});
    if (shown) throw new Error("this page shows a file already; open another one in a new tab");
    shown = $("open").hidden = $("message").hidden = true;
    document.title = `${name} - dapple`;
    document.querySelector("h1").textContent = name;
    await show(new RemoteFile(file, name));
  } catch (error) {
    complain(error);
  }
}

function begin() {
  const asked = new URLSearchParams(location.search).get("x");
  if (asked) return openFile(new URL(asked, location.href), asked.replace(/[?#].*/, "").split("/").pop() || asked);
  $("open").hidden = false;
  document.body.dataset.state = "ready";
  $("open").addEventListener("submit", (event) => {
    event.preventDefault();
    location.search = "?x=" + encodeURIComponent($("address").value);
  });
  $("chosen").addEventListener("change", () => openFile($("chosen").files[0], $("chosen").files[0].name));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length > 0) openFile(event.dataTransfer.files[0], event.dataTransfer.files[0].name);
  });
  return null;
}
begin();
