// Where bytes come from: an address, a Blob, or memory. A source has a name, a size, and
// read(offset, length), which gives a promise of exactly these bytes.

/** What is wrong with a file, or with a server; `byte` is where, if that is known. */
export class DbdfError extends Error {
  constructor(name, what, byte = null) {
    super(byte === null ? `${name}: ${what}` : `${name}, byte ${byte}: ${what}`);
    Object.assign(this, {name: "DbdfError", file: name, byte});
  }
}

const bufferSource = (bytes, name) => ({name, size: bytes.length, willNeed() {},
  read: async (offset, length) => bytes.subarray(offset, offset + length)});
const blobSource = (blob, name) => ({name, size: blob.size, willNeed() {},
  read: async (offset, length) => new Uint8Array(await blob.slice(offset, offset + length).arrayBuffer())});

const PIECE = 1 << 14, FIRST = 1 << 16;
const NEAR = 1 << 17, LONGEST = 512;  // bytes between ranges that one request fetches; pieces of one request
const TRIES = 4, PATIENCE = 60000;  // of one request, the latter in milliseconds
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * An object at an address, fetched in ranges. Answers to ranges are not cached by browsers, so its pieces
 * are kept here, the ones used last, of at most `kept` bytes.
 */
class UrlSource {
  constructor(url, {headers = {}, kept = 1 << 28, fetch: ask = globalThis.fetch} = {}) {
    Object.assign(this, {url, headers, most: Math.ceil(kept / PIECE), ask, size: null, state: null, requests: 0, bytes: 0});
    this.name = String(url).replace(/[?#].*/, "").replace(/\/\/[^/@]*@/, "//");  // neither keys nor passwords
    this.pieces = new Map();
  }

  fail(what) { return new DbdfError(this.name, what); }

  /** Finds out how long the object is, and what its first bytes are. */
  async open() {
    this.keep(0, await this.uncut(async () => {
      const answer = await this.request(0, FIRST - 1);
      const all = /^bytes 0-\d+\/(\d+)$/.exec(answer.headers.get("content-range") ?? "");
      this.size = all ? Number(all[1]) : await this.length();
      if (!Number.isSafeInteger(this.size)) throw this.fail("the server does not say how long it is");
      this.state = this.stateOf(answer);
      return this.body(answer, Math.min(FIRST, this.size));
    }));
    return this;
  }

  /** Other origins show Content-Range only if they expose it; every page may see Content-Length. */
  async length() {
    const answer = await this.send({method: "HEAD", headers: this.headers});
    const length = answer.headers.get("content-length");
    return answer.ok && length !== null ? Number(length) : NaN;
  }

  stateOf(answer) {
    return ["etag", "last-modified"].map((name) => answer.headers.get(name) ?? "").join(" ");
  }

  /** One request; what may pass is tried again, after a while. */
  async send(options) {
    for (let attempt = 1; ; ++attempt) {
      let answer = null, why = null;
      ++this.requests;
      try {
        answer = await this.ask.call(globalThis, this.url, {...options, signal: AbortSignal.timeout(PATIENCE)});
      } catch (error) {
        why = error;
      }
      if (answer && answer.status !== 429 && answer.status < 500) return answer;
      await answer?.body?.cancel();
      if (attempt === TRIES || why?.name === "TimeoutError") {
        throw this.fail(answer ? `the server answered ${answer.status}` : `cannot be fetched (${why.message}). ` +
          "Where the server is another than that of the page, it must allow it: Access-Control-Allow-Origin: *");
      }
      await pause(200 * 2 ** attempt);
    }
  }

  async request(first, last) {
    const answer = await this.send({headers: {...this.headers, Range: `bytes=${first}-${last}`}});
    if (answer.status === 206) return answer;
    await answer.body?.cancel();
    if (answer.status === 416) throw this.fail("there are no bytes, or no longer those that were asked for");
    throw this.fail(answer.status === 200 ? "the server sends only whole files; one that answers ranges is needed"
      : `the server answered ${answer.status}`);
  }

  /** The body of an answer, never more than what was asked for. */
  async body(answer, length) {
    const bytes = new Uint8Array(length);
    let at = 0;
    const reader = answer.body.getReader();
    for (let part; !(part = await reader.read()).done; at += part.value.length) {
      if (part.value.length > length - at) {
        await reader.cancel();
        throw this.fail(`the server sent more than the ${length} bytes that were asked for`);
      }
      bytes.set(part.value, at);
    }
    if (at !== length) throw this.fail(`the server sent ${at} bytes in place of ${length}`);
    this.bytes += length;
    return bytes;
  }

  /** What `ask` gives, which is called again where an answer was cut. */
  async uncut(ask) {
    for (let attempt = 1; ; ++attempt) {
      try {
        return await ask();
      } catch (error) {
        if (error instanceof DbdfError || attempt === TRIES) throw error instanceof DbdfError ? error : this.fail(error.message);
        await pause(200 * 2 ** attempt);
      }
    }
  }

  /** Bytes of one request, which must be of the object that was opened. */
  range(first, end) {
    return this.uncut(async () => {
      const answer = await this.request(first, end - 1), range = answer.headers.get("content-range");
      if (range !== null && range !== `bytes ${first}-${end - 1}/${this.size}`) {
        await answer.body.cancel();
        throw this.fail(`bytes ${first}-${end - 1}/${this.size} were asked for, the server sent "${range}"`);
      }
      if (this.stateOf(answer) !== this.state) {
        await answer.body.cancel();
        throw this.fail("it was replaced meanwhile; open it again");
      }
      return this.body(answer, end - first);
    });
  }

  keep(offset, bytes) {
    for (let at = 0; at < bytes.length; at += PIECE) {
      if (at + PIECE > bytes.length && offset + bytes.length < this.size) break;  // not all of that piece
      this.pieces.set((offset + at) / PIECE, Promise.resolve(bytes.subarray(at, at + PIECE)));
    }
  }

  /** Pieces first to end - 1, one after the other; those that are missing next to each other in one request. */
  piecesOf(first, end) {
    const found = [];
    for (let number = first; number < end;) {
      const piece = this.pieces.get(number);
      let next = number + 1;
      if (!piece) {
        while (next < end && next - number < LONGEST && !this.pieces.has(next)) ++next;
        const start = number, bytes = this.range(start * PIECE, Math.min(next * PIECE, this.size));
        for (let k = start; k < next; ++k) {
          this.pieces.set(k, bytes.then((all) => all.subarray((k - start) * PIECE, (k - start + 1) * PIECE)));
        }
        bytes.catch(() => { for (let k = start; k < next; ++k) this.pieces.delete(k); });
      }
      for (; number < next; ++number) {
        const one = this.pieces.get(number);
        this.pieces.delete(number);  // and to the end, as the one used last
        this.pieces.set(number, one);
        found.push(one);
      }
    }
    return found;
  }

  /** Has these ranges, [offset, length], come; those near each other together. */
  willNeed(ranges) {
    let begin = null, end = null;
    const ask = () => Promise.all(this.piecesOf(Math.floor(begin / PIECE), Math.ceil(end / PIECE))).catch(() => {});
    for (const [offset, length] of [...ranges].sort((a, b) => a[0] - b[0])) {
      if (begin !== null && offset > end + NEAR) { ask(); begin = null; }
      begin ??= offset;
      end = Math.max(end ?? 0, offset + length);
    }
    if (begin !== null) ask();
  }

  async read(offset, length) {
    const bytes = new Uint8Array(length), first = Math.floor(offset / PIECE);
    const found = await Promise.all(this.piecesOf(first, Math.ceil((offset + length) / PIECE)));
    found.forEach((piece, i) => {
      const start = (first + i) * PIECE - offset;
      const part = piece.subarray(Math.max(0, -start), Math.min(piece.length, length - start));
      bytes.set(part, Math.max(0, start));
    });
    for (const number of this.pieces.keys()) {
      if (this.pieces.size <= this.most) break;
      this.pieces.delete(number);
    }
    return bytes;
  }
}

/** A source that somebody else wrote, of whose answers nothing is believed. */
const foreignSource = (from, name) => ({name, size: from.size, willNeed() {},
  async read(offset, length) {
    const bytes = await from.read(offset, length);
    if (bytes instanceof Uint8Array && bytes.length === length) return bytes;
    const what = bytes instanceof Uint8Array ? `${bytes.length} bytes` : "something that is no Uint8Array";
    throw new DbdfError(name, `${length} bytes were asked for, its source gave ${what}`, offset);
  }});

/** A source of an address, a Blob, an ArrayBuffer, bytes, or of something that is a source already. */
export async function sourceOf(from, options = {}) {
  if (typeof from === "string" || from instanceof URL) return new UrlSource(from, options).open();
  const name = options.name ?? from?.name ?? "the file";
  if (from instanceof Blob) return blobSource(from, name);
  if (from instanceof ArrayBuffer) return bufferSource(new Uint8Array(from), name);
  if (ArrayBuffer.isView(from)) return bufferSource(new Uint8Array(from.buffer, from.byteOffset, from.byteLength), name);
  if (typeof from?.read === "function" && Number.isSafeInteger(from.size) && from.size >= 0) return foreignSource(from, name);
  throw new TypeError("an address, a Blob, an ArrayBuffer, bytes, or {size, read(offset, length)} is needed");
}
