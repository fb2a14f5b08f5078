// Packed payloads, as lib/codec/packed/FORMAT.md has them. Integers of 8 bytes are two halves of 4.
import { ARRAYS, dataOf, MOST, sizeOf, TYPES, valuesOf } from "./values.js";

const GROUP = 128, ENDS = 4;  // integers of a group; bytes of an end, a row, or a column

/** Some bytes of a payload, from `at` to `end`; there are zeros after them, so that whole words may be read. */
class Part {
  constructor(bytes, begin, end, fail) {
    Object.assign(this, {bytes, data: dataOf(bytes), at: begin, end, failAt: fail});
  }
  fail(what) { return this.failAt(what, this.at); }
  check(right, what) { if (!right) throw this.fail(what); }
  /** Steps over n bytes, which must be there, and gives where they start. */
  take(n) {
    this.check(n <= this.end - this.at, "packed values are cut short");
    this.at += n;
    return this.at - n;
  }
  u8() { return this.bytes[this.take(1)]; }
  u32() { return this.data.getUint32(this.take(4), true); }
  values(n, size) { const at = this.take(n * size); return this.bytes.slice(at, at + n * size); }
  /** The n parts that follow a table of their ends. */
  parts(n) {
    const table = this.take(4 * n), start = this.at, parts = [];
    for (let i = 0; i < n; ++i) {
      const end = start + this.data.getUint32(table + 4 * i, true);
      this.check(end >= this.at && end <= this.end, "ends of packed parts do not ascend");
      parts.push(new Part(this.bytes, this.at, end, this.failAt));
      this.at = end;
    }
    this.done();
    return parts;
  }
  done() { this.check(this.at === this.end, "packed values are longer than they should be"); }
  /** A number of 0 to 8 bytes, as low and high half. */
  halves(size) {
    const at = this.take(size), halves = [0, 0];
    for (let b = 0; b < size; ++b) halves[b >> 2] |= this.bytes[at + b] << 8 * (b & 3);
    return halves;
  }
  /** Steps over n numbers of `width` bits; give them to `bits`. */
  packed(n, width) {
    const at = this.take(Math.ceil(n * width / 8)), used = n * width % 8;
    this.check(used === 0 || this.bytes[this.at - 1] >> used === 0, "bits that nothing needs are set");
    return at;
  }
  /** `width` bits, at most 32, from a bit on. */
  bits(at, bit, width) {
    if (width === 0) return 0;
    const byte = at + Math.floor(bit / 8), shift = bit % 8;
    let word = this.data.getUint32(byte, true) >>> shift;
    if (shift + width > 32) word |= this.data.getUint8(byte + 4) << 32 - shift;
    return width === 32 ? word : word & 2 ** width - 1;
  }
}

/** One group: adds the rest of its exceptions to what its integers have as their lowest bits. */
function readGroup(part, {width, exceptions, rest}, low, high, first, n) {
  const at = part.packed(n, width);
  for (let i = 0; i < n; ++i) low[first + i] = part.bits(at, i * width, Math.min(width, 32));
  for (let i = 0; i < n && high; ++i) high[first + i] = part.bits(at, i * width + 32, Math.max(0, width - 32));
  const places = part.take(exceptions), rests = part.packed(exceptions, rest);
  for (let k = 0; k < exceptions; ++k) {
    const place = part.bytes[places + k], i = first + place;
    part.check(place < n, "an exception is outside of its group");
    const a = part.bits(rests, k * rest, Math.min(rest, 32)), b = part.bits(rests, k * rest + 32, Math.max(0, rest - 32));
    if (width < 32) low[i] |= a << width;
    if (high) high[i] |= width >= 32 ? a << width - 32 : width === 0 ? b : a >>> 32 - width | b << width;
  }
}

/** From packed integers of a group to its own; sums are modulo 2^64, or 2^32 where that is enough. */
function restore({mode, lag, reference}, base, low, high, first, n) {
  const add = (i, [a, b]) => {
    const sum = low[i] + (a >>> 0);
    low[i] = sum;
    if (high) high[i] += b + (sum > 0xffffffff ? 1 : 0);
  };
  if (mode === 0) {
    for (let i = first; i < first + n; ++i) { add(i, base); add(i, reference); }
    return;
  }
  [low[first]] = base;
  if (high) high[first] = base[1];
  for (let i = first + 1; i < first + n; ++i) {
    if (mode === 2) {
      const sign = -(low[i] & 1);
      low[i] = (low[i] >>> 1 | (high ? high[i] << 31 : 0)) ^ sign;
      if (high) high[i] = high[i] >>> 1 ^ sign;
    }
    const before = i < first + lag ? first : i - lag;
    add(i, [low[before], high ? high[before] : 0]);
    add(i, reference);
  }
}

/** One piece: the heads of its groups, then their bodies. */
function readPiece(part, n, size, baseSize, how, low, high, first) {
  const heads = Array.from({length: Math.ceil(n / GROUP)}, (_, g) => {
    const head = {width: part.u8(), exceptions: part.u8(), rest: part.u8(), base: part.halves(baseSize)};
    part.check(head.width <= 8 * size && head.exceptions <= Math.min(GROUP, n - g * GROUP) && head.rest <= 8 * size - head.width
      && (head.rest === 0) === (head.exceptions === 0), "the head of a group is impossible");
    return head;
  });
  heads.forEach((head, g) => {
    const start = first + g * GROUP, count = Math.min(GROUP, n - g * GROUP);
    readGroup(part, head, low, high, start, count);
    restore(how, head.base, low, high, start, count);
  });
  part.done();
}

/** n packed integers of `size` bytes: {low, high}, the latter only of 8 bytes. */
function integers(part, n, size, zstd) {
  const flags = part.u8(), baseSize = part.u8(), how = {mode: flags & 3, lag: (flags >> 3) + 1, reference: part.halves(size)};
  part.check(how.mode !== 3 && how.lag <= (how.mode === 2 ? 4 : 1) && baseSize <= size, "packed integers of no known kind");
  part.check(how.mode !== 2 || (how.reference[0] | how.reference[1]) === 0, "zigzag has a reference");
  const low = new Uint32Array(n), high = size === 8 ? new Uint32Array(n) : null, each = flags & 4 ? 4096 : 1024;
  part.parts(Math.ceil(n / each)).forEach((piece, p) => {
    if (flags & 4) {
      piece.check(zstd, "packed with zstd, for which open() needs a decompressor, {zstd}");
      const most = (GROUP * size + 3 + size + GROUP + GROUP * size) * each / GROUP;
      const plain = zstd(piece.bytes.subarray(piece.at, piece.end), most), padded = new Uint8Array(plain.length + 8);
      padded.set(plain);
      piece = new Part(padded, 0, plain.length, (what) => part.fail(what));
    }
    readPiece(piece, Math.min(each, n - p * each), size, baseSize, how, low, high, p * each);
  });
  return {low, high};
}

/** Integers as their bytes. */
function bytesOf({low, high}, size) {
  if (size < 4) return new Uint8Array((size === 1 ? Uint8Array : Uint16Array).from(low).buffer);
  if (!high) return new Uint8Array(low.buffer);
  const both = new Uint32Array(2 * low.length);
  for (let i = 0; i < low.length; ++i) { both[2 * i] = low[i]; both[2 * i + 1] = high[i]; }
  return new Uint8Array(both.buffer);
}

function fromDictionary(part, n, size, zstd) {
  const count = part.u32();
  part.check(count >= 1 && count <= 65536, "a dictionary of no or too many values");
  const words = part.values(count, size), {low} = integers(part, n, ENDS, zstd), all = new Uint8Array(n * size);
  for (let i = 0; i < n; ++i) {
    part.check(low[i] < count, "a place outside of its dictionary");
    for (let b = 0; b < size; ++b) all[i * size + b] = words[low[i] * size + b];
  }
  return all;
}

function fromDecimals(part, n, size, zstd, marked) {
  const exponent = part.u8() << 24 >> 24, mark = marked ? part.halves(size) : null, markValue = marked ? part.values(1, size) : null;
  const count = part.u32(), ARRAY = size === 4 ? Float32Array : Float64Array;
  part.check(Math.abs(exponent) <= 22 && count <= n, "decimals of no known kind");
  const places = new Uint32Array(part.values(count, 4).buffer), own = part.values(count, size);
  for (let k = 0; k < count; ++k) part.check(places[k] < n && (k === 0 || places[k] > places[k - 1]), "places of exceptions do not ascend");
  const {low, high} = integers(part, n, size, zstd), values = new ARRAY(n);
  const bias = size === 4 ? 2 ** 30 : 2 ** 51, power = Number("1e" + Math.abs(exponent));
  for (let i = 0; i < n; ++i) {
    const d = low[i] + (high ? high[i] * 2 ** 32 : 0);
    part.check(d < 2 * bias, "a decimal of too many digits");
    values[i] = exponent < 0 ? (d - bias) / power : (d - bias) * power;
  }
  const all = new Uint8Array(values.buffer);
  for (let i = 0; marked && i < n; ++i) {
    if (low[i] === mark[0] >>> 0 && (!high || high[i] === mark[1] >>> 0)) all.set(markValue, i * size);
  }
  for (let k = 0; k < count; ++k) all.set(own.subarray(k * size, (k + 1) * size), places[k] * size);
  return all;
}

function fromSplit(part, n, size, zstd) {
  const kept = part.u8(), count = part.u32();
  part.check(kept < 8 * size && kept >= 8 * size - 16 && count >= 1 && count <= 65536, "split values of no known kind");
  const tops = new Uint16Array(part.values(count, 2).buffer), codeSize = part.u32(), start = part.take(codeSize);
  const codes = integers(new Part(part.bytes, start, start + codeSize, part.failAt), n, ENDS, zstd).low;
  const both = integers(part, n, size, zstd), {high} = both, last = high ?? both.low, shift = kept - (high ? 32 : 0);
  for (let i = 0; i < n; ++i) {
    part.check(codes[i] < count && last[i] < 2 ** shift && tops[codes[i]] < 2 ** (8 * size - kept), "a part of a split value is too large");
    last[i] |= tops[codes[i]] << shift;
  }
  return bytesOf(both, size);
}

/** The bytes of n values, which fill a stream. */
function stream(part, n, size, isFloat, zstd) {
  const how = part.u8();
  let all;
  part.check(how <= 6 && (how < 4 || isFloat), "values of no known encoding");
  if (how === 0) {
    all = part.values(n, size);
  } else if (how === 1) {
    const one = part.values(1, size);
    all = new Uint8Array(n * size);
    for (let i = 0; i < n; ++i) all.set(one, i * size);
  } else if (how === 2) {
    all = bytesOf(integers(part, n, size, zstd), size);
  } else {
    all = [fromDictionary, fromDecimals, fromSplit, fromDecimals][how - 3](part, n, size, zstd, how === 6);
  }
  part.done();
  return all;
}

/** Entries of a CSR block: rows out of their ends, columns as they are or out of gaps. */
function csr(ends, cols, values, block, gaps, fail) {
  const rows = new Uint32Array(block.stored);
  let i = 0;
  for (let row = 0; row < block.rows; ++row) {
    if (ends[row] < i || ends[row] > block.stored) throw fail("ends of rows do not ascend", 0);
    for (let next = 0; i < ends[row]; ++i) {
      rows[i] = row;
      const col = gaps ? cols[i] + next : cols[i];
      if (col >= block.cols) throw fail(`column ${col} is outside of a block of ${block.cols} columns`, 0);
      cols[i] = col;
      next = col + 1;
    }
  }
  if (i !== block.stored) throw fail(`rows end at ${i} of ${block.stored} entries`, 0);
  return {rows, cols, values};
}

/** What `decodeBlock` gives of a packed block. */
export function unpack(block, bytes, fail, {zstd}) {
  const type = TYPES[block.type], size = sizeOf(type), isFloat = type[0] === "f", n = block.stored, dense = block.kind === 1;
  const entry = size + (block.kind === 2 || block.cols === 1 ? 4 : 8);
  if ((dense ? n * size : n * entry + (block.kind === 2 ? 4 * block.rows : 0)) > MOST) throw fail("an encoded block of more than 2^30 bytes", 0);
  const padded = new Uint8Array(bytes.length + 8);
  padded.set(bytes);
  const part = new Part(padded, 0, bytes.length, fail), version = part.u8(), layout = part.u8();
  part.check(version === 1 && layout <= (block.kind === 3 ? 0 : 1) && part.u8() + part.u8() === 0, "packed values of no known version or layout");
  const one = block.kind === 3 && block.cols === 1;
  const streams = part.parts(dense ? (layout ? block.cols : 1) : one ? 2 : 3);
  if (dense && !layout) return {values: valuesOf(stream(streams[0], n, size, isFloat, zstd), type)};
  if (dense) {
    const all = new ARRAYS[type](n);
    streams.forEach((s, c) => valuesOf(stream(s, block.rows, size, isFloat, zstd), type)
      .forEach((value, r) => { all[r * block.cols + c] = value; }));
    return {values: all};
  }
  const whole = (i, count) => valuesOf(stream(streams[i], count, ENDS, false, zstd), "u32");
  const first = whole(0, block.kind === 2 ? block.rows : n), cols = one ? new Uint32Array(n) : whole(1, n);
  const values = valuesOf(stream(streams.at(-1), n, size, isFloat, zstd), type);
  return block.kind === 2 ? csr(first, cols, values, block, layout === 1, fail) : {rows: first, cols, values};
}
