// Files that other programs and earlier releases wrote, cell by cell.
import { readdirSync, readFileSync } from "node:fs";
import { open } from "../../apps/viewer/reader/dbdf.js";
import { cellText, golden, goldenCells, refused, same, test } from "./common.mjs";

const valid = golden + "dbdf/valid/", damaged = golden + "dbdf/damaged/";
const dbdf = (folder) => readdirSync(folder).filter((name) => name.endsWith(".dbdf"));

async function compare(file, wanted) {
  const {head} = wanted;
  same(file.isFrame ? "Frame" : file.header.bytes[1] === 1 ? "DenseMatrix" : "CSRMatrix", head.kind, "kind");
  same(file.rows, head.rows, "rows");
  same(file.cols, head.cols, "columns");
  wanted.cols.forEach(({type, label}, c) => {
    same(file.types[c], type, `type of column ${c}`);
    same(file.labels[c], label, `label of column ${c}`);
  });
  if (!file.isFrame) same(file.type, head.type, "type");
  if (wanted.uncovered > 0) same((await refused(() => file.read())).message.includes("no block"), true, "absent cells");
  const found = await file.read({}, {absent: 0});
  const zero = (type) => type.startsWith("f") ? "0".repeat(type === "f32" ? 8 : 16) : "0";
  for (let row = 0; row < file.rows; ++row) {
    for (let col = 0; col < file.cols; ++col) {
      const text = file.isFrame ? cellText(found[col], row) : cellText(found, row * file.cols + col);
      same(text, wanted.cells.get(`${row} ${col}`) ?? zero(file.isFrame ? file.types[col] : file.type), `cell (${row}, ${col})`);
    }
  }
}

for (const name of dbdf(valid)) {
  const bytes = readFileSync(valid + name), wanted = goldenCells(`${valid}${name}.cells.txt`);
  await test(`golden ${name}`, async () => compare(await open(bytes), wanted));
  await test(`golden ${name} as a Blob`, async () => compare(await open(new Blob([bytes])), wanted));
}
for (const name of dbdf(damaged)) {
  await test(`damaged ${name}`, async () => {
    const error = await refused(async () => (await open(readFileSync(damaged + name), {name})).read({}, {absent: 0}));
    same(error.name, "DbdfError", error.stack);
    same(error.message.startsWith(`${name}, byte `), true, error.message);
  });
}

/** Rows and fields of a CSV text. */
function fieldsOf(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/g)) {
    rows.at(-1).push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === "\n") rows.push([]);
    if (end === "") break;
  }
  return rows.filter((row) => row.length > 1 || row[0] !== "");
}

for (const release of ["dapple-0.1/", "dapple-0.2/"]) {
  for (const name of dbdf(golden + release)) {
    await test(`${release}${name}`, async () => {
      const file = await open(readFileSync(golden + release + name));
      const rows = fieldsOf(readFileSync(`${golden}${release}${name.replace(".dbdf", ".csv")}`, "utf8"));
      if (file.isFrame) same(rows.shift().join(), file.labels.join(), "labels");
      same(file.rows, rows.length, "rows");
      const columns = file.isFrame ? await Promise.all(file.labels.map((_, c) => file.column(c, {text: true}))) : null;
      const cells = file.isFrame ? null : await file.read();
      rows.forEach((row, r) => row.forEach((field, c) => {
        const got = columns ? columns[c][r] ?? "" : String(cells[r * file.cols + c]);
        same(got, field, `cell (${r}, ${c})`);
      }));
    });
  }
}
