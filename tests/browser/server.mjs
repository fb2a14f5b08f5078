// Asks the server what no page would, and ends it; pages.mjs runs this.
import { spawn, execFileSync } from "node:child_process";
import { copyFileSync, renameSync, truncateSync } from "node:fs";
import net from "node:net";
import { dapple, ended, folder, raw, same, serve, test } from "./common.mjs";

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
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      same((await line(pathname, method)).includes("405"), true, method);
    }
    same((await line(pathname + "9/meta")).includes("410"), true, "another version");
    const bytesOf = async (name) => Buffer.from(await (await fetch(`${address}0/${name}`)).arrayBuffer());
    const apart = await Promise.all(["density", "mean", "min", "max"].map((what) => bytesOf(`tile/${what}/0.0.0`)));
    same(Buffer.concat(apart).equals(await bytesOf("tiles/0.0.0")), true, "all figures of a tile at once");
    const foreign = await raw(address, `GET ${pathname} HTTP/1.1\r\nHost: evil.example\r\n\r\n`);
    same(foreign.includes("403"), true, "another host");
    const tunnel = await raw(address, `GET ${pathname} HTTP/1.1\r\nHost: localhost:8080\r\n\r\n`);
    same(tunnel.includes("200"), true, "the other end of a tunnel");
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

await test("patience: connections that say nothing, or half of a request, keep nobody waiting", async () => {
  const {child, address} = await serve(`${folder}/types.dbdf`), {hostname, host, port, pathname} = new URL(address);
  const begin = `GET ${pathname}0/meta HTTP/1.1\r\nHost: ${host}\r\n`, sockets = [];
  try {
    for (const [many, text] of [[40, begin + "\r\n"], [40, ""], [200, begin]]) {
      for (let i = 0; i < many; ++i) {
        const socket = net.connect(Number(port), hostname);
        sockets.push(socket.on("error", () => {}));
        socket.write(text);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
      const asked = performance.now();
      same((await fetch(address + "0/meta")).status, 200, "status");
      same(performance.now() - asked < 1500, true, `${performance.now() - asked} ms after ${many} others`);
    }
  } finally {
    for (const socket of sockets) socket.destroy();
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
