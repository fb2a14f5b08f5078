// Headers, blocks and their payloads, as lib/dbdf/FORMAT.md has them.
import { DbdfError } from "./source.js";
import { ARRAYS, dataOf, sizeOf, textOf, TYPES, u64, valuesOf } from "./values.js";
import { unpack } from "./packed.js";

/** The file's header: what it is, and where its body starts. Reads more of the source as labels need it. */
export async function readHeader(source) {
  const fail = (what, byte) => new DbdfError(source.name, what, byte);
  let bytes = await source.read(0, Math.min(source.size, 1 << 16));
  const need = async (end) => {
    if (end > source.size) throw fail("the file ends within its header", source.size);
    if (end > bytes.length) bytes = await source.read(0, Math.min(source.size, Math.max(end, 2 * bytes.length)));
  };
  await need(19 - 1);
  if (bytes[0] !== 1) throw fail(`${bytes[0]} is no version of the format; 1 is`, 0);
  if (bytes[1] < 1 || bytes[1] > 3) throw fail(`${bytes[1]} is no data type; 1 to 3 are`, 1);
  const rows = u64(dataOf(bytes), 2), cols = u64(dataOf(bytes), 10), isFrame = bytes[1] === 3;
  if (!Number.isSafeInteger(rows)) throw fail("more than 2^53 - 1 rows cannot be counted here", 2);
  if (!Number.isSafeInteger(cols)) throw fail("more than 2^53 - 1 columns cannot be counted here", 10);
  const typed = isFrame ? cols : 1;
  await need(18 + typed + (isFrame ? 2 * cols : 0));
  const types = new Array(typed);
  for (let c = 0; c < typed; ++c) {
    types[c] = TYPES[bytes[18 + c]];
    if (!types[c]) throw fail(`${bytes[18 + c]} is no value type; 1 to 10 are`, 18 + c);
  }
  let at = 18 + typed;
  const labels = isFrame ? new Array(cols) : null;
  for (let c = 0; isFrame && c < cols; ++c) {
    await need(at + 2);
    const length = dataOf(bytes).getUint16(at, true);
    await need(at + 2 + length);
    labels[c] = textOf(bytes.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return {rows, cols, isFrame, types, labels, body: at, bytes: bytes.subarray(0, at)};
}

export const HEADER = 45;  // bytes of the longest header of a block, with its position

/**
 * The block whose position is at byte `at` of the file, and data at `from`. Its `offset` and `bytes` are
 * those of its entry in an index; `payload` is how many bytes its header has, with the position.
 */
export function readBlockHeader(data, from, at, end, name) {
  const fail = (what, byte) => new DbdfError(name, what, byte);
  const has = (n) => { if (n > data.byteLength - from || n > end - at) throw fail("the file ends within a block's header", at); };
  has(25);
  const block = {rx: u64(data, from), cx: u64(data, from + 8), offset: at + 16, rows: data.getUint32(from + 16, true),
    cols: data.getUint32(from + 20, true), kind: data.getUint8(from + 24), type: 1, codec: 0, stored: 0, head: 25, bytes: 9};
  block.auxiliary = data.getBigUint64(from, true) === 2n ** 64n - 1n && data.getBigUint64(from + 8, true) === 2n ** 64n - 1n;
  if (block.kind === 0) return block;
  const encoded = block.kind === 128, typeAt = encoded ? 26 : 25;
  if (block.kind > 3 && !encoded) throw fail(`${block.kind} is no block type; 0 to 3 and 128 are`, at + 24);
  has(encoded ? HEADER : 26);
  block.type = data.getUint8(from + typeAt);
  if (!TYPES[block.type]) throw fail(`${block.type} is no value type; 1 to 10 are`, at + typeAt);
  const cells = block.rows * block.cols, size = sizeOf(TYPES[block.type]);
  if (encoded) {
    block.kind = data.getUint8(from + 25);
    block.codec = data.getUint8(from + 27);
    if (block.kind < 1 || block.kind > 3) throw fail(`${block.kind} is no kind of an encoded block; 1 to 3 are`, at + 25);
    if (block.codec === 0 || data.getUint8(from + 28) !== 0) throw fail("reserved bytes of an encoded block are used", at + 27);
    Object.assign(block, {stored: u64(data, from + 29), head: HEADER, bytes: 29 + u64(data, from + 37)});
  } else if (block.kind === 1) {
    Object.assign(block, {stored: cells, head: 26, bytes: 10 + cells * size});
  } else if (block.kind === 2) {
    has(34);
    block.stored = u64(data, from + 26);
    Object.assign(block, {head: 34, bytes: 18 + 4 * block.rows + block.stored * (4 + size)});
  } else {
    has(30);
    block.stored = data.getUint32(from + 26, true);
    Object.assign(block, {head: 30, bytes: 14 + block.stored * (block.cols === 1 ? 4 + size : 8 + size)});
  }
  if (block.bytes > end - block.offset) throw fail("a block does not end within the file", at);
  if (block.stored > cells || (block.kind === 1 && block.stored !== cells)) {
    throw fail(`${block.stored} values are not those of a block of ${cells} cells`, at + 26);
  }
  return block;
}

/** Rows, columns and values of entries that alternate in `data`: `parts` are the sizes of row and column. */
function splitEntries(bytes, at, n, hasRow, hasCol, type) {
  const data = dataOf(bytes), size = sizeOf(type), step = 4 * hasRow + 4 * hasCol + size;
  const rows = hasRow ? new Uint32Array(n) : null, cols = new Uint32Array(n), values = new Uint8Array(n * size);
  for (let i = 0; i < n; ++i, at += step) {
    if (rows) rows[i] = data.getUint32(at, true);
    if (hasCol) cols[i] = data.getUint32(at + step - size - 4, true);
    for (let b = 0, from = at + step - size; b < size; ++b) values[i * size + b] = bytes[from + b];
  }
  return {rows, cols, values: valuesOf(values, type)};
}

/** The payload of a plain CSR block as entries. */
function csrEntries(bytes, block, fail) {
  const type = TYPES[block.type], size = sizeOf(type), data = dataOf(bytes), n = block.stored;
  const rows = new Uint32Array(n), cols = new Uint32Array(n), values = new Uint8Array(n * size);
  let at = 0, i = 0;
  for (let row = 0; row < block.rows; ++row) {
    const count = data.getUint32(at, true), end = i + count;
    if (end > n) throw fail(`rows have more than the ${n} entries of their block`, at);
    for (at += 4; i < end; ++i, at += 4 + size) {
      rows[i] = row;
      cols[i] = data.getUint32(at, true);
      for (let b = 0; b < size; ++b) values[i * size + b] = bytes[at + 4 + b];
    }
  }
  if (i !== n) throw fail(`rows have ${i} entries, their block ${n}`, at);
  return {rows, cols, values: valuesOf(values, type)};
}

/** Entries are inside their block, and no cell occurs twice. */
function checkEntries({rows, cols}, block, fail) {
  let ascending = true;
  for (let i = 0; i < rows.length; ++i) {
    if (rows[i] >= block.rows || cols[i] >= block.cols) {
      throw fail(`entry ${i}, (${rows[i]}, ${cols[i]}), is outside of its block of ${block.rows} x ${block.cols}`, 0);
    }
    if (i > 0 && (rows[i] < rows[i - 1] || (rows[i] === rows[i - 1] && cols[i] <= cols[i - 1]))) ascending = false;
  }
  if (ascending) return;
  const order = Uint32Array.from(rows.keys()).sort((a, b) => rows[a] - rows[b] || cols[a] - cols[b]);
  for (let i = 1; i < order.length; ++i) {
    const a = order[i - 1], b = order[i];
    if (rows[a] === rows[b] && cols[a] === cols[b]) throw fail(`the cell (${rows[a]}, ${cols[a]}) of the block occurs twice`, 0);
  }
}

/**
 * What a block stores: {values} of all cells, row after row, or {rows, cols, values} of its entries,
 * counted from the block's first cell. `bytes` are those after its header.
 */
export function decodeBlock(block, bytes, name, options) {
  const fail = (what, at) => new DbdfError(name, what, block.offset - 16 + block.head + at);
  const type = TYPES[block.type];
  if (block.kind === 0) return {rows: new Uint32Array(0), cols: new Uint32Array(0), values: new ARRAYS[type](0)};
  let found;
  if (block.codec === 1) found = unpack(block, bytes, fail, options);
  else if (block.codec !== 0) throw new DbdfError(name, `blocks of codec ${block.codec} cannot be decoded here`, block.offset + 11);
  else if (block.kind === 1) found = {values: valuesOf(bytes, type)};
  else if (block.kind === 2) found = csrEntries(bytes, block, fail);
  else found = splitEntries(bytes, 0, block.stored, true, block.cols !== 1, type);
  if (found.rows) checkEntries(found, block, fail);
  return found;
}
