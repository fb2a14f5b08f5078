// Opens both kinds of page on each file, goes to a known cell and reads it; then asks the server
// what no page would. usage: pages.mjs DAPPLE FOLDER (see run.sh)
import { spawnSync, execFileSync } from "node:child_process";
import { copyFileSync, truncateSync } from "node:fs";
import { browser, dapple, ended, everything, finish, folder, goTo, look, raw, ready, same, serve, test } from "./common.mjs";

const FILES = {  // name: row, column, what the page says of it
  types: [[0, 5, "5"], [18, 11, "10"], [4, 23, "5"], [7, 35, "0"]],
  wide: [[0, 9973, "2"], [0, 9999999, "0"]],
  mixed: [[0, 0, "1.5"], [1, 1, "nan"], [2, 1, "-inf"], [1, 0, "-0"], [4, 3, "-300"]],
  nan: [[29, 29, "nan"]],
  none: [],
  tall: [[9973, 0, "2"], [5, 0, "0"]],
  markup: [[1, 1, "4"]],
  words: [[4, 0, "n4 <b>"], [0, 1, "2024-01-01"], [0, 2, "false"], [1, 2, "true"], [8, 3, "12"], [7, 3, "missing"]],
};
for (const [i, [name, cells]] of Object.entries(FILES).entries()) {
  const file = `${folder}/${name}.${name === "words" ? "csv" : "dbdf"}`;
  if (everything || i % 2 === 0) await test(`${name}: a page by itself`, async () => {
    execFileSync(dapple, ["view", file, "-o", `${folder}/${name}.html`, "-q"]);
    await (await look(`file://${folder}/${name}.html`, cells, false)).close();
  });
  if (everything || i % 2 === 1) await test(`${name}: a page with its server`, async () => {
    const {child, address} = await serve(file);
    try {
      await (await look(address, cells, true)).close();
    } finally {
      same(await ended(child, "SIGINT"), 0, "status");
    }
  });
}

await test("colours: a known cell has the colour of its value", async () => {
  const page = await look(`file://${folder}/mixed.html`, [], false);
  await page.selectOption("#what", "kind");
  await page.keyboard.press("b");
  await page.waitForTimeout(200);
  await ready(page);
  // Of the four tiles of 3 x 2 cells, in the middle of the first cell's upper left corner.
  const colours = await page.evaluate(() => {
    const canvas = document.getElementById("canvas"), context = canvas.getContext("2d");
    const x = (canvas.width - 66) / 2 + 66, y = (canvas.height - 30) / 2 + 30;
    return [[-180, -75], [180, -75], [-180, 60], [180, 60]].map(([dx, dy]) =>
      [...context.getImageData(x + dx, y + dy, 1, 1).data].slice(0, 3).join(","));
  });
  same(colours.join(" "), "0,114,178 240,240,240 86,180,233 230,159,0", "kinds");
  await page.close();
});

await test("figures: they claim no more digits than tiles hold, and legends name infinite values", async () => {
  const seen = {};
  for (const name of ["thirds", "infinite"]) {
    execFileSync(dapple, ["view", `${folder}/${name}.dbdf`, "-o", `${folder}/${name}.html`, "-q"]);
    const page = await look(`file://${folder}/${name}.html`, [], false);
    seen[name] = await page.evaluate(() => [...document.querySelectorAll("#stats dd, #keys b")].map((e) => e.textContent));
    await page.close();
  }
  same(seen.thirds.slice(3, 6).join(), "\u2248 -0.000139,\u2248 -1,\u2248 1", "mean, minimum, maximum");
  same(seen.infinite.includes("inf") && seen.infinite.includes("-inf"), true, "keys");
});

await test("zooms: pictures made of cells in the page are those that a server draws", async () => {
  const {child, address} = await serve(`${folder}/gaps.dbdf`);
  try {
    const pages = [await look(address, [], true)];
    execFileSync(dapple, ["view", `${folder}/gaps.dbdf`, "-o", `${folder}/gaps.html`, "-q"]);
    pages.push(await look(`file://${folder}/gaps.html`, [], false));
    for (const what of everything ? ["density", "mean", "min", "max", "kind"] : ["mean", "kind"]) {
      for (const keys of [["0", "+", "+"], ["+", "+"], ["+", "+"], ["+", "+"]]) {
        const seen = [];
        for (const page of pages) {
          await page.selectOption("#what", what);
          await page.locator("#canvas").focus();
          for (const key of keys) await page.keyboard.press(key);
          await page.waitForTimeout(100);
          await ready(page);
          seen.push(await page.evaluate(() => {
            const canvas = document.getElementById("canvas");
            const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            return {pixels: Array.from({length: Math.floor(data.length / 37)}, (_, i) => data[37 * i]),  // of all channels
              figures: [...document.querySelectorAll("#stats dd")].map((e) => Number(e.textContent.replace(/[^-.e0-9]/g, "")))};
          }));
        }
        // A server rounds what cells do not need exactly.
        const [a, b] = seen, apart = a.pixels.filter((value, i) => Math.abs(value - b.pixels[i]) > 6).length;
        same(apart, 0, `${what} after ${keys.join("")}`);
        a.figures.forEach((value, i) => {
          if (!Object.is(value, b.figures[i])) same(Math.abs(value - b.figures[i]) <= 0.01 * Math.abs(value), true, `figure ${i}`);
        });
      }
    }
    for (const page of pages) await page.close();
  } finally {
    same(await ended(child, "SIGTERM"), 0, "status");
  }
});

await test("phone: everything can be reached at its width", async () => {
  const page = await browser.newPage({viewport: {width: 360, height: 740}});
  await page.goto(`file://${folder}/types.html`);
  await ready(page);
  same(await page.evaluate(() => document.documentElement.scrollWidth <= 360), true, "no sideways scrolling");
  same(await page.isVisible("#what") && await page.isVisible("#readout"), true, "tools");
  await page.close();
});

await test("keys: m, l, b, plus, 0 do what the help says", async () => {
  const page = await look(`file://${folder}/types.html`, [], false);
  const before = await page.inputValue("#what");
  await page.keyboard.press("m");
  same(await page.inputValue("#what") !== before, true, "what is shown");
  await page.keyboard.press("b");
  same(await page.getAttribute("#borders", "aria-pressed"), "false", "borders");
  await page.keyboard.press("0");
  await page.close();
});

await test("lost: what cannot be had is not read, and no zero", async () => {
  const file = `${folder}/lost.dbdf`;
  for (const cut of [false, true]) {
    copyFileSync(`${folder}/gaps.dbdf`, file);
    const {child, address} = await serve(file);
    const page = await browser.newPage({viewport: {width: 1000, height: 700}});
    await page.goto(address);
    await ready(page);
    same(await goTo(page, 30, 30), "value 0", "before");
    if (cut) truncateSync(file, 500);
    else await ended(child, "SIGINT");
    same(await goTo(page, 900, 900), "value not read", "after");
    const figures = await page.evaluate(() => [...document.querySelectorAll("#stats dd")].slice(2, 6).map((e) => e.textContent));
    same(figures.join(), "not read,not read,not read,not read", "figures");
    if (cut) await ended(child, "SIGINT");
    await page.close();
  }
});

await test("first picture: what is shown comes first, and takes less than 100 KiB with the page", async () => {
  const {child, address} = await serve(`${folder}/noise.dbdf`);
  try {
    const page = await browser.newPage({viewport: {width: 1000, height: 700}}), asked = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname.split("/").slice(3).join("/")));
    await page.goto(address);
    await ready(page);
    const tiles = asked.filter((name) => name.startsWith("tile"));
    same(tiles[0], "tile/mean/0.0.0", "the first");
    const isMean = tiles.map((name) => name.startsWith("tile/mean/"));
    same(isMean.lastIndexOf(true) < isMean.indexOf(false), true, "what is shown before other figures");
    const {host, pathname} = new URL(address), sizes = [];
    for (const name of ["", "0/meta", "0/tile/mean/0.0.0"]) {
      sizes.push((await raw(address, `GET ${pathname}${name} HTTP/1.1\r\nHost: ${host}\r\nAccept-Encoding: deflate\r\n\r\n`, true)).match(/Content-Length: (\d+)/)?.[1] ?? 1e9);
    }
    same(sizes.reduce((sum, size) => sum + Number(size), 0) < 100 * 1024, true, sizes.join());
    await page.close();
  } finally {
    same(await ended(child, "SIGTERM"), 0, "status");
  }
});

await test("left out: a page without single cells says so, and how many a pixel stands for", async () => {
  const said = spawnSync(dapple, ["view", `${folder}/large.dbdf`, "-o", `${folder}/large.html`]);
  same(String(said.stderr).includes("no single cells"), true, "what is said");
  const page = await browser.newPage({viewport: {width: 1000, height: 700}});
  await page.goto(`file://${folder}/large.html`);
  await ready(page);
  same((await page.textContent("#file")).includes("too many for this page"), true, "list");
  same((await goTo(page, 1500000, 0)).includes(", of 4\u202f096 \u00d7 1 cells"), true, "read-out");
  await page.close();
});

await test("digits: small differences of large numbers are seen and told", async () => {
  execFileSync(dapple, ["view", `${folder}/offset.dbdf`, "-o", `${folder}/offset.html`, "-q"]);
  const page = await look(`file://${folder}/offset.html`, [], false);
  const [figures, colours] = await page.evaluate(() => {
    const canvas = document.getElementById("canvas"), width = canvas.width - 200;
    const row = canvas.getContext("2d").getImageData(100, canvas.height / 2, width, 1).data;
    return [[...document.querySelectorAll("#stats dd")].slice(4, 6).map((e) => e.textContent.slice(2)),
      new Set(Array.from({length: width}, (_, i) => row.slice(4 * i, 4 * i + 3).join())).size];
  });
  same(Math.abs(figures[0] - 999) < 0.02 && Math.abs(figures[1] - 1001) < 0.02, true, figures.join());
  same(colours > 100, true, `${colours} colours`);
  await page.close();
});

await test("zooming: a sensible picture at once, one request a tile and figure, and none for tiles out of view", async () => {
  const {child, address} = await serve(`${folder}/holes.dbdf`);
  try {
    const page = await browser.newPage({viewport: {width: 1280, height: 900}}), asked = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname.split("/").slice(3).join("/")));
    await page.goto(address);
    await ready(page);
    await page.selectOption("#what", "mean");
    await ready(page);
    // Where the matrix is, something is drawn in the frame after a turn of the wheel, whatever has come.
    await page.evaluate(() => {
      const canvas = document.getElementById("canvas"), context = canvas.getContext("2d");
      window.blank = [];
      canvas.addEventListener("wheel", () => requestAnimationFrame(() => requestAnimationFrame(() => {
        const at = (x, y) => context.getImageData(x, y, 1, 1).data.join(), middle = canvas.width / 2 + 40;
        window.blank.push([-60, -20, 20, 60].filter((dx) => at(middle + dx, canvas.height / 2 + dx) === at(2, 2)).length);
      })));
    });
    await page.mouse.move(520, 480);
    for (const turn of [-240, -240, -240, -480, 720, 240]) {
      const before = asked.length;
      await page.mouse.wheel(0, turn);
      await page.waitForTimeout(50);
      await ready(page);
      same(new Set(asked.slice(before)).size, asked.length - before, "nothing is asked for twice");
    }
    same((await page.evaluate(() => window.blank)).join(), "0,0,0,0,0,0", "spots that were not drawn");
    // Far away at once: what was begun is given up, what was not begun is never asked for.
    const before = asked.length;
    for (let i = 0; i < 6; ++i) {
      await page.fill("#cell", `${60000 * i + 3}, ${4000 * i + 3}`);
      await page.press("#cell", "Enter");
      for (const key of ["-", "-", "-", "-", "-", "-"]) await page.locator("#canvas").press(key);
    }
    await ready(page);
    same(asked.length - before < 6 * 7 * 20, true, `${asked.length - before} requests`);
    await page.close();
  } finally {
    same(await ended(child, "SIGTERM"), 0, "status");
  }
});

await import("./static.mjs");
await import("./table.mjs");
await import("./server.mjs");
await finish();
