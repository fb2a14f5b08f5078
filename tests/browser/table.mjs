// Frames as tables, and their pictures; what both kinds of page look like. pages.mjs runs this.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { bytesObject, serveRanges } from "../js/server.mjs";
import { browser, dapple, ended, everything, folder, goTo, ready, same, serve, shot, test, viewer } from "./common.mjs";

const ROWS = 3000, CITIES = ["Oslo", "Bergen", "Graz"];
/** Row i as fields of CSV; some are missing. */
const fieldsOf = (i) => [String(i), i % 11 === 3 ? "" : `n${i * 7919 % 100003} <i>`, i % 10 === 7 ? "" : CITIES[i % 3],
  i % 4 === 1 ? "" : `20${10 + i % 80}-01-${10 + i % 19}`, i % 5 === 0 ? "" : String(i % 2 === 0), i % 20 === 9 ? "" : i % 50 === 4 ? "nan" : String(i % 97 / 4)];
const csv = `${folder}/table.csv`, file = `${folder}/table.dbdf`;
writeFileSync(csv, "id,name,city,born,member,size\n" + Array.from({length: ROWS}, (_, i) => fieldsOf(i).join() + "\n").join(""));
execFileSync(dapple, ["convert", csv, file, "-q"]);

/** Rows of the table that is shown: the number of each, and its texts. */
const rowsOf = (page) => page.evaluate(() => [...document.querySelectorAll("#cells tbody tr")].map((line) =>
  [...line.children].map((cell) => cell.textContent.replace("\u202f", ""))));
async function sameRows(page, numbers) {
  // A key scrolls some time later, and until then the page is ready with other rows.
  await page.waitForFunction((first) => document.querySelector("#cells tbody tr th")?.textContent.replace("\u202f", "") === first,
    String(numbers[0]), {timeout: 20000});
  await ready(page);
  const shown = await rowsOf(page);
  same(shown.length > 5, true, `${shown.length} rows`);
  shown.forEach((line, k) => {
    same(line[0], String(numbers[k]), `number of row ${k}`);
    fieldsOf(numbers[k]).slice(0, line.length - 1).forEach((field, c) => same(line[c + 1], field || "missing", `row ${numbers[k]}, column ${c}`));
  });
  return shown.length;
}
const from = (first) => Array.from({length: 100}, (_, k) => first + k);

/** Runs on the page of a server, on one by itself, and on one that reads the file at its address. */
async function onPages(run, settings = {}, path = file, kinds = ["served", "whole", "remote"]) {
  const {child, address} = await serve(path), whole = `${folder}/table.html`;
  const remote = await serveRanges(bytesObject(readFileSync(path)), {files: {"view.html": readFileSync(viewer, "utf8")}, name: "t.dbdf"});
  execFileSync(dapple, ["view", path, "-o", whole, "-q", "--force"]);
  try {
    for (const [kind, url] of Object.entries({served: address, whole: `file://${whole}`, remote: `${remote.base}view.html?x=t.dbdf`})) {
      if (!kinds.includes(kind)) continue;
      const page = await browser.newPage({viewport: {width: 1440, height: 700}, ...settings}), complaints = [];
      page.on("console", (message) => { if (!message.text().includes("willReadFrequently")) complaints.push(message.text()); });
      page.on("pageerror", (error) => complaints.push(error.stack));
      await page.goto(url);
      await ready(page);
      await run(page, kind);
      same(complaints.join("\n"), "", `${kind}: console`);
      await page.close();
    }
  } finally {
    remote.close();
    same(await ended(child, "SIGTERM"), 0, "status");
  }
}

await test("names and attributes: of the cell that is pointed at, of the rows of a table, and in the panel", async () => {
  const matrix = `${folder}/named.dbdf`, people = `${folder}/people.dbdf`;
  writeFileSync(`${folder}/m.csv`, "1,2\n3,4\n");
  writeFileSync(`${folder}/rows.txt`, "AAAC\n<i>TTG\n");
  writeFileSync(`${folder}/cols.txt`, "CD3E\nMS4A1\n");
  execFileSync(dapple, ["convert", `${folder}/m.csv`, matrix, "-q", "--row-names-file", `${folder}/rows.txt`,
    "--col-names-file", `${folder}/cols.txt`, "--attribute", 'unit="mm"', "--attribute", "run=[1,2]"]);
  await onPages(async (page, kind) => {
    await goTo(page, 1, 1);
    await page.waitForFunction(() => document.querySelector("#readout").textContent.startsWith("row 1 (<i>TTG), column 1 (MS4A1)"));
    same((await page.textContent("#file")).endsWith('run[1,2]unit"mm"'), true, `${kind}: attributes`);
  }, {}, matrix);
  writeFileSync(`${folder}/people.txt`, Array.from({length: ROWS}, (_, i) => `p${i}\n`).join(""));
  execFileSync(dapple, ["convert", csv, people, "-q", "--row-names-file", `${folder}/people.txt`]);
  await onPages((page) => page.waitForFunction(() => document.querySelector("#cells tbody tr:nth-child(2) th")?.textContent === "p1"),
    {}, people);
});

await test("table: words, times and missing cells as people write them; keys; bars", () => onPages(async (page, kind) => {
  const many = await sameRows(page, from(0));
  await shot(page, `table-${kind}`);
  same((await page.textContent("#cells thead tr:first-child")), "idnamecitybornmembersize", "labels");
  const about = await page.evaluate(() => [...document.querySelectorAll(".about th")].slice(1)
    .map((cell) => [...cell.children].map((e) => e.textContent)));
  same(about.map(([type]) => type).join(), "i64,text,category of 3 words,timestamp[D],boolean,f64", "types");
  same(about[0][1], "none missing", "missing cells");
  same(about.every(([, , bars]) => bars === ""), true, "bars");
  const share = Number(about[3][1].split(" ")[0]);
  same(share > 20 && share < 30, true, about[3][1]);
  same(/^[\d.]+ % missing, [\d.]+ % nan$/.test(about[5][1]), true, about[5][1]);
  await page.locator("#scroll").focus();
  await page.keyboard.press("PageDown");
  await sameRows(page, from(many - 2));
  await page.keyboard.press("End");
  same((await sameRows(page, from(ROWS - many + 2))) < many, true, "the end");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await sameRows(page, from(1));
  await page.evaluate(() => { document.getElementById("scroll").scrollTop = 1e9; });
  await page.waitForFunction((last) => Number(document.querySelector("#cells tbody tr:last-child th").textContent.replace("\u202f", "")) === last,
    ROWS - 1);
}));

await test("table: text is found, in rows out of view, too", () => onPages(async (page, kind) => {
  const wanted = 2510, text = fieldsOf(wanted)[1];
  await page.fill("#search", text.toUpperCase());
  await page.press("#search", "Enter");
  await page.waitForSelector("td.hit", {timeout: 60000});
  await ready(page);
  same((await page.textContent("#found")).replace("\u202f", ""), `row ${wanted}`, "row");
  same(await page.textContent("td.hit"), text, "text");
  await shot(page, `table-found-${kind}`);
  await page.fill("#search", fieldsOf(0)[1]);  // above what is in view
  await page.press("#search", "Enter");
  await page.waitForFunction(() => document.getElementById("found").textContent === "not found", null, {timeout: 60000});
  await page.press("#search", "Enter");
  await page.waitForFunction(() => document.getElementById("found").textContent === "row 0", null, {timeout: 60000});
}));

await test("table: a search says why it cannot go on", async () => {
  const {child, address} = await serve(file), page = await browser.newPage({viewport: {width: 1440, height: 700}});
  try {
    await page.route(/\/cells\/0\.40$/, (route) => route.fulfill({status: 500, contentType: "application/json",
      body: '{"error":"the block is damaged"}'}));
    await page.goto(address);
    await ready(page);
    await page.fill("#search", "nowhere");
    await page.press("#search", "Enter");
    await page.waitForSelector("#found.error", {timeout: 20000});
    same(await page.textContent("#found"), "the block is damaged", "what the page says");
    await page.unroute(/\/cells\/0\.40$/);
    await page.press("#search", "Enter");
    await page.waitForFunction(() => document.getElementById("found").textContent === "not found", null, {timeout: 20000});
  } finally {
    await page.close();
    same(await ended(child, "SIGTERM"), 0, "status");
  }
});

await test("table: rows that meet a condition, where there is a server", () => onPages(async (page, kind) => {
  same(await page.isVisible("#filter"), kind === "served", "the filter");
  if (kind !== "served") return;
  await page.fill("#filter", 'size > 20 and city = "Graz"');
  await page.press("#filter", "Enter");
  await page.waitForFunction(() => document.getElementById("found").textContent.includes("of"));
  const wanted = Array.from({length: ROWS}, (_, i) => i).filter((i) => fieldsOf(i)[2] === "Graz" && Number(fieldsOf(i)[5]) > 20);
  same((await page.textContent("#found")).replaceAll("\u202f", ""), `${wanted.length} of ${ROWS} rows`, "how many");
  await sameRows(page, wanted);
  await shot(page, "table-filter");
  await page.fill("#filter", "size >");
  await page.press("#filter", "Enter");
  await page.waitForSelector("#found.error");
  same((await page.textContent("#found")).includes("expected"), true, await page.textContent("#found"));
  await page.fill("#filter", "");
  await page.press("#filter", "Enter");
  await sameRows(page, from(0));
}));

await test("table: its picture has a scale for each column, and the address says which is shown", () => onPages(async (page, kind) => {
  await page.locator("#scroll").focus();
  await page.keyboard.press("t");
  await page.waitForFunction(() => document.getElementById("legend").textContent.includes("each column by itself"));
  await ready(page);
  await shot(page, `picture-${kind}`);
  const seen = await page.evaluate(() => {  // colours down the first and the last column
    const canvas = document.getElementById("canvas"), context = canvas.getContext("2d"), left = 66, wide = 96;
    const middle = left + (canvas.width - left) / 2, at = (col) => Math.round(middle + (col - 2.5) * wide) + 30;
    const down = Array.from({length: 60}, (_, i) => 80 + 9 * i);
    return [0, 5].map((col) => new Set(down.map((y) => context.getImageData(at(col), y, 1, 1).data.join())).size);
  });
  same(seen.every((n) => n > 10), true, `${seen} colours`);
  same(page.url().includes("view=picture"), true, page.url());
  await page.click("#mode");
  await sameRows(page, from(0));
}));

const LOOKS = {dark: {colorScheme: "dark"}, phone: {viewport: {width: 360, height: 740}, isMobile: true, hasTouch: true}};
for (const [name, settings] of Object.entries(LOOKS)) {
  await test(`looks: ${name}`, () => onPages(async (page, kind) => {
    await sameRows(page, from(0));
    same(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "no sideways scrolling");
    const [ink, back] = await page.evaluate(() => [document.body, document.querySelector("#cells thead")].map((e) =>
      getComputedStyle(e)[e === document.body ? "color" : "backgroundColor"].match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0)));
    same(Math.abs(ink - back) > 400, true, `ink ${ink}, back ${back}`);
    await shot(page, `${name}-${kind}`);
    await page.click("#mode");
    await page.waitForTimeout(100);
    await ready(page);
    await shot(page, `${name}-picture-${kind}`);
  }, settings, file, everything ? undefined : ["whole"]));
}
