// The trailer of an index, which blocks may be together, and a walk over them.
import { HEADER, readBlockHeader } from "./format.js";
import { DbdfError } from "./source.js";
import { dataOf, u64 } from "./values.js";
import { xxh3 } from "./xxh3.js";

export const LINE = 64, BEFORE = 26;  // of an index; position and header of an auxiliary block

/** The trailer of an index at the end of a file of `size` bytes; null if there is none that can be used. */
export function readTrailer(bytes, size, header) {
  const data = dataOf(bytes), flags = data.getUint32(44, true);
  if (String.fromCharCode(...bytes.subarray(56)) !== "DPL-TAIL" || data.getUint32(40, true) !== 1 || flags > 15) return null;
  if (data.getBigUint64(48, true) !== xxh3(bytes.subarray(0, 48), BigInt(size))) return null;
  const blocks = u64(data, 16), treeWords = u64(data, 24), total = u64(data, 8), tile = [data.getUint32(32, true), data.getUint32(36, true)];
  const rest = 8 * ((flags & 1 ? blocks : 0) + treeWords);
  if (total !== 2 * LINE + LINE * blocks + LINE * Math.ceil(rest / LINE) || total > size - header.body - BEFORE) return null;
  const across = Math.ceil(header.cols / tile[1]), down = Math.ceil(header.rows / tile[0]);
  const regular = tile[0] > 0 && tile[1] > 0 && across * down === blocks;
  return {blocks, start: size - total, end: size, hash: data.getBigUint64(0, true), hints: (flags & 4) !== 0, names: (flags & 8) !== 0,
    tiling: regular ? {rows: tile[0], cols: tile[1], down, across} : null};
}

/** Refuses blocks that share a cell: going down, those that cross a row are kept in order of their columns. */
export function refuseOverlaps(entries, name) {
  const events = entries.filter((e) => e.rows > 0 && e.cols > 0)
    .flatMap((e) => [[e.rx, 1, e], [e.rx + e.rows, 0, e]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const crossing = [];
  for (const [, begins, e] of events) {
    let low = 0;
    for (let high = crossing.length; low < high;) {
      const middle = low + high >> 1;
      if (crossing[middle].cx < e.cx) low = middle + 1; else high = middle;
    }
    if (!begins) {
      crossing.splice(low, 1);
      continue;
    }
    const before = crossing[low - 1], after = crossing[low];
    if ((before && before.cx + before.cols > e.cx) || (after && e.cx + e.cols > after.cx)) {
      throw new DbdfError(name, `the block at (${e.rx}, ${e.cx}) shares cells with another one`, e.offset - 16);
    }
    crossing.splice(low, 0, e);
  }
}

/** The blocks of a file's body, from their headers: {entries, auxiliary}. */
export async function walkBody(file) {
  const {source, options, index} = file, most = options.walk ?? (source.requests === undefined ? Infinity : 2000), end = source.size;
  const entries = [], auxiliary = [];
  if (index?.blocks > most) {
    throw file.fail(`its index has no block of some cells, and more than ${most} of others, at which to look takes a request each`);
  }
  for (let at = file.header.body; at < end;) {
    const bytes = await source.read(at, Math.min(HEADER, end - at));
    const block = readBlockHeader(dataOf(bytes), 0, at, end, file.name);
    at = block.offset + block.bytes;
    if (block.auxiliary) {
      if (block.kind !== 1 || block.type !== 1 || block.codec) {
        throw file.fail("an auxiliary block is not one of plain u8", block.offset + 8);
      }
      if (block.cols === LINE) auxiliary.push(block);
      continue;
    }
    if (block.rows === 0 || block.cols === 0) continue;
    file.requireInside(block);
    if (entries.push({...block, hash: 0n, number: entries.length}) > most) {
      throw file.fail(`it has no index, and more than ${most} blocks, which take a request each; "dapple convert" writes one`);
    }
  }
  refuseOverlaps(entries, file.name);
  return {entries, auxiliary};
}
