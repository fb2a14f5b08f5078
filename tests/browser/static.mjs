// The page without a server of ours: files at addresses, read by the page itself. pages.mjs runs this.
import { execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { hugeObject, valueOfTile } from "../js/huge.mjs";
import { bytesObject, serveRanges } from "../js/server.mjs";
import { browser, dapple, everything, folder, goTo, ready, same, shot, test, viewer } from "./common.mjs";

const html = readFileSync(viewer, "utf8"), files = {"view.html": html};
const CORS = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Content-Range, ETag"};

async function open(object, run, {options = {}, name = "m.dbdf", elsewhere = false} = {}) {
  const server = await serveRanges(object, {files, name, ...options});
  const other = await serveRanges(bytesObject(Buffer.alloc(0)), {files});
  const page = await browser.newPage({viewport: {width: 1000, height: 700}}), complaints = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.stack));
  try {
    await page.goto(elsewhere ? `${other.base}view.html?x=${encodeURIComponent(server.url)}` : `${server.base}view.html?x=${name}`);
    await run(page, server.log, complaints);
  } finally {
    await page.close();
    server.close();
    other.close();
  }
}

await test("static: the page is small", async () => same(html.length < 150000, true, `${html.length} bytes`));

await test("static: a first picture of 107 GB in three requests and a megabyte", () =>
  open(hugeObject({down: 80, across: 80, high: 2048, wide: 1024}), async (page, log, complaints) => {
    await ready(page);
    await shot(page, "static-huge");
    same(log.requests <= 3 && log.bytes <= 1e6, true, `${log.requests} requests, ${log.bytes} bytes`);
    console.log(`# first picture of 107 GB: ${log.requests} requests, ${log.bytes} bytes`);
    same((await goTo(page, 30 * 2048 + 5, 41 * 1024 + 7)).replace(/,.*/, ""), `value ${valueOfTile(30, 41)}`, "a cell");
    await shot(page, "static-huge-cell");
    same(log.requests <= 60, true, `${log.requests} requests, ${log.bytes} bytes`);
    same(complaints.join("\n"), "", "console");
  }));

await test("static: figures of tiles with NaN, and of one of which statistics tell nothing", () =>
  open(hugeObject({down: 20, across: 20, high: 2048, wide: 1024, cellOf: () => 5, nans: 9, unknown: 399}), async (page) => {
    await ready(page);
    const figures = await page.evaluate(() => [...document.querySelectorAll("#stats dd")].slice(2, 6).map((e) => e.textContent));
    same(figures.join("; ").replace(/[^ -~]/g, "_"), "_ 838_860_800 (100 %); _ 5; _ 5; _ 5", "stored cells, mean, least and greatest value");
  }));

const figures = (page) => page.evaluate(() => [...document.querySelectorAll("#stats dd, #keys")].map((e) => e.textContent));
/** Pages of servers round figures. */
function sameFigures(shown, wanted) {
  const plain = (text) => text.replace("\u2248 ", ""), number = (text) => Number(text.replace(/[^-.e0-9]/g, ""));
  shown.forEach((text, i) => {
    const near = Math.abs(number(text) - number(wanted[i])) <= 0.01 * Math.abs(number(wanted[i]));
    same(near || plain(text) === plain(wanted[i]), true, `figure ${i}: ${text}, not ${wanted[i]}`);
  });
}

const CELLS = {types: [[0, 5], [18, 11], [7, 35]], mixed: [[1, 1], [2, 1], [1, 0]], gaps: [[999, 10], [5, 2000], [2999, 4999]],
  nan: [[29, 29]], wide: [[0, 9973]], tall: [[5, 0]], thirds: [[7, 3]]};
for (const [i, [name, cells]] of Object.entries(CELLS).entries()) {
  if (!everything && i % 2 !== 0) continue;
  const object = bytesObject(readFileSync(`${folder}/${name}.dbdf`));
  await test(`static: ${name}, as the page of a server has it`, () => open(object, async (page, log, complaints) => {
    await ready(page);
    const own = await browser.newPage({viewport: {width: 1000, height: 700}});
    execFileSync(dapple, ["view", `${folder}/${name}.dbdf`, "-o", `${folder}/static.html`, "-q", "--force"]);
    await own.goto(`file://${folder}/static.html`);
    await ready(own);
    sameFigures(await figures(page), await figures(own));
    for (const [row, col] of cells) same(await goTo(page, row, col), await goTo(own, row, col), `cell (${row}, ${col})`);
    await own.close();
    same(complaints.join("\n"), "", "console");
  }));
}

const FRAMES = {
  "with words in a sparse block": [400, "n,word,zero,when,flag", (i) =>
    [i % 4 ? 5 + i % 3 : "", i % 50 ? "" : "x", 0, `2020-01-${10 + i % 9}`, i % 3 ? "true" : ""]],
  "of floats, by their statistics": [200000, "a,b,c,d,e,f,g,h", (i) => Array.from({length: 8}, (_, c) => i % 100 ? 5.1 + (i + c) % 4 : "")],
};
for (const [name, [rows, labels, fieldsOf]] of Object.entries(FRAMES)) await test(`static: a picture of a frame ${name}, as the page of a server has it`, async () => {
  const csv = `${folder}/picture.csv`, file = `${folder}/picture.dbdf`, many = `${folder}/many.html`, shown = [];
  writeFileSync(csv, labels + "\n" + Array.from({length: rows}, (_, i) => fieldsOf(i).join() + "\n").join(""));
  execFileSync(dapple, ["convert", csv, file, "-q", "--force"]);
  execFileSync(dapple, ["view", file, "-o", many, "-q", "--force"]);
  const take = async (page, url) => {
    await page.goto(url + "#view=picture");
    await ready(page);
    shown.push(await figures(page));
  };
  await open(bytesObject(readFileSync(file)), async (page) => {
    await take(page, page.url().replace(/#.*/, "").replace("?", "?y&"));
    await take(page, `file://${many}`);
  });
  sameFigures(...shown);
});

await test("static: another server, with and without leave", async () => {
  const object = bytesObject(readFileSync(`${folder}/types.dbdf`));
  await open(object, async (page) => {
    await ready(page);
    same(await goTo(page, 0, 5), "value 5", "a cell");
  }, {elsewhere: true, options: {headers: CORS}});
  await open(object, async (page) => {
    await page.waitForSelector("#message:not([hidden])", {timeout: 60000});
    const text = await page.textContent("#message");
    same(text.includes("Access-Control-Allow-Origin"), true, text);
  }, {elsewhere: true});
});

await test("static: without an address, a form; a chosen file stays here", async () => {
  const page = await browser.newPage({viewport: {width: 800, height: 600}}), asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(`file://${viewer}`);
  await ready(page);
  await page.setInputFiles("#chosen", `${folder}/words.csv`);
  await page.waitForSelector("#message:not([hidden])");
  same(await page.isVisible("#open"), true, "the form, also after a file that cannot be read");
  await page.setInputFiles("#chosen", `${folder}/types.dbdf`);
  await page.waitForFunction(() => document.getElementById("shape").textContent.length > 0);
  await ready(page);
  same(await page.isVisible("#message"), false, "what was wrong with the other file");
  const bytes = [...readFileSync(`${folder}/thirds.dbdf`)];
  await page.evaluate((numbers) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(numbers)], "thirds.dbdf"));
    dispatchEvent(new DragEvent("drop", {dataTransfer: data, cancelable: true}));
  }, bytes);
  await page.waitForSelector("#message:not([hidden])");
  same(await page.textContent("#message"), "this page shows a file already; open another one in a new tab", "what the page says");
  same(await page.title(), "types.dbdf - dapple", "title");
  same(await goTo(page, 18, 11), "value 10", "a cell");
  same(asked.length, 1, "requests");
  await page.close();
});
