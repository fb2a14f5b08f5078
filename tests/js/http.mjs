// Files at addresses: few requests, and what servers may do wrong.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { open } from "../../apps/viewer/reader/dbdf.js";
import { dapple, folder, refused, same, test } from "./common.mjs";
import { writeNpy } from "./made.mjs";
import { hugeObject, valueOfTile } from "./huge.mjs";
import { bytesObject, serveRanges } from "./server.mjs";

const npy = `${folder}/http.npy`, made = `${folder}/http.dbdf`, values = Float64Array.from({length: 10 ** 6}, (_, i) => Math.sin(i) * i);
writeNpy(npy, "f8", 1000, 1000, values);
execFileSync(dapple, ["convert", npy, made, "--tile", "100x100", "-q"]);
const bytes = readFileSync(made);

async function served(options, run) {
  const server = await serveRanges(bytesObject(bytes), options);
  try {
    await run(server.url, server.log);
  } finally {
    server.close();
  }
}

await test("http: opening, statistics and cells in few requests, and none twice", () => served({}, async (url, log) => {
  const file = await open(url);
  same(log.requests, 2, "requests to open");
  same((await file.statistics()).length, 100, "statistics");
  same(log.requests, 2, "requests with statistics");
  const part = {rows: [150, 350], cols: [0, 1000]}, before = log.bytes;
  const cells = await file.read(part);
  for (let i = 0; i < cells.length; ++i) same(cells[i], values[150000 + i], `cell ${i}`);
  same(log.requests, 3, "requests of three rows of tiles, which are next to each other");
  same(log.bytes - before < 1.1 * 3 * 10 * 80000, true, `${log.bytes - before} bytes`);
  await file.read(part);
  same(log.requests, 3, "requests of what is there");
}));

const once = (change) => {
  let left = 1;
  return (request, answer, log, response) => log.requests > 2 && left-- > 0 ? change(answer, request, response) : false;
};
const FAULTS = {  // name: [fault, part of the message; null where it must be read all the same]
  "answers 500 once": [once((answer) => { answer.status = 500; }), null],
  "answers 429 once": [once((answer) => { answer.status = 429; }), null],
  "cuts an answer": [once((answer, request, response) => {
    response.writeHead(206, answer.headers).write(answer.body.subarray(0, 1000), () => response.destroy());
    return true;
  }), null],
  "sends another part": [once((answer) => { answer.headers["Content-Range"] = "bytes 5-9/" + bytes.length; }), "were asked for"],
  "sends a shorter part": [once((answer) => {
    answer.body = answer.body.subarray(0, 10);
    answer.headers = {ETag: '"1"', "Content-Length": 10};
  }), "in place of"],
  "sends more": [once((answer) => {
    answer.headers = {ETag: '"1"', "Content-Length": answer.body.length + 9};
    answer.body = Buffer.concat([answer.body, Buffer.alloc(9)]);
  }), "more than"],
  "has another object": [(request, answer, log) => { if (log.requests > 2) answer.headers.ETag = '"2"'; }, "replaced"],
  "has an object of another size": [once((answer) => {
    answer.headers["Content-Range"] = answer.headers["Content-Range"].replace(/\d+$/, "7");
  }), "were asked for"],
  "changes bytes": [once((answer) => { answer.body[40000] ^= 1; }), "not those that were written"],
  "forgets ranges": [once((answer) => { answer.status = 200; }), "whole files"],
  "refuses": [once((answer) => { answer.status = 403; }), "answered 403"],
};
for (const [name, [fault, message]] of Object.entries(FAULTS)) {
  await test(`http: a server that ${name}`, () => served({fault}, async (url) => {
    const file = await open(url), read = () => file.read({rows: [450, 560]});
    if (message === null) {
      const cells = await read();
      for (let i = 0; i < cells.length; ++i) same(cells[i], values[450000 + i], `cell ${i}`);
      return;
    }
    const error = await refused(read);
    same(error.name === "DbdfError" && error.message.includes(message), true, error.stack);
    if (name === "changes bytes" || name === "has another object") return;  // kept, or still so
    same((await read())[0], values[450000], "the second try");
  }));
}

await test("http: a server without ranges, and one without the file", async () => {
  await served({fault: (_, answer) => { answer.status = 200; answer.body = bytes; answer.headers = {}; }}, async (url) =>
    same((await refused(() => open(url))).message.includes("whole files"), true, "no ranges"));
  await served({}, async (url) => {
    const {message} = await refused(() => open(url.replace("object", "secret") + "?key=12345"));
    same(message.includes("404") && !message.includes("12345"), true, message);
  });
  const fetch = async () => { throw new TypeError("Failed to fetch"); };
  const {message} = await refused(() => open("http://127.0.0.1:9/x.dbdf", {fetch}));
  same(message.includes("Access-Control-Allow-Origin"), true, message);
});

await test("http: a server that does not show Content-Range", () => served({fault: (_, answer) => { delete answer.headers["Content-Range"]; }},
  async (url, log) => {
    const file = await open(url);
    same((await file.read({rows: [0, 3]}))[2999], values[2999], "a cell");
    same(log.requests, 4, "one request more, for the length");
  }));

await test("http: what asks for the length has the headers, too", () => served({
  fault: (request, answer) => {
    delete answer.headers["Content-Range"];
    if (request.headers.authorization !== "Basic abc") answer.status = 401;
  }}, async (url) => same((await open(url, {headers: {Authorization: "Basic abc"}})).rows, 1000, "rows")));

await test("http: the first answer is asked for again where it was cut", () => served({
  fault: (_, answer, log, response) => {
    if (log.requests !== 1) return false;
    response.writeHead(206, answer.headers).write(answer.body.subarray(0, 1000), () => response.destroy());
    return true;
  }}, async (url) => same((await open(url)).rows, 1000, "rows")));

await test("http: attributes and statistics that failed once are asked for again", async () => {
  const named = `${folder}/named.dbdf`;
  execFileSync(dapple, ["convert", made, named, "--tile", "100x100", "--attribute", "unit=mm", "-q"]);
  const whole = readFileSync(named);
  for (const [what, ask] of Object.entries({attributes: (file) => file.attributes(), statistics: (file) => file.statistics()})) {
    let fails = false;
    const read = async (offset, length) => {
      if (fails) throw new Error("the network is down");
      return new Uint8Array(whole.subarray(offset, offset + length));
    };
    const file = await open({name: "far", size: whole.length, read});
    fails = true;
    same((await refused(() => ask(file))).message, "the network is down", what);
    fails = false;
    same(JSON.stringify(await ask(file)).length > 10, true, `${what}, again`);
  }
});

await test("http: a file of 107 GB", async () => {
  const object = hugeObject({down: 80, across: 80, high: 2048, wide: 1024}), server = await serveRanges(object);
  try {
    const file = await open(server.url);
    same((await file.counts()).dense, 6400, "blocks");
    const {log} = server, statistics = await file.statistics();
    same(statistics.of(81 * 5).greatest, valueOfTile(5, 5), "a maximum");
    same(log.requests <= 3 && log.bytes < 1e6, true, `${log.requests} requests, ${log.bytes} bytes`);
    const cells = await file.read({rows: [2048 * 79, 2048 * 79 + 2], cols: [1024 * 3 - 1, 1024 * 3 + 1]});
    same(cells.join(), [2, 3, 2, 3].map((j) => valueOfTile(79, j)).join(), "cells");
    same(log.requests <= 8 && log.bytes < 2e6, true, `${log.requests} requests, ${log.bytes} bytes`);
  } finally {
    server.close();
  }
});
