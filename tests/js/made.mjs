// Files that dapple makes of cells known here: each kind of block, value type, tiling and packing; frames;
// statistics, attributes, names.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import zlib from "node:zlib";
import { open } from "../../apps/viewer/reader/dbdf.js";
import { CELLS, dapple, folder, refused, same, test } from "./common.mjs";

const run = (...args) => execFileSync(dapple, args, {stdio: ["ignore", "pipe", "pipe"], encoding: "utf8"});
let state = 88172645463325252n;
/** 32 random bits (xorshift). */
function random() {
  state ^= BigInt.asUintN(64, state << 13n);
  state ^= state >> 7n;
  state ^= BigInt.asUintN(64, state << 17n);
  return Number(state & 0xffffffffn);
}

const TYPES = {u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, u8: BigUint64Array, i1: Int8Array, i2: Int16Array,
  i4: Int32Array, i8: BigInt64Array, f4: Float32Array, f8: Float64Array};
const isWide = (type) => type === "u8" || type === "i8";

export function writeNpy(path, type, rows, cols, values) {
  const text = `{'descr': '${type.endsWith("1") ? "|" : "<"}${type}', 'fortran_order': False, 'shape': (${rows}, ${cols}), }`;
  const head = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + "\n", size = Buffer.alloc(2);
  size.writeUInt16LE(head.length);
  writeFileSync(path, Buffer.concat([Buffer.from("\x93NUMPY\x01\x00", "latin1"), size, Buffer.from(head, "latin1"),
    Buffer.from(values.buffer, values.byteOffset, values.byteLength)]));
}

/** What cells may be like: a number for each, made out of random bits. */
const PATTERNS = {
  noise: (type, r) => type[0] === "f" ? (r - 2 ** 31) * 1.1 ** (r % 300 - 150) : r * 977,
  small: (_, r) => r % 90,
  ascending: (_, r, i) => i * 3 + r % 4,
  jumps: (_, r, i) => r % 50 === 0 ? r : i % 11,
  words: (type, r) => [1, 500, -3, 2 ** 31 - 1, type[0] === "f" ? 0.1 : 77][r % 5],
  decimals: (type, r) => type[0] === "f" ? (r % 200000 - 100000) / 100 : r % 1000 - 500,
  sparse: (_, r) => r % 20 === 0 ? r % 1000 - 500 : 0,
  rare: (_, r) => r % 400 === 0 ? r : 0,
  constant: () => 7,
};
const FLAGS = [["--tile", "117x61"], ["--pack", "--tile", "64x500"], ["--pack"], ["--kind", "csr", "--pack"],
  ["--kind", "coo", "--tile", "90x90"], ["--kind", "coo", "--pack"], ["--no-narrow", "--kind", "dense"], ["--plain"],
  ["--pack", "--tile", "2000x8"]];

async function sameCells(file, wanted, rows, cols) {
  same(file.rows, rows, "rows");
  same(file.cols, cols, "columns");
  const found = await file.read(), bits = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  same(found.constructor.name, wanted.constructor.name, "type");
  if (!bits(found).equals(bits(wanted))) {
    const i = wanted.findIndex((value, k) => !Object.is(value, found[k]));
    throw new Error(`cell ${i}: ${wanted[i]} is wanted, not ${found[i]}`);
  }
  const part = {rows: [rows >> 2, (rows >> 1) + 1], cols: [cols >> 1, cols - 1]}, some = await file.read(part);
  for (let r = part.rows[0], k = 0; r < part.rows[1]; ++r) {
    for (let c = part.cols[0]; c < part.cols[1]; ++c, ++k) same(some[k], wanted[r * cols + c], `cell (${r}, ${c}) of a part`);
  }
}

let withStatistics = 0;
/** What statistics of blocks add up to is so of the cells. */
async function sameStatistics(file, statistics, wanted) {
  ++withStatistics;
  const sums = {nonzero: 0, least: Infinity, greatest: -Infinity, sum: null, squares: 0n};
  for (let i = 0; i < statistics.length; ++i) {
    const s = statistics.of(i), e = await file.entry(i), zero = e.stored < e.rows * e.cols;
    sums.nonzero += s.nonzero;
    if (zero || s.least <= s.greatest) {
      sums.least = Math.min(sums.least, Number(zero && !(s.least < 0) ? 0 : s.least));
      sums.greatest = Math.max(sums.greatest, Number(zero && !(s.greatest > 0) ? 0 : s.greatest));
    }
    sums.sum = sums.sum === null ? Number(s.sum) : sums.sum + Number(s.sum);
    if (s.squares !== undefined && typeof sums.squares === "bigint") sums.squares += s.squares; else if (e.stored) sums.squares = null;
  }
  const own = Array.from(wanted);
  same(sums.nonzero, own.filter((value) => Number(value) !== 0).length, "values that are not zero");
  same(sums.least, own.reduce((least, value) => Math.min(least, Number(value)), Infinity), "least");
  same(sums.greatest, own.reduce((most, value) => Math.max(most, Number(value)), -Infinity), "greatest");
  const total = own.reduce((sum, value) => sum + Number(value), 0);
  same(Math.abs(sums.sum - total) <= 1e-9 * own.reduce((sum, value) => sum + Math.abs(Number(value)), 0), true, `sum ${sums.sum}, not ${total}`);
  if (sums.squares !== null) same(sums.squares, own.reduce((sum, value) => sum + BigInt(value) ** 2n, 0n), "sum of squares");
}

const cols = 251, rows = Math.ceil(CELLS / cols), npy = `${folder}/made.npy`, made = `${folder}/made.dbdf`;
let number = 0;
for (const [name, cellOf] of Object.entries(PATTERNS)) {
  for (const type of Object.keys(TYPES).filter((_, k) => (k + number) % 3 === 0 || CELLS > 300000)) {
    const flags = FLAGS[number++ % FLAGS.length];
    await test(`${name} ${type} ${flags.join(" ")}`, async () => {
      const values = new TYPES[type](rows * cols);
      for (let i = 0; i < values.length; ++i) {
        const value = cellOf(type, random(), i);
        values[i] = isWide(type) ? BigInt(value) * (name === "noise" ? 4294967311n : 1n) : value;
      }
      writeNpy(npy, type, rows, cols, values);
      run("convert", npy, made, "--force", "-q", ...flags);
      const zstd = zlib.zstdDecompressSync, file = await open(readFileSync(made), {zstd});
      try {
        await sameCells(file, values, rows, cols);
      } catch (error) {  // columns may be packed with zstd, which early versions of node lack
        if (!zstd && flags.includes("--pack") && error.message.includes("for which open() needs a decompressor")) return;
        throw error;
      }
      const statistics = await file.statistics();
      if (statistics) await sameStatistics(file, statistics, values);
    });
  }
}
await test("statistics: some of these files have them", async () => same(withStatistics > 5, true, withStatistics));

const frame = `${folder}/frame.dbdf`;
await test("a frame: words, times, truth values, missing cells, packed and not", async () => {
  const lines = ["n,word,kind,when,day,took,flag,share,wide"], wanted = [];
  for (let i = 0; i < Math.min(CELLS / 10, 40000); ++i) {
    const r = random(), time = new Date((r - 2 ** 31) * 1000 + r % 1000), gone = (text, one) => r % 13 === one ? "" : text;
    const fields = [String(i), gone(`w\u00fcrd ${r % 99991}`, 1), gone(["a", "b", "c"][r % 3], 2), gone(time.toISOString().slice(0, 23), 3),
      gone(time.toISOString().slice(0, 10), 4), gone(`${String(r % 70).padStart(2, "0")}:${String(r % 60).padStart(2, "0")}:00.250`, 5),
      gone(String(r % 2 === 0), 6), gone(String((r % 4001 - 2000) / 8), 7), gone(String(BigInt(r) * 2147483647n - 2n ** 61n), 8)];
    lines.push(fields.join());
    wanted.push(fields);
  }
  writeFileSync(`${folder}/frame.csv`, lines.join("\n") + "\n");
  for (const flags of [[], ["--pack"], ["--tile", "1000x2"]]) {
    run("convert", `${folder}/frame.csv`, frame, "--type", "took=duration", "--force", "-q", ...flags);
    const zstd = zlib.zstdDecompressSync, file = await open(readFileSync(frame), {zstd});
    for (const c of file.labels.keys()) {
      if (file.labels[c] === "word" && flags[0] === "--pack" && !zstd) {
        same((await refused(() => file.column(c, {text: true}))).message.includes("decompressor"), true, "told");
        continue;
      }
      (await file.column(c, {text: true})).forEach((text, r) => same(text ?? "", wanted[r][c], `${file.labels[c]}, row ${r}`));
    }
    same(file.columns[2].meaning, "category", "meaning");
    same((await file.column("flag", {rows: [5, 6]}))[0], wanted[5][6] === "" ? null : wanted[5][6] === "true", "a truth value");
    same((await file.column("when", {rows: [5, 6]}))[0], wanted[5][3] === "" ? null : BigInt(Date.parse(wanted[5][3] + "Z")), "ticks");
    if (flags[0] !== "--pack" || zstd) same((await file.column("word", {rows: [5, 6]}))[0], wanted[5][1] || null, "a word");
  }
});

/** A frame of one column of each type, {bytes, labels, cells}, a dense block each, with a label of some letters. */
function plainFrame(letters) {
  const types = Object.values(TYPES), labels = types.map((_, c) => "x".repeat((letters + c) % 5)), rows = 3;
  const head = Buffer.alloc(18 + types.length);
  head.set([1, 3]);
  head.writeBigUInt64LE(BigInt(rows), 2);
  head.writeBigUInt64LE(BigInt(types.length), 10);
  types.forEach((_, c) => { head[18 + c] = c + 1; });
  const parts = [head, ...labels.flatMap((label) => [Buffer.from([label.length, 0]), Buffer.from(label)])];
  const cells = types.map((ARRAY, c) => ARRAY.from([c, 7, 100], ARRAY === BigInt64Array || ARRAY === BigUint64Array ? BigInt : Number));
  cells.forEach((values, c) => {
    const block = Buffer.alloc(26);
    block.writeBigUInt64LE(BigInt(c), 8);
    block.writeUInt32LE(rows, 16);
    block.writeUInt32LE(1, 20);
    block.set([1, c + 1], 24);
    parts.push(block, Buffer.from(values.buffer));
  });
  return {bytes: Buffer.concat(parts), labels, cells};
}

await test("a frame of many blocks is read without a look at all columns for each, its labels once", async () => {
  const many = 300, csv = `${folder}/many.csv`, numbers = Array.from({length: many}, (_, c) => c);
  writeFileSync(csv, `${numbers.map((c) => `c${c % 200}`)}\n${numbers.map((c) => c % 2 ? c + 0.5 : c)}\n`);
  run("convert", csv, `${folder}/many.dbdf`, "-q", "--no-narrow");
  const file = await open(readFileSync(`${folder}/many.dbdf`), {name: "many"});
  same((await file.counts()).total, many, "blocks");
  const buffer = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), "buffer");
  let looks = 0;  // at the memory of arrays, of which cells are moved by their bits
  Object.defineProperty(Object.getPrototypeOf(Uint8Array.prototype), "buffer",
    {...buffer, get() { ++looks; return buffer.get.call(this); }});
  try {
    const found = await file.read({cols: [0, many]});
    found.forEach((column, c) => same(column[0], c % 2 ? c + 0.5 : typeof column[0] === "bigint" ? BigInt(c) : c, `column ${c}`));
  } finally {
    Object.defineProperty(Object.getPrototypeOf(Uint8Array.prototype), "buffer", buffer);
  }
  same(looks < 100 * many, true, `${looks} looks`);
  file.labels.indexOf = () => { throw new Error("all labels were looked at"); };
  same((await file.column("c199"))[0], 199.5, "by its label");
  same(Number((await file.column("c98"))[0]), 98, "the first of two of a label");
});

await test("a frame at any place of a buffer of any length", async () => {
  for (let letters = 0; letters < 8; ++letters) {
    const {bytes, labels, cells} = plainFrame(letters);
    for (let k = 0; k < 64; ++k) {
      const at = k >> 3, buffer = new Uint8Array(at + bytes.length + k % 8);
      buffer.set(bytes, at);
      const file = await open(buffer.subarray(at, at + bytes.length));
      same(file.labels.join(), labels.join(), "labels");
      (await file.read()).forEach((column, c) => same(column.join(), cells[c].join(), `column ${c} at ${at} of ${buffer.length} bytes`));
      for (const c of cells.keys()) same((await file.column(c)).join(), cells[c].join(), `column ${c}`);
    }
  }
});

await test("texts that start with U+FEFF keep it", async () => {
  const mark = "\ufeff", marked = `${folder}/marked.dbdf`;
  writeFileSync(`${folder}/marked.csv`, `a,${mark}b,c\n1,${mark}x,${mark}y\n2,x,y\n`);
  run("convert", `${folder}/marked.csv`, marked, "--force", "-q", "--type", "c=text");
  const file = await open(readFileSync(marked));
  same(JSON.stringify(file.labels), JSON.stringify(["a", `${mark}b`, "c"]), "labels");
  for (const [c, word] of [[1, "x"], [2, "y"]]) same((await file.column(c)).join(), `${mark}${word},${word}`, "words");
  writeFileSync(`${folder}/marked.txt`, `r1\n${mark}r1\n`);
  writeNpy(`${folder}/marked.npy`, "i4", 2, 1, Int32Array.of(1, 2));
  run("convert", `${folder}/marked.npy`, marked, "--force", "-q", "--row-names-file", `${folder}/marked.txt`);
  same((await (await open(readFileSync(marked))).names()).at(1), `${mark}r1`, "a name");
});

await test("a source of the caller's that gives other bytes than were asked for", async () => {
  const {bytes} = plainFrame(0), size = bytes.length;
  for (const read of [(at, n) => bytes.subarray(at, at + n - 1), (at, n) => Buffer.alloc(n + 1), () => null,
    (at, n) => bytes.buffer.slice(at, at + n)]) {
    const error = await refused(() => open({name: "mine", size, read}));
    same(`${error.name} ${error.file} ${error.byte}`, "DbdfError mine 0", error.message);
  }
  same((await open({size, read: async (at, n) => bytes.subarray(at, at + n)})).rows, 3, "rows");
  for (const nothing of [undefined, null, {size: -1, read() {}}]) same((await refused(() => open(nothing))).name, "TypeError", "nothing");
});

await test("attributes", async () => {
  run("convert", npy, made, "--force", "-q", "--attribute", "run=12", "--attribute", 'units="mm"', "--attribute", "deep=[[1,{}]]");
  const attributes = await (await open(readFileSync(made))).attributes();
  same(JSON.stringify(Object.entries(attributes).sort()), '[["deep",[[1,{}]]],["run",12],["units","mm"]]', "attributes");
  same(JSON.stringify(await (await open(readFileSync(frame))).attributes()), "{}", "none");
});

await test("names of rows and columns", async () => {
  const lines = (count, nameOf) => Array.from({length: count}, (_, i) => nameOf(i)).join("\n") + "\n", nameOf = (r) => `r\u00f6w ${r}`;
  writeFileSync(`${folder}/rows.txt`, lines(rows, nameOf));
  writeFileSync(`${folder}/cols.txt`, lines(cols, (c) => `c${c * c}`));
  run("convert", npy, made, "--force", "-q", "--row-names-file", `${folder}/rows.txt`, "--col-names-file", `${folder}/cols.txt`);
  const file = await open(readFileSync(made)), named = await file.names(), across = await file.names("columns");
  same(`${named.length} ${across.length}`, `${rows} ${cols}`, "how many");
  for (let r = 0; r < rows; ++r) same(named.at(r), nameOf(r), `row ${r}`);
  for (let c = 0; c < cols; ++c) same(across.at(c), `c${c * c}`, `column ${c}`);
  same(await (await open(readFileSync(frame))).names(), null, "none");
});

await test("64-bit integers as numbers, where numbers hold them", async () => {
  writeNpy(npy, "i8", 1, 3, BigInt64Array.of(1n, -(2n ** 53n), 2n ** 53n + 2n));
  run("convert", npy, made, "--force", "-q");
  same((await (await open(readFileSync(made))).read({}, {numbers: true})).join(), "1,-9007199254740992,9007199254740994", "numbers");
  writeNpy(npy, "i8", 1, 2, BigInt64Array.of(1n, 2n ** 53n + 1n));
  run("convert", npy, made, "--force", "-q");
  same((await refused(async () => (await open(readFileSync(made))).read({}, {numbers: true}))).message.includes("9007199254740993"), true, "refused");
});
