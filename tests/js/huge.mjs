// A file of any size that is nowhere: its bytes are made when they are asked for. Dense tiles of f64 with
// statistics and an index, as lib/dbdf/FORMAT.md has them; all cells of a tile are the same.
import { xxh3 } from "../../apps/viewer/reader/xxh3.js";

const OUTSIDE = 2n ** 64n - 1n, LINE = 64;

export const valueOfTile = (i, j) => Math.round(100 * Math.sin(i / 9) * Math.cos(j / 7)) + (i === j ? 60 : 0);

/** An auxiliary block of lines, whose payload starts at byte `at` of the file. */
function auxiliary(payload) {
  const head = Buffer.alloc(26);
  head.writeBigUInt64LE(OUTSIDE, 0);
  head.writeBigUInt64LE(OUTSIDE, 8);
  head.writeUInt32LE(payload.length / LINE, 16);
  head.writeUInt32LE(LINE, 20);
  head.set([1, 1], 24);
  return Buffer.concat([head, payload]);
}
const put = (buffer, numbers, at) => numbers.forEach((n, k) => buffer.writeBigUInt64LE(BigInt(n), at + 8 * k));

function lastLine({hash, total, blocks, high, wide, size}) {
  const line = Buffer.alloc(LINE);
  put(line, [hash, total, blocks, 0], 0);
  line.writeUInt32LE(high, 32);
  line.writeUInt32LE(wide, 36);
  line.writeUInt32LE(1, 40);
  line.writeUInt32LE(4, 44);  // hints
  line.writeBigUInt64LE(xxh3(line.subarray(0, 48), BigInt(size)), 48);
  line.write("DPL-TAIL", 56);
  return line;
}

/** {size, read}: `down` x `across` tiles of `high` x `wide` cells, of which `nans` are NaN as statistics tell; of tile `unknown` they tell nothing. */
export function hugeObject({down, across, high, wide, cellOf = valueOfTile, nans = 0, unknown = -1}) {
  const blocks = down * across, each = 26 + high * wide * 8, rows = down * high, cols = across * wide, body = 19 + blocks * each;
  const header = Buffer.alloc(19);
  header.set([1, 1]);
  put(header, [rows, cols], 2);
  header[18] = 10;

  const index = Buffer.alloc(LINE * (blocks + 1)), table = Buffer.alloc(LINE * (blocks + 2));
  index.write("DPL-INDX");
  put(index, [0, blocks, 0, 0, rows * cols], 8);
  put(index, [xxh3(index.subarray(0, 48)), xxh3(header)], 48);
  for (let k = 0; k < blocks; ++k) {
    const [i, j] = [Math.floor(k / across), k % across], value = cellOf(i, j), at = LINE * (k + 1), cells = high * wide, numbers = cells - nans;
    put(index, [i * high, j * wide, 19 + k * each + 16, each - 16, cells, 0], at);
    index.writeUInt32LE(high, at + 48);
    index.writeUInt32LE(wide, at + 52);
    index.set([1, 10], at + 56);
    table.writeUIntLE(value === 0 ? 0 : numbers, at, 6);
    table[at + 7] = k === unknown ? 0 : 10;
    put(table, [nans], at + 8);
    [value, value, value * numbers].forEach((v, n) => table.writeDoubleLE(v, at + 16 + 8 * n));
    put(table, [numbers], at + 56);
  }
  const hash = xxh3(index), content = LINE * (blocks + 1), tail = table.length - 40;
  table.write("DPL-STAT");
  put(table, [2, blocks, hash], 8);
  put(table, [content, xxh3(table.subarray(0, content))], tail);
  table.write("DPL-STAT", tail + 16);
  put(table, [xxh3(table.subarray(tail, tail + 32), BigInt(body + 26 + tail))], tail + 32);

  const size = body + 26 + table.length + 26 + index.length + LINE;
  const end = Buffer.concat([auxiliary(table), auxiliary(Buffer.concat([index, lastLine({hash, total: index.length + LINE, blocks, high, wide, size})]))]);
  const blockPart = (k, from, length) => {  // bytes of block k
    const [i, j] = [Math.floor(k / across), k % across], part = Buffer.alloc(length), one = Buffer.alloc(8), head = Buffer.alloc(26);
    put(head, [i * high, j * wide], 0);
    head.writeUInt32LE(high, 16);
    head.writeUInt32LE(wide, 20);
    head.set([1, 10], 24);
    one.writeDoubleLE(cellOf(i, j));
    for (let n = 0; n < length; ++n) part[n] = from + n < 26 ? head[from + n] : one[(from + n - 26) % 8];
    return part;
  };
  const partAt = (at, length) => {
    if (at < 19) return header.subarray(at, Math.min(19, at + length));
    if (at >= body) return end.subarray(at - body, at - body + length);
    const k = Math.floor((at - 19) / each), from = at - 19 - k * each;
    return blockPart(k, from, Math.min(length, each - from));
  };
  return {size, rows, cols, read(offset, length) {
    const parts = [];
    for (let at = offset; at < offset + length;) {
      parts.push(partAt(at, offset + length - at));
      at += parts.at(-1).length;
    }
    return Buffer.concat(parts);
  }};
}
