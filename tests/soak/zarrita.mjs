// What zarrita.sh reads and compares: `make` writes the files, `compare ADDRESS` holds all cells against NAME.json.
import { readFileSync, writeFileSync } from "node:fs";

const ROWS = 53, COLS = 29;

function make() {
  const cell = (r, c) => ((r * 31 + c * 17) % 97) / 4 - 3;
  const rows = [...Array(ROWS).keys()], cols = [...Array(COLS).keys()];
  writeFileSync("dense.csv", rows.map((r) => cols.map((c) => cell(r, c)).join(",")).join("\n") + "\n");
  writeFileSync("words.csv", "name,size\n" + rows.map((r) => `w${r % 5},${r * r}`).join("\n") + "\n");
  const stored = rows.flatMap((r) => cols.filter((c) => (r * c) % 7 === 3).map((c) => `${r + 1} ${c + 1} ${r + c + 1}`));
  writeFileSync("sparse.mtx", ["%%MatrixMarket matrix coordinate integer general", `${ROWS} ${COLS} ${stored.length}`,
    ...stored].join("\n") + "\n");
}

/** The rows that `dapple get --json` printed. */
const expected = (name) => readFileSync(`${name}.json`, "utf8").trim().split("\n").map((line) => JSON.parse(line));

function require_equal(name, got, wanted) {
  if (got.length !== wanted.length) throw new Error(`${name}: ${got.length} cells, not ${wanted.length}`);
  for (let i = 0; i < wanted.length; i++) {
    const cell = typeof got[i] === "bigint" ? Number(got[i]) : got[i];
    if (cell !== wanted[i]) throw new Error(`${name}: cell ${i} is ${got[i]}, not ${wanted[i]}`);
  }
}

async function compare(address) {
  const zarr = await import("zarrita");
  const root = zarr.root(new zarr.FetchStore(address));
  let cells = 0;
  for (const name of ["dense", "sparse", "packed", "set"]) {
    const wanted = expected(name);
    const array = await zarr.open.v3(root.resolve(name), { kind: "array" });
    const all = await zarr.get(array);
    require_equal(name, all.data, wanted.flat());
    const part = await zarr.get(array, [zarr.slice(5, 41), zarr.slice(3, 27)]);
    require_equal(`${name}, a part`, part.data, wanted.slice(5, 41).flatMap((row) => row.slice(3, 27)));
    cells += all.data.length + part.data.length;
  }
  const frame = expected("words");
  for (const label of ["name", "size"]) {
    const column = await zarr.get(await zarr.open.v3(root.resolve(`words/${label}`), { kind: "array" }));
    require_equal(label, column.data, frame.map((row) => row[label]));
    cells += column.data.length;
  }
  console.log(`${cells} cells are those of dapple get`);
}

await (process.argv[2] === "make" ? make() : compare(process.argv[3]));
