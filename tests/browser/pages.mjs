// Opens both kinds of page on each file, goes to a known cell and reads it; then asks the server
// what no page would. usage: pages.mjs DAPPLE FOLDER (see run.sh)
import { spawn, execFileSync } from "node:child_process";
import { copyFileSync, renameSync, truncateSync } from "node:fs";
import net from "node:net";
const { chromium } = await import(process.env.PLAYWRIGHT);
const [, , dapple, folder] = process.argv;

const FILES = {  // name: row, column, what the page says of it
  types: [[0, 5, "5"], [18, 11, "10"], [4, 23, "5"], [7, 35, "0"]],
  mixed: [[0, 0, "1.5"], [1, 1, "nan"], [2, 1, "-inf"], [1, 0, "-0"], [4, 3, "-300"]],
  none: [],
  nan: [[29, 29, "nan"]],
  wide: [[0, 9973, "2"], [0, 9999999, "0"]],
  tall: [[9973, 0, "2"], [5, 0, "0"]],
  markup: [[1, 1, "4"]],
  words: [[4, 0, "n4 <b>"], [0, 1, "2024-01-01"], [0, 2, "false"], [1, 2, "true"], [8, 3, "12"], [7, 3, "missing"]],
};
let passed = 0, failed = 0;
async function test(name, run) {
  try {
    await run();
    ++passed;
  } catch (error) {
    ++failed;
    console.log(`${name}: failed\n${error.stack}`);
  }
}
function same(got, wanted, what) {
  if (got !== wanted) throw new Error(`${what}: ${JSON.stringify(wanted)} is wanted, not ${JSON.stringify(got)}`);
}

function serve(file, ...flags) {
  const child = spawn(dapple, ["view", file, "-q", ...flags], {stdio: ["ignore", "pipe", "inherit"]});
  return new Promise((resolve, reject) => {
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    child.stdout.once("data", (text) => resolve({child, address: String(text).trim()}));
  });
}
const ended = (child, signal) => new Promise((resolve) => {
  child.removeAllListeners("exit");
  child.on("exit", resolve);
  child.kill(signal);
});

/** Sends bytes as they are, and gives the status line of the answer, or all of it. */
function raw(address, text, whole = false) {
  const {hostname, port} = new URL(address);
  return new Promise((resolve) => {
    const socket = net.connect(Number(port), hostname, () => socket.write(text));
    let answer = "";
    socket.setTimeout(20000, () => socket.destroy());
    socket.on("data", (data) => { answer += data; socket.end(); });
    socket.on("close", () => resolve(whole ? answer : answer.split("\r\n")[0]));
    socket.on("error", () => resolve(whole ? answer : answer.split("\r\n")[0]));
  });
}

const browser = await chromium.launch({executablePath: process.env.BROWSER, args: ["--no-sandbox"]});
const ready = (page) => page.waitForFunction(() => document.body.dataset.state === "ready", null, {timeout: 60000});

async function look(address, cells, served) {
  const page = await browser.newPage({viewport: {width: 1000, height: 700}});
  const complaints = [], asked = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.stack));
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(address);
  await ready(page);
  for (const [row, col, value] of cells) {
    await page.fill("#cell", `${row}, ${col}`);
    await page.press("#cell", "Enter");
    await page.waitForFunction(([r, c]) => document.getElementById("readout").textContent.startsWith(`row ${r}, column ${c}`)
      && document.getElementById("readout").textContent.includes("value"), [row, col], {timeout: 60000});
    const text = await page.textContent("#readout");
    same(text.split("\n")[1], `value ${value}`, `cell (${row}, ${col})`);
  }
  same(await page.evaluate(() => window.hurt), undefined, "script of a label");
  same(complaints.join("\n"), "", "console");
  const foreign = asked.filter((url) => !url.startsWith(address.split("#")[0]));
  same(foreign.join("\n"), "", "requests elsewhere");
  if (!served) same(asked.length, 1, "requests of a page by itself");
  return page;
}

for (const [name, cells] of Object.entries(FILES)) {
  const file = `${folder}/${name}.${name === "words" ? "csv" : "dbdf"}`;
  await test(`${name}: a page by itself`, async () => {
    execFileSync(dapple, ["view", file, "-o", `${folder}/${name}.html`, "-q"]);
    await (await look(`file://${folder}/${name}.html`, cells, false)).close();
  });
  await test(`${name}: a page with its server`, async () => {
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
    for (const what of ["density", "mean", "min", "max", "kind"]) {
      for (const keys of [["0", "+", "+"], ["+", "+"], ["+", "+"], ["+", "+"]]) {
        const seen = [];
        for (const page of pages) {
          await page.selectOption("#what", what);
          await page.locator("#canvas").focus();
          for (const key of keys) await page.keyboard.press(key);
          await page.waitForTimeout(100);
          await ready(page);
          seen.push(await page.evaluate(() => document.getElementById("canvas").toDataURL()
            + document.getElementById("stats").textContent.replaceAll("\u2248 ", "")));
        }
        same(seen[1] === seen[0], true, `${what} after ${keys.join("")}`);
      }
    }
    for (const page of pages) await page.close();
  } finally {
    same(await ended(child, "SIGTERM"), 0, "status");
  }
});

await test("kept: pictures of the whole that were kept are those of the cells", async () => {
  const file = `${folder}/kept.dbdf`, tiles = [];
  copyFileSync(`${folder}/types.dbdf`, file);
  execFileSync(dapple, ["view", file, "-o", `${file}.dpp`, "-q"]);
  for (let run = 0; run < 2; ++run) {
    const {child, address} = await serve(file);
    tiles.push(Buffer.from(await (await fetch(`${address}0/tile/mean/0.0.0`)).arrayBuffer()));
    same(await ended(child, "SIGTERM"), 0, "status");
    execFileSync("rm", ["-f", `${file}.dpp`]);
  }
  same(tiles[0].equals(tiles[1]), true, "the same tile with and without");
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

await test("server: what no page asks for is refused", async () => {
  const {child, address} = await serve(`${folder}/types.dbdf`);
  try {
    const {host, pathname} = new URL(address), line = (target, method = "GET") =>
      raw(address, `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    same(await line(pathname), "HTTP/1.1 200 OK", "the page");
    same(await line(pathname + "0/tile/mean/0.0.0"), "HTTP/1.1 200 OK", "a tile");
    for (const target of ["/", "/wrong/", pathname + "../../etc/passwd", pathname + "%2e%2e/", pathname + "0/tile/mean/0.-1.0",
      pathname + "0/tile/mean/64.9.9", pathname + "0/tile/mean/0.18446744073709551615.18446744073709551615",
      pathname + "0/cells/18446744073709551615.0", pathname + "0/tile/mean/0.0.0/..", pathname + "x".repeat(5000)]) {
      same(/ (404|414) /.test(await line(target)), true, target.slice(0, 60));
    }
    for (const method of ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"]) {
      same((await line(pathname, method)).includes("405"), true, method);
    }
    same((await line(pathname + "9/meta")).includes("410"), true, "another version");
    const bytesOf = async (name) => Buffer.from(await (await fetch(`${address}0/${name}`)).arrayBuffer());
    const apart = await Promise.all(["density", "mean", "min", "max"].map((what) => bytesOf(`tile/${what}/0.0.0`)));
    same(Buffer.concat(apart).equals(await bytesOf("tiles/0.0.0")), true, "all figures of a tile at once");
    const foreign = await raw(address, `GET ${pathname} HTTP/1.1\r\nHost: evil.example\r\n\r\n`);
    same(foreign.includes("403"), true, "another host");
    for (const noise of ["\r\n\r\n", "GET\r\n\r\n", "\0\0\0\0\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "A".repeat(20000) + "\r\n\r\n"]) {
      same((await raw(address, noise)).includes("200"), false, "noise");
    }
    const waits = [];
    for (let i = 0; i < 12; ++i) {
      const begin = performance.now();
      await (await fetch(`${address}0/tile/mean/0.0.0`)).arrayBuffer();
      waits.push(performance.now() - begin);
    }
    same(Math.min(...waits) < 35, true, "no answer waits for an acknowledgement, which takes 40 ms");
    const answer = await raw(address, `GET ${pathname}0/meta HTTP/1.1\r\nHost: ${host}\r\nAccept-Encoding: gzip, deflate, br\r\nConnection: close\r\n\r\n`, true);
    same(answer.match(/Content-Encoding: .*/g).join(), "Content-Encoding: deflate", "compressed once");
    const many = await Promise.all(Array.from({length: 60}, (_, i) => line(`${pathname}0/tile/mean/0.0.${i % 2}`)));
    same(many.filter((status) => status.includes("200")).length, 30, "many clients");
  } finally {
    same(await ended(child, "SIGTERM"), 0, "status");
  }
});

await test("server: a file that is replaced is shown anew, one that is cut is an error", async () => {
  const file = `${folder}/changing.dbdf`;
  copyFileSync(`${folder}/types.dbdf`, file);
  const {child, address} = await serve(file);
  try {
    same((await (await fetch(address + "0/meta")).json()).rows, 20, "rows");
    copyFileSync(`${folder}/nan.dbdf`, `${file}.new`);
    execFileSync("mv", [`${file}.new`, file]);
    same((await (await fetch(address + "0/meta")).json()).rows, 20, "rows as long as the page is there");
    await (await fetch(address)).text();
    same((await fetch(address + "0/meta")).status, 410, "the old version");
    same((await (await fetch(address + "1/meta")).json()).rows, 30, "rows after loading it again");
    truncateSync(file, 10);
    same((await fetch(address + "1/cells/0.0")).status, 500, "a file cut short");
  } finally {
    same(await ended(child, "SIGTERM"), 0, "status");
  }
});

await test("zooming: a sensible picture at once, one request a tile, and none for tiles out of view", async () => {
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
    const waits = [];
    for (const turn of [-240, -240, -240, -480, 720, 240]) {
      const begin = performance.now(), before = asked.length;
      await page.mouse.wheel(0, turn);
      await page.waitForTimeout(50);
      await ready(page);
      waits.push(performance.now() - begin);
      same(new Set(asked.slice(before)).size, asked.length - before, "nothing is asked for twice");
    }
    same((await page.evaluate(() => window.blank)).join(), "0,0,0,0,0,0", "spots that were not drawn");
    same(asked.filter((name) => name.startsWith("tile/")).join(), "", "figures by themselves");
    same(waits.every((wait) => wait < 10000), true, waits.join());
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

/** Milliseconds that a child takes to end, which then ends with `wanted`. */
async function lasts(child, signal, wanted) {
  const begin = performance.now();
  same(await ended(child, signal), wanted, "status");
  return performance.now() - begin;
}

await test("ends: within half a second, whatever it is about", async () => {
  const file = `${folder}/ending.dbdf`, waits = [];
  copyFileSync(`${folder}/types.dbdf`, file);
  const served = await serve(file, "--exact"), {host, hostname, port, pathname} = new URL(served.address);
  const sockets = Array.from({length: 20}, () => net.connect(Number(port), hostname));
  for (const socket of sockets) socket.on("error", () => {}).write(`GET ${pathname}0/meta HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await new Promise((resolve) => sockets[0].once("data", resolve));
  waits.push(await lasts(served.child, "SIGINT", 0));

  const reading = await serve(file, "--exact");
  renameSync(`${folder}/holes.dbdf`, file);
  const page = fetch(reading.address).catch(() => "gone");
  await new Promise((resolve) => setTimeout(resolve, 300));
  waits.push(await lasts(reading.child, "SIGTERM", 0));
  same(await page, "gone", "the page that it was about to send");

  const early = spawn(dapple, ["view", file, "-q", "--exact"], {stdio: "ignore"});
  await new Promise((resolve) => setTimeout(resolve, 300));
  waits.push(await lasts(early, "SIGINT", null));
  same(waits.every((wait) => wait < 500), true, waits.join());
});

await browser.close();
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed ? 1 : 0);
