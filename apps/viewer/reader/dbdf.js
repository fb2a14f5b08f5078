// A reader of DAPHNE's binary format and of dapple's index, hints and packed blocks in it, written from
// lib/dbdf/FORMAT.md. Everything is compared with what there is before it is used.
import { asNumbers, mover, reading } from "./cells.js";
import { decodeBlock, HEADER, readBlockHeader, readHeader } from "./format.js";
import { readAttributes, readColumns, readHintTrailer, readNames, readStatistics } from "./hints.js";
import { BEFORE, LINE, readTrailer, refuseOverlaps, walkBody } from "./index.js";
import { DbdfError, sourceOf } from "./source.js";
import { ARRAYS, dataOf, KINDS, MOST, sizeOf, TYPES, u64 } from "./values.js";
import { xxh3 } from "./xxh3.js";

const SMALL = 1 << 18;         // an index of at most these bytes is read whole, and its hash compared
const TAIL = 1 << 16;          // read at once: often all of the index, and the hints
const BESIDE = 1 << 14;        // hints beside statistics seldom have more bytes
const MOST_NEAR = 3 << 18;     // of statistics that are read before anybody asks for them
const DENSE_PART = 1 << 20;    // of a larger dense block only the rows that are needed are read
const BATCH = 1 << 26;         // bytes of blocks that are read at once

const span = (range, all, what) => {
  const [from, to] = range ?? [0, all];
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 0 || to < from || to > all) {
    throw new RangeError(`${what} [${from}, ${to}] are not among the ${all} that there are`);
  }
  return [from, to];
};

class DbdfFile {
  constructor(source, header, options) {
    const {rows, cols, isFrame, types, labels} = header;
    Object.assign(this, {source, header, options, name: source.name, size: source.size, rows, cols, isFrame, types, labels});
    Object.assign(this, {type: isFrame ? null : types[0], columns: null, groups: [], tiling: null, index: null, entries: null});
    this.numbers = new Map((labels ?? []).map((label, c) => [label, c]).reverse());  // of columns; the first of a label
  }

  fail(what, byte = null) { return new DbdfError(this.name, what, byte); }

  async open() {
    const {source} = this, last = source.size - this.header.body >= BEFORE + 2 * LINE;
    const tail = last ? await source.read(Math.max(0, source.size - TAIL), Math.min(TAIL, source.size)) : null;
    this.index = last ? readTrailer(tail.subarray(-LINE), source.size, this.header) : null;
    this.tiling = this.index?.tiling ?? null;
    if (!this.index) await this.walk();
    else if (!this.index.tiling || source.size - this.index.start <= SMALL) await this.readIndex();
    this.tiling = this.index?.tiling ?? null;
    await this.describe();
    return this;
  }

  /** What columns mean, and which are one vector. */
  async describe() {
    const hint = this.isFrame || !this.index || this.index.names ? await this.hint("DPL-COLS") : null;
    const found = hint ? readColumns(hint.bytes, this.header, this.name, hint.at, this.options.zstd) : {columns: new Map(), groups: []};
    const plain = (label, c) => ({label, type: this.types[c], meaning: "number", missing: null});
    this.groups = found.groups;
    this.columns = this.isFrame ? this.labels.map((label, c) => ({...plain(label, c), ...found.columns.get(c)})) : null;
  }

  /** All of the index; where it is not what was written, the body is walked. */
  async readIndex() {
    const {start, end, hash, tiling} = this.index, bytes = await this.source.read(start, end - start);
    if (xxh3(bytes.subarray(0, end - start - LINE)) !== hash) {
      this.index = null;
      return this.walk();
    }
    this.lines = bytes.subarray(LINE);
    this.head = this.checkedHead(bytes.subarray(0, LINE));
    if (tiling) return;
    this.entries = [];
    for (let i = 0; i < this.index.blocks; ++i) this.entries.push(this.readEntry(this.lines.subarray(LINE * i), i));
    refuseOverlaps(this.entries, this.name);
  }

  /** The head of the index, which knows its own hash and that of the file's header. */
  checkedHead(head) {
    const data = dataOf(head), header = data.getBigUint64(56, true);
    if (data.getBigUint64(48, true) !== xxh3(head.subarray(0, 48))) throw this.fail("its head is damaged", this.index.start);
    if (header !== 0n && header !== xxh3(this.header.bytes)) throw this.fail("the header of the file is not what was written", 0);
    return head;
  }

  /** Goes over the body, once for all who ask meanwhile; until it is done, nothing is changed. */
  walk() {
    this.walking ??= walkBody(this).then((found) => Object.assign(this, {index: null}, found)).finally(() => { this.walking = null; });
    return this.walking;
  }

  requireInside(block) {
    if (block.rx > this.rows - block.rows || block.cx > this.cols - block.cols) {
      const what = `the block at (${block.rx}, ${block.cx}), ${block.rows} x ${block.cols},`;
      throw this.fail(`${what} is outside of ${this.rows} x ${this.cols}`, block.offset - 16);
    }
  }

  readEntry(line, number) {
    const data = dataOf(line), {start, tiling} = this.index, byte = start + LINE * (number + 1);
    const e = {number, rx: u64(data, 0), cx: u64(data, 8), offset: u64(data, 16), bytes: u64(data, 24), stored: u64(data, 32),
      hash: data.getBigUint64(40, true), rows: data.getUint32(48, true), cols: data.getUint32(52, true),
      kind: line[56], type: line[57], codec: line[58]};
    if (e.kind > 3 || !TYPES[e.type] || line.subarray(59, 64).some((b) => b !== 0)) throw this.fail("an entry of the index is impossible", byte);
    if (e.offset < this.header.body + 16 || e.offset > start || e.bytes > start - e.offset) {
      throw this.fail("an entry of the index points out of the body", byte);
    }
    this.requireInside(e);
    const tile = tiling ? this.tileOf(number) : e;
    if (["rx", "cx", "rows", "cols"].some((field) => tile[field] !== e[field])) throw this.fail("an entry of the index is not that of its tile", byte);
    return e;
  }

  /** Entry i of the index, counted as statistics count blocks. */
  async entry(i) {
    if (this.entries) return this.entries[i];
    const line = this.lines?.subarray(LINE * i, LINE * (i + 1)) ?? await this.source.read(this.index.start + LINE * (i + 1), LINE);
    return this.readEntry(line, i);
  }

  /** How many blocks there are in all, of each kind, and what they store. */
  async counts() {
    if (this.entries) {
      const counts = {total: this.entries.length, empty: 0, dense: 0, csr: 0, coo: 0, stored: 0};
      for (const e of this.entries) { ++counts[KINDS[e.kind]]; counts.stored += e.stored; }
      return counts;
    }
    await this.hints();  // which has the head come, too
    this.head ??= this.checkedHead(await this.source.read(this.index.start, LINE));
    const data = dataOf(this.head);
    const [empty, dense, csr, coo, stored] = [8, 16, 24, 32, 40].map((at) => u64(data, at));
    return {total: this.index.blocks, empty, dense, csr, coo, stored};
  }

  /** Where tile `number` of a regular tiling is. */
  tileOf(number) {
    const {tiling} = this, rx = Math.floor(number / tiling.across) * tiling.rows, cx = number % tiling.across * tiling.cols;
    return {number, rx, cx, rows: Math.min(tiling.rows, this.rows - rx), cols: Math.min(tiling.cols, this.cols - cx)};
  }

  /** The numbers of the tiles of a regular tiling that have cells in a region. */
  *tilesIn({rows, cols}) {
    const {tiling} = this;
    for (let i = Math.floor(rows[0] / tiling.rows); i * tiling.rows < rows[1]; ++i) {
      for (let j = Math.floor(cols[0] / tiling.cols); j * tiling.cols < cols[1]; ++j) yield i * tiling.across + j;
    }
  }

  /** The entries of blocks with cells in a region. */
  async entriesIn(region) {
    const rows = span(region.rows, this.rows, "rows"), cols = span(region.cols, this.cols, "columns");
    const meets = (e) => e.rx < rows[1] && e.rx + e.rows > rows[0] && e.cx < cols[1] && e.cx + e.cols > cols[0];
    if (rows[0] === rows[1] || cols[0] === cols[1]) return [];
    if (this.entries) return this.entries.filter(meets);
    return Promise.all([...this.tilesIn({rows, cols})].map((i) => this.entry(i)));
  }

  /** The header of a block that an entry points to, which must be what the entry says. */
  agreed(bytes, e) {
    const found = readBlockHeader(dataOf(bytes), 0, e.offset - 16, this.index?.start ?? this.size, this.name);
    for (const field of ["rx", "cx", "rows", "cols", "kind", "type", "codec", "stored", "bytes"]) {
      if (found[field] === e[field]) continue;
      throw this.fail(`a block and its entry in the index differ in "${field}": ${found[field]} and ${e[field]}`, e.offset - 16);
    }
    return found;
  }

  /**
   * What the block of an entry stores: {values} of a dense one, row after row, or {rows, cols, values},
   * counted from its first cell. The hash of its bytes is compared.
   */
  async block(e) {
    if (e.bytes > MOST) throw this.fail(`a block of ${e.bytes} bytes is too large to be read at once`, e.offset - 16);
    const bytes = await this.source.read(e.offset - 16, e.bytes + 16), block = this.agreed(bytes, e);
    if (e.hash !== 0n && this.options.hashes !== false && xxh3(bytes) !== e.hash) {
      throw this.fail("the bytes of a block are not those that were written", e.offset - 16);
    }
    return decodeBlock(block, bytes.subarray(block.head), this.name, this.options);
  }

  /** Some rows of a block: {values, from}, `from` being the first row that there is; of small blocks all. */
  async rowsOf(e, from, to) {
    if (!this.isPartly(e) || to - from === e.rows) return {...await this.block(e), from: 0};
    const width = e.cols * sizeOf(TYPES[e.type]), {head} = this.agreed(await this.source.read(e.offset - 16, HEADER), e);
    if ((to - from) * width > MOST) throw this.fail("more than 2^30 bytes of a block at once", e.offset - 16);
    const bytes = await this.source.read(e.offset - 16 + head + from * width, (to - from) * width);
    return {...decodeBlock({...e, rows: to - from}, bytes, this.name, this.options), from};
  }

  /**
   * Cells of a region, {rows: [from, to], cols: [from, to]}: of a matrix as one typed array, row after
   * row; of a frame as one for each column, of its type. 64-bit integers are BigInts, or with `numbers`
   * numbers. Cells that no block covers are an error, or have the value `absent` (0 or NaN).
   */
  async read(region = {}, {numbers = false, absent = null} = {}) {
    const rows = span(region.rows, this.rows, "rows"), cols = span(region.cols, this.cols, "columns");
    const high = rows[1] - rows[0], wide = cols[1] - cols[0];
    if (high * wide * 8 > MOST) throw new RangeError(`${high} x ${wide} cells are more than are read at once; read them in parts`);
    const entries = await this.coveringEntries({rows, cols}, absent);
    const outs = this.isFrame ? Array.from({length: wide}, (_, k) => new ARRAYS[this.types[cols[0] + k]](high))
      : [new ARRAYS[this.type](high * wide)];
    if (absent !== null && Number.isNaN(absent)) for (const out of outs) this.fillAbsent(out);
    await this.eachBlock(entries, rows, (e, stored) => this.put(e, stored, rows, cols, outs));
    const refuse = (value) => this.fail(`${value} is no number that JavaScript holds exactly; read it as a BigInt`);
    const found = numbers ? outs.map((out) => asNumbers(out, refuse)) : outs;
    return this.isFrame ? found : found[0];
  }

  /** Calls take(entry, what it stores of some rows), for blocks of about `BATCH` bytes at once. */
  async eachBlock(entries, rows, take) {
    for (let i = 0; i < entries.length;) {
      const batch = [];
      for (let bytes = 0; i < entries.length && bytes < BATCH; bytes += entries[i++].bytes) batch.push(entries[i]);
      this.source.willNeed(batch.filter((e) => !this.isPartly(e)).map((e) => [e.offset - 16, e.bytes + 16]));
      await Promise.all(batch.map(async (e) =>
        take(e, await this.rowsOf(e, Math.max(rows[0], e.rx) - e.rx, Math.min(rows[1], e.rx + e.rows) - e.rx))));
    }
  }

  /** Of large dense blocks only the rows that are needed are read, without their hash. */
  isPartly(e) { return e.kind === 1 && e.codec === 0 && e.bytes > DENSE_PART; }

  fillAbsent(out) {
    if (!(out instanceof Float32Array || out instanceof Float64Array)) throw this.fail("cells that no block covers can be NaN only among floats");
    out.fill(NaN);
  }

  /** The entries of a region, which cover all of it unless cells may be absent. */
  async coveringEntries({rows, cols}, absent) {
    const shared = (list) => list.reduce((sum, e) => sum + (Math.min(rows[1], e.rx + e.rows) - Math.max(rows[0], e.rx))
      * (Math.min(cols[1], e.cx + e.cols) - Math.max(cols[0], e.cx)), 0);
    const wanted = (rows[1] - rows[0]) * (cols[1] - cols[0]);
    let entries = await this.entriesIn({rows, cols});
    if (shared(entries) < wanted && this.index) {  // only the body knows that there is no block
      await this.walk();
      entries = await this.entriesIn({rows, cols});
    }
    if (shared(entries) < wanted && absent === null) {
      throw this.fail("some cells are covered by no block; they may be read as zero or NaN ({absent: 0})");
    }
    return entries;
  }

  /** Moves what a block stores to its places in `outs`, as values of their columns' types. */
  put(e, {rows: entryRows, cols: entryCols, values, from}, rows, cols, outs) {
    const wide = cols[1] - cols[0], type = TYPES[e.type];
    const left = Math.max(cols[0], e.cx), right = Math.min(cols[1], e.cx + e.cols);
    if (!entryRows && !this.isFrame && type === this.type) {
      for (let r = Math.max(rows[0], e.rx); r < Math.min(rows[1], e.rx + e.rows); ++r) {
        const line = (r - e.rx - from) * e.cols - e.cx;
        outs[0].set(values.subarray(line + left, line + right), (r - rows[0]) * wide + left - cols[0]);
      }
      return;
    }
    const own = this.isFrame ? outs.slice(left - cols[0], right - cols[0]) : outs;
    const movers = own.map((out, k) => {
      const to = this.isFrame ? this.types[left + k] : this.type;
      const refuse = (value) => this.fail(`a block stores ${value}, which no ${to} holds exactly`, e.offset - 16);
      return mover(type, to, out, refuse)(values);
    });
    if (!entryRows) {
      for (let r = Math.max(rows[0], e.rx); r < Math.min(rows[1], e.rx + e.rows); ++r) {
        const line = (r - e.rx - from) * e.cols - e.cx;
        for (let c = left; c < right; ++c) {
          if (this.isFrame) movers[c - left](line + c, r - rows[0]);
          else movers[0](line + c, (r - rows[0]) * wide + c - cols[0]);
        }
      }
      return;
    }
    this.clear(e, rows, cols, outs);
    for (let i = 0; i < values.length; ++i) {
      const r = e.rx + entryRows[i] - rows[0], c = e.cx + entryCols[i];
      if (r < 0 || r >= rows[1] - rows[0] || c < left || c >= right) continue;
      if (this.isFrame) movers[c - left](i, r);
      else movers[0](i, r * wide + c - cols[0]);
    }
  }

  /** Zeros where a sparse block covers cells: they may have been filled as absent. */
  clear(e, rows, cols, outs) {
    const top = Math.max(rows[0], e.rx) - rows[0], bottom = Math.min(rows[1], e.rx + e.rows) - rows[0], wide = cols[1] - cols[0];
    const left = Math.max(cols[0], e.cx) - cols[0], right = Math.min(cols[1], e.cx + e.cols) - cols[0];
    const zero = (out) => out instanceof BigInt64Array || out instanceof BigUint64Array ? 0n : 0;
    if (this.isFrame) for (let c = left; c < right; ++c) outs[c].fill(zero(outs[c]), top, bottom);
    else for (let r = top; r < bottom; ++r) outs[0].fill(zero(outs[0]), r * wide + left, r * wide + right);
  }

  /**
   * A column of a frame, by number or label, as what it means: numbers, BigInts (64-bit integers and
   * ticks), true and false, words; null where a cell is missing. With `text`, as people write them.
   */
  async column(which, {rows, text = false, absent = null} = {}) {
    const c = typeof which === "number" ? which : this.numbers.get(which) ?? -1;
    if (!this.columns || !this.columns[c]) throw new RangeError(`${this.name}: there is no column ${which}`);
    const [values] = await this.read({rows, cols: [c, c + 1]}, {absent});
    const refuse = (what, i) => { throw this.fail(`column ${c}, row ${(rows?.[0] ?? 0) + i}: ${what}`); };
    const one = reading(this.columns[c], values, refuse);
    return Array.from(values, (_, i) => text ? one.text(i) : one.value(i));
  }

  /** Trailers of all hints, the last one of the file first. What failed is tried again. */
  hints() {
    this.hintList ??= (this.index ? this.readHints() : this.auxiliaryHints()).catch((error) => {
      this.hintList = null;
      throw error;
    });
    return this.hintList;
  }

  async readHints() {
    const list = [], {start, blocks} = this.index, {source} = this;
    // What statistics need, and the head of the index next to it, come with one request.
    const near = Math.max(this.header.body, start - Math.min(MOST_NEAR, LINE * (blocks + 1) + BESIDE));
    if (this.index.hints) await source.read(near, start + LINE - near);
    for (let end = start - BEFORE, more = this.index.hints; ;) {
      const room = end - this.header.body >= LINE + BEFORE, found = room ? readHintTrailer(await source.read(end - 40, 40), end) : null;
      const sound = found && found.start >= this.header.body + BEFORE;
      if (more ? !sound : found) throw this.fail("the trailer of a hint is damaged; \"dapple repair\" saves the cells", end - 40);
      if (!more) return list;
      list.push(found);
      more = found.more;
      end = found.start - BEFORE;
    }
  }

  /** Without an index: the last auxiliary blocks that have the tag at their start or in their trailer. */
  async auxiliaryHints() {
    const list = [];
    for (const block of [...this.auxiliary].reverse()) {
      if (block.rows < 2) continue;
      const start = block.offset + 10, end = start + block.rows * LINE;
      const first = await this.source.read(start, 8), last = await this.source.read(end - 40, 40);
      const tags = [first, last.subarray(16, 24)].map((bytes) => String.fromCharCode(...bytes));
      const tag = tags.find((t) => ["DPL-COLS", "DPL-ATTR", "DPL-RNAM", "DPL-CNAM"].includes(t));
      if (!tag || list.some((hint) => hint.tag === tag)) continue;
      const found = readHintTrailer(last, end);
      if (!found || found.start !== start || tags[0] !== tags[1]) {
        throw this.fail("what columns mean, names or attributes are damaged", start);
      }
      list.push(found);
    }
    return list;
  }

  /** The content of a hint, {bytes, at}; null if there is none. */
  async hint(tag) {
    const found = (await this.hints()).find((hint) => hint.tag === tag);
    if (!found) return null;
    if (found.content > MOST) throw this.fail("a hint is too large", found.start);
    const bytes = await this.source.read(found.start, found.content);
    if (xxh3(bytes) !== found.hash || String.fromCharCode(...bytes.subarray(0, 8)) !== tag) {
      throw this.fail(`the hint ${tag} is not what was written`, found.start);
    }
    return {bytes, at: found.start};
  }

  /** Statistics of blocks, by number of entry: {length, of(i)}; null if there are none that can be used. */
  async statistics() {
    if (!this.index) return null;
    try {
      const found = await this.hint("DPL-STAT");
      return found && readStatistics(found.bytes, this.index.blocks, this.index.hash);
    } catch (error) {
      if (error instanceof DbdfError && error.byte !== null) return null;  // damaged
      throw error;
    }
  }

  /** Names of rows, or of the columns of a matrix: {length, at(i)}; null if there are none. */
  async names(axis = "rows") {
    const found = await this.hint(axis === "rows" ? "DPL-RNAM" : "DPL-CNAM");
    return found && readNames(found.bytes, axis === "rows" ? this.rows : this.cols, this.name, found.at);
  }

  /** What the user noted about the object. */
  async attributes() {
    const found = await this.hint("DPL-ATTR");
    return found ? readAttributes(found.bytes, this.name, found.at) : {};
  }
}

/**
 * Opens an address, a Blob, an ArrayBuffer, bytes, or {size, read(offset, length)}. Options: `name`;
 * `headers`, `fetch` and `kept` (bytes in memory) of an address; `hashes: false` leaves those of blocks
 * out; `zstd(bytes, most)` is a decompressor; `walk`: blocks of a file without an index, at most.
 */
export async function open(from, options = {}) {
  const source = await sourceOf(from, options);
  return new DbdfFile(source, await readHeader(source), options).open();
}

export { DbdfError };
