// What the tests of the reader share: counting, comparing, and the golden cells of a file.
import { readFileSync } from "node:fs";
export const [, , dapple, folder, cellsText] = process.argv;
export const CELLS = Number(cellsText);
export const golden = new URL("../golden/", import.meta.url).pathname;

let passed = 0, failed = 0;
export async function test(name, run) {
  try {
    await run();
    ++passed;
  } catch (error) {
    ++failed;
    console.log(`${name}: failed\n${error.stack}`);
  }
}
export function finish() {
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed ? 1 : 0;
}
export function same(got, wanted, what) {
  if (!Object.is(got, wanted)) throw new Error(`${what}: ${String(wanted)} is wanted, not ${String(got)}`);
}
/** The message of the error that `run` ends with. */
export async function refused(run) {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was refused");
}

/** Value i of an array as tests/golden writes it: decimal, or the bits of a float. */
export function cellText(array, i) {
  if (!(array instanceof Float32Array || array instanceof Float64Array)) return String(array[i]);
  const size = array.BYTES_PER_ELEMENT, bytes = new Uint8Array(array.buffer, array.byteOffset + i * size, size);
  return Buffer.from(bytes).reverse().toString("hex");
}

/** A golden list of cells: {head, labels, uncovered, cells}, the latter by "row col". */
export function goldenCells(path) {
  const found = {head: null, cols: [], uncovered: 0, cells: new Map()};
  for (const line of readFileSync(path, "utf8").trimEnd().split("\n")) {
    const words = line.split(" ");
    if (words[0] === "c") found.cells.set(`${words[1]} ${words[2]}`, words[3]);
    else if (words[0] === "col") found.cols.push({type: words[3], label: words[5] === "-" ? "" : Buffer.from(words[5], "hex").toString()});
    else if (words[0] === "uncovered") found.uncovered = Number(words[1]);
    else found.head = {kind: words[2], rows: Number(words[4]), cols: Number(words[6]), type: words[8]};
  }
  return found;
}
