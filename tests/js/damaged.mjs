// Bytes of sound files, changed or cut off: the cells are right, or there is an error that says where.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { open } from "../../apps/viewer/reader/dbdf.js";
import { CELLS, dapple, folder, refused, same, test } from "./common.mjs";
import { writeNpy } from "./made.mjs";

const npy = `${folder}/damaged.npy`, file = `${folder}/damaged.dbdf`, each = CELLS > 300000 ? 1 : 7;
const convert = (...flags) => {
  execFileSync(dapple, ["convert", ...flags, file, "--force", "-q"]);
  return readFileSync(file);
};
const values = Float64Array.from({length: 600}, (_, i) => i % 5 === 0 ? 0 : i % 7 / 4);
writeNpy(npy, "f8", 20, 30, values);
writeFileSync(`${folder}/damaged.csv`, "word,when,flag,x\n" + Array.from({length: 60}, (_, i) =>
  `w${i % 7},2024-01-${10 + i % 20},${i % 3 ? i % 3 === 1 : ""},${i % 4 ? i / 8 : ""}\n`).join(""));
const FILES = {
  dense: () => convert(npy, "--tile", "7x30", "--kind", "dense"),
  csr: () => convert(npy, "--kind", "csr", "--tile", "11x16"),
  coo: () => convert(npy, "--kind", "coo"),
  packed: () => convert(npy, "--pack", "--tile", "10x30"),
  frame: () => convert(`${folder}/damaged.csv`, "--attribute", "unit=mm"),
};

/** All that a file says of its cells, as text. */
async function textOf(bytes) {
  const opened = await open(bytes, {name: "damaged"});
  await opened.statistics();
  if (!opened.isFrame) return [opened.rows, opened.cols, opened.type, await opened.read()].join();
  const columns = await Promise.all(opened.labels.map((_, c) => opened.column(c, {text: true})));
  return JSON.stringify([await opened.attributes(), opened.columns.map(({words, ...rest}) => rest), columns],
    (_, value) => typeof value === "bigint" ? String(value) : value);
}

async function rightOrRefused(bytes, wanted, what) {
  let got;
  try {
    got = await textOf(bytes);
  } catch (error) {
    same(error.name, "DbdfError", `${what}: ${error.stack}`);
    return 1;
  }
  if (got !== wanted) throw new Error(`${what}: other cells`);
  return 0;
}

for (const [name, make] of Object.entries(FILES)) {
  await test(`damaged: ${name}`, async () => {
    const sound = make(), wanted = await textOf(sound);
    let refused = 0, right = 0;
    for (let at = 0; at < sound.length; at += at < 200 || at > sound.length - 1200 ? 1 : each) {
      for (const change of [1, 0x80, 0xff]) {
        const bytes = Buffer.from(sound);
        bytes[at] ^= change;
        if (await rightOrRefused(bytes, wanted, `byte ${at} ^ ${change}`)) ++refused; else ++right;
      }
    }
    same(refused > 100 && right > 100, true, `${refused} refused, ${right} right`);
    for (let size = 0; size < sound.length; size += each) {
      const bytes = sound.subarray(0, size);
      let got = null;
      try { got = await textOf(bytes); } catch (error) { same(error.name, "DbdfError", `cut at ${size}: ${error.stack}`); }
      // Without their meanings, which come last, columns are numbers, and nothing shows that they were not.
      if (got !== null && name !== "frame") same(got, wanted, `cut at ${size}`);
    }
  });
}

await test("damaged: what is read while the body is walked, and after a walk that failed", async () => {
  const sound = convert(npy, "--tile", "5x5", "--kind", "dense"), whole = await open(sound), broken = Buffer.from(sound);
  broken[(await whole.entry(whole.tiling.across)).offset + 8] = 77;  // the tile at (5, 0)
  writeFileSync(file, broken);
  const repaired = `${folder}/repaired.dbdf`;
  spawnSync(dapple, ["repair", file, "-o", repaired, "--force", "-q"]);  // which says that a block is lost
  const bytes = readFileSync(repaired), wanted = values.slice();
  for (let row = 5; row < 10; ++row) wanted.fill(0, row * 30, row * 30 + 5);
  let fails = false, reads = 0;
  const wait = () => new Promise((resolve) => setTimeout(resolve, 2));
  const source = {size: bytes.length, async read(offset, length) {
    ++reads;
    await wait();
    if (fails && length === 45) throw new Error("the network is down");
    return new Uint8Array(bytes.subarray(offset, offset + length));
  }};
  const opened = await open(source), read = async () => same((await opened.read({}, {absent: 0})).join(), wanted.join(), "cells");
  fails = true;
  let message = "";
  await read().catch((error) => { message = error.message; });
  same(message, "the network is down", "the walk");
  fails = false;
  const many = [read()];
  for (let k = 0; k < 5; ++k) { await wait(); many.push(read()); }
  await Promise.all(many);
  await read();
  const short = await open(source, {walk: 22}), before = reads;
  same((await refused(() => short.read({}, {absent: 0}))).message.includes("more than 22"), true, "a walk that would be too long");
  same(reads, before, "reads of what is not walked over");
});
