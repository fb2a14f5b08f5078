// Hints: what columns mean, statistics of blocks, attributes.
import { DbdfError } from "./source.js";
import { dataOf, textOf, TYPES, u64 } from "./values.js";
import { xxh3 } from "./xxh3.js";

const tagOf = (bytes, at) => String.fromCharCode(...bytes.subarray(at, at + 8));
const TRAILER = 40;

/** What the trailer of a hint says that ends at byte `end` of the file; null if it is none. */
export function readHintTrailer(bytes, end) {
  const data = dataOf(bytes), tag = tagOf(bytes, 16), flags = data.getUint32(24, true);
  if (!tag.startsWith("DPL-") || data.getUint32(28, true) !== 0 || flags > 1) return null;
  if (data.getBigUint64(32, true) !== xxh3(bytes.subarray(0, 32), BigInt(end - TRAILER))) return null;
  const content = u64(data, 0), size = 64 * Math.ceil((content + TRAILER) / 64);
  return {tag, content, start: end - size, hash: data.getBigUint64(8, true), more: flags === 1};
}

/** The dictionary at byte `at` of a table: how to get word i, counted from 0. */
function readDictionary(bytes, at, words, size, hash, fail) {
  if (words > (bytes.length - at) / 8 - 1 || size > bytes.length - at - 8 * (words + 1)) {
    throw fail("a dictionary does not end within its table", at);
  }
  const start = at + 8 * (words + 1), data = dataOf(bytes);
  const [offsetsHash, wordsHash] = [[at, start], [start, start + size]].map((part) => xxh3(bytes.subarray(...part)));
  if ((offsetsHash ^ BigInt.asUintN(64, 0x9e3779b97f4a7c15n * wordsHash)) !== hash) throw fail("the words of a dictionary are not those that were written", at);
  const offset = (i) => u64(data, at + 8 * i);
  for (let i = 0; i < words; ++i) if (offset(i + 1) < offset(i)) throw fail("offsets of words do not ascend", at + 8 * i);
  if (offset(0) !== 0 || offset(words) !== size) throw fail("the words of a dictionary do not fill it", at);
  return {length: words, at: (i) => textOf(bytes.subarray(start + offset(i), start + offset(i + 1)))};
}

/** The same of a packed one. Without a decompressor it has its length, but no words. */
function readPackedDictionary(bytes, at, words, size, hash, fail, zstd) {
  const frame = at + 8 > bytes.length ? 0 : u64(dataOf(bytes), at), content = 4 * words + size;
  if (at + 8 > bytes.length || frame > bytes.length - at - 8 || content / 1000 >= frame + 1) throw fail("a packed dictionary does not end within its table", at);
  const missing = () => { throw fail("words packed with zstd (--pack), for which open() needs a decompressor, {zstd}", at); };
  if (!zstd) return {length: words, at: missing};
  const plain = zstd(bytes.subarray(at + 8, at + 8 + frame), content), data = dataOf(plain), whole = new Uint8Array(8 * (words + 1) + size);
  if (plain.length !== content) throw fail("a packed dictionary is damaged", at);
  for (let i = 0, end = 0n; i < words; ++i) {
    end += BigInt(data.getUint32(4 * i, true));
    dataOf(whole).setBigUint64(8 * (i + 1), end, true);
  }
  whole.set(plain.subarray(4 * words), 8 * (words + 1));
  return readDictionary(whole, 0, words, size, hash, (what) => fail(what, at));
}

export const MEANINGS = ["number", "boolean", "timestamp", "duration", "category", "text"];
export const UNITS = ["D", "s", "ms", "us", "ns"];

/**
 * The content of DPL-COLS: {columns, groups}. A column has `meaning`, and `unit`, `zone`, `ordered`,
 * `missing` (the bits of that value, or null) and `words` where its meaning has them.
 */
export function readColumns(bytes, header, name, place, zstd) {
  const fail = (what, at) => new DbdfError(name, what, place + at), data = dataOf(bytes);
  if (bytes.length < 32) throw fail("the table of columns is cut short", 0);
  const version = data.getUint32(8, true), n = data.getUint32(12, true), size = u64(data, 16);
  if (version < 1 || version > 3) throw fail(`version ${version} of the table of columns is not known`, 8);
  if (size > bytes.length || 32 + 64 * n > size) throw fail("the table of columns does not end within its hint", 16);
  const hash = xxh3(bytes.subarray(32, size), xxh3(bytes.subarray(0, 24)));
  if (data.getBigUint64(24, true) !== hash) throw fail("the table of columns is damaged", 24);
  const columns = new Map(), groups = [];
  for (let at = 32; at < 32 + 64 * n; at += 64) {
    const column = u64(data, at), meaning = data.getUint8(at + 8), flags = data.getUint8(at + 10), words = u64(data, at + 24);
    const zoneSize = data.getUint32(at + 12, true), zoneAt = u64(data, at + 56), type = header.types[column];
    if (column >= header.cols || meaning > 6 || data.getUint8(at + 9) > 4 || flags > (version === 3 ? 7 : 3)) throw fail("a record of a column is impossible", at);
    if (zoneSize > size - Math.min(size, zoneAt)) throw fail("a name does not end within the table of columns", at + 56);
    const zone = textOf(bytes.subarray(zoneAt, zoneAt + zoneSize)), first = u64(data, at + 32);
    if (words > 0 && first > bytes.length) throw fail("a dictionary is outside of its table", at + 32);
    const dictionary = words === 0 ? null
      : (flags & 4 ? readPackedDictionary : readDictionary)(bytes, first, words, u64(data, at + 40), data.getBigUint64(at + 48, true), fail, zstd);
    if (meaning === 6) {
      const count = u64(data, at + 16);
      if (count < 1 || count > header.cols - column || (words !== 0 && words !== count)) throw fail("a group has no or too many columns", at + 16);
      groups.push({first: column, count, name: zone, names: dictionary});
      continue;
    }
    const wanted = [null, ["u8"], ["i64"], ["i64"], ["u8", "u16", "u32"], ["u8", "u16", "u32"]][meaning];
    if (!header.isFrame || columns.has(column) || (wanted && !wanted.includes(type))) {
      throw fail(`column ${column} of type ${type} cannot be a ${MEANINGS[meaning]}`, at);
    }
    columns.set(column, {meaning: MEANINGS[meaning], unit: UNITS[data.getUint8(at + 9)], zone, ordered: (flags & 1) !== 0,
      missing: (flags & 2) !== 0 ? data.getBigUint64(at + 16, true) : null, words: meaning >= 4 ? dictionary ?? {length: 0} : null});
  }
  return {columns, groups};
}

const wide = (data, at, upper) => data.getBigUint64(at, true) | data[upper](at + 8, true) << 64n;

/** The statistics of one block, exactly: 64-bit integers and sums of integers as BigInt. */
function blockStatistics(data, at, version) {
  const type = TYPES[data.getUint8(at + 7)];
  if (!type) return null;
  const isFloat = type[0] === "f", signed = type[0] === "i";
  const method = isFloat ? "getFloat64" : signed ? "getBigInt64" : "getBigUint64", get = (offset) => data[method](at + offset, true);
  const found = {type, nonzero: data.getUint32(at, true) + (data.getUint32(at + 4, true) & 0xffffff) * 2 ** 32,
    nan: isFloat ? u64(data, at + 8) : 0, least: get(16), greatest: get(24),
    sum: isFloat ? data.getFloat64(at + 32, true) + data.getFloat64(at + 40, true) : wide(data, at + 32, "getBigInt64")};
  if (version === 1) return found;
  if (isFloat) return {...found, distances: data.getFloat64(at + 48, true), numbers: u64(data, at + 56)};
  const upper = type.endsWith("64") ? data.getBigUint64(at + 8, true) << 128n : 0n;
  return {...found, squares: wide(data, at + 48, "getBigUint64") | upper};
}

/** The content of DPL-STAT for an index: {length, of(entry number)}; null if it is of another one. */
export function readStatistics(bytes, blocks, indexHash) {
  const data = dataOf(bytes), version = bytes.length >= 64 ? u64(data, 8) : 0;
  const own = version >= 1 && version <= 2 && u64(data, 16) === blocks && data.getBigUint64(24, true) === indexHash;
  if (!own || bytes.length < 64 * (blocks + 1)) return null;
  return {length: blocks, of: (i) => blockStatistics(data, 64 * (i + 1), version)};
}

/** The content of DPL-RNAM or DPL-CNAM: {length, at(i)}, "" where a row or column has no name. */
export function readNames(bytes, count, name, place) {
  const fail = (what) => new DbdfError(name, what, place), data = dataOf(bytes);
  const [version, n, size, slots, , width] = [8, 16, 24, 32, 40, 48].map((at) => bytes.length < 64 ? 0 : u64(data, at));
  const start = 64 + width * (n + 1) + 8 * slots;
  if (version !== 1 || n !== count || (width !== 4 && width !== 8) || start + size > bytes.length) {
    throw fail("the names are cut short, or of no known version");
  }
  const offset = (i) => width === 4 ? data.getUint32(64 + 4 * i, true) : u64(data, 64 + 8 * i);
  for (let i = 0; i < n; ++i) if (offset(i + 1) < offset(i) || offset(i + 1) > size) throw fail("the names do not follow each other");
  return {length: n, at: (i) => textOf(bytes.subarray(start + offset(i), start + offset(i + 1)))};
}

/** The content of DPL-ATTR: the user's JSON object. */
export function readAttributes(bytes, name, place) {
  const fail = (what) => new DbdfError(name, what, place);
  if (bytes.length < 34 || u64(dataOf(bytes), 8) !== 1) throw fail("attributes of no known version");
  if (bytes.length - 32 > 2 ** 20) throw fail("attributes of more than 2^20 bytes");
  let value;
  try {
    value = JSON.parse(new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(bytes.subarray(32)));
  } catch {
    throw fail("the attributes are no JSON text");
  }
  const nests = (part) => part !== null && typeof part === "object";
  const tooDeep = (part, left) => nests(part) && (left === 0 || Object.values(part).some((one) => tooDeep(one, left - 1)));
  if (!nests(value) || Array.isArray(value) || tooDeep(value, 64)) throw fail("the attributes are no JSON object of at most 64 levels");
  return value;
}
