// A server of one object in ranges, with faults. Also for pages: tests/browser uses it.
import { createServer } from "node:http";

/**
 * Serves `object`, {size, read(offset, length)}: the address ends with its name. `fault(request, answer)`
 * may change {status, headers, body} of an answer, or answer itself and give true.
 */
export async function serveRanges(object, {fault = null, headers = {}, name = "object.dbdf", files = {}} = {}) {
  const log = {requests: 0, bytes: 0, ranges: []};
  const server = createServer(async (request, response) => {
    const path = request.url.split("?")[0].slice(1);
    if (Object.hasOwn(files, path)) {
      response.writeHead(200, {"Content-Type": "text/html"}).end(files[path]);
      return;
    }
    if (path !== name) { response.writeHead(404).end(); return; }
    ++log.requests;
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    const answer = {status: 200, headers: {ETag: '"1"', "Content-Length": object.size, ...headers}, body: Buffer.alloc(0)};
    if (range && Number(range[1]) < object.size) {
      const first = Number(range[1]), end = Math.min(Number(range[2]) + 1, object.size);
      answer.body = Buffer.from(await object.read(first, end - first));
      log.bytes += answer.body.length;
      log.ranges.push([first, end]);
      answer.status = 206;
      answer.headers["Content-Range"] = `bytes ${first}-${end - 1}/${object.size}`;
      answer.headers["Content-Length"] = answer.body.length;
    } else if (range) {
      answer.status = 416;
    }
    if (fault && fault(request, answer, log, response)) return;
    response.writeHead(answer.status, answer.headers);
    if (request.method === "HEAD") response.end(); else response.end(answer.body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${server.address().port}/`;
  return {url: base + name, base, log, close: () => { server.closeAllConnections?.(); server.close(); }};
}

export const bytesObject = (bytes) => ({size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length)});
