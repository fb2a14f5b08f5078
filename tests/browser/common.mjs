// What the tests of pages share: a browser, servers, and what is checked of every page.
import { spawn } from "node:child_process";
import net from "node:net";
const { chromium } = await import(process.env.PLAYWRIGHT);
export const [, , dapple, folder] = process.argv;
/** The page for files at any address. */
export const viewer = new URL("../viewer/view.html", `file://${dapple}`).pathname;
/** Whether every case is tried, as the soak suite does; ordinarily kinds of page take turns. */
export const everything = Boolean(process.env.DAPPLE_TEST_ALL);
/** Keeps a picture of a page for somebody to look at, where DAPPLE_SHOTS names a folder. */
export async function shot(page, name) {
  if (process.env.DAPPLE_SHOTS) await page.screenshot({path: `${process.env.DAPPLE_SHOTS}/${name}.png`});
}

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
export function same(got, wanted, what) {
  if (got !== wanted) throw new Error(`${what}: ${JSON.stringify(wanted)} is wanted, not ${JSON.stringify(got)}`);
}

export function serve(file, ...flags) {
  const child = spawn(dapple, ["view", file, "-q", ...flags], {stdio: ["ignore", "pipe", "inherit"]});
  return new Promise((resolve, reject) => {
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    child.stdout.once("data", (text) => resolve({child, address: String(text).trim()}));
  });
}
export const ended = (child, signal) => new Promise((resolve) => {
  child.removeAllListeners("exit");
  child.on("exit", resolve);
  child.kill(signal);
});

/** Sends bytes as they are, and gives the status line of the answer, or all of it. */
export function raw(address, text, whole = false) {
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

export const browser = await chromium.launch({executablePath: process.env.BROWSER, args: ["--no-sandbox"]});
export const ready = (page) => page.waitForFunction(() => document.body.dataset.state === "ready", null, {timeout: 60000});

export async function look(address, cells, served) {
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

/** Goes to a cell, and gives what the page says of it. */
export async function goTo(page, row, col) {
  await page.fill("#cell", `${row}, ${col}`);
  await page.press("#cell", "Enter");
  await page.waitForFunction(([r, c]) => new RegExp(`^row ${r}( \\(.*\\))?, column ${c}\\b`)
    .test(document.getElementById("readout").textContent), [row, col]);
  await ready(page);
  return (await page.textContent("#readout")).split("\n")[1];
}

/** Counts, and ends. */
export async function finish() {
  await browser.close();
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  process.exit(failed ? 1 : 0);
}
