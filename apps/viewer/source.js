// Where the pieces of a file come from: a server, or this page itself. Both know them by the same
// names.

const given = JSON.parse(document.getElementById("data").textContent);

/** The piece of that name as bytes; null where there is none. `signal` says that nobody waits any more. */
async function bytesOf(name, signal) {
  if (given.pieces) {
    if (!Object.hasOwn(given.pieces, name)) return null;
    const packed = Uint8Array.from(atob(given.pieces[name]), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  const answer = await fetch(given.base + name, {signal});
  if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
  if (answer.status === 404) return null;
  const body = await answer.json().catch(() => ({}));
  throw new Error(body.error || "the server answered " + answer.status);
}

async function jsonOf(name, signal) {
  const bytes = await bytesOf(name, signal);
  return bytes && JSON.parse(new TextDecoder().decode(bytes));
}

const ABSENT = 0x7fc1, UNKNOWN = 0x7fc2, NAN = 0x7fc0;

/** The number that each code stands for: upper halves of 32-bit floats. NaNs say why there is none. */
const VALUES = new Float32Array(Uint32Array.from({length: 65536}, (_, code) => code << 16).buffer);

const tileFrom = (width, height, codes, flags = 0) =>
  ({width, height, counts: (flags & 1) !== 0, samples: (flags & 2) !== 0, codes});
/** The tiles in these bytes, which follow each other. */
function parseTiles(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset), tiles = [];
  for (let at = 0; at < bytes.length;) {
    const width = view.getUint16(at, true), height = view.getUint16(at + 2, true), n = width * height;
    const high = bytes.subarray(at + 5, at + 5 + n), low = bytes.subarray(at + 5 + n, at + 5 + 2 * n);
    const codes = new Uint16Array(n);
    for (let i = 0; i < n; ++i) codes[i] = high[i] << 8 | low[i];
    tiles.push(tileFrom(width, height, codes, bytes[at + 4]));
    at += 5 + 2 * n;
  }
  return tiles;
}

/**
 * Pieces that were asked for, the ones used last first. `onload` is called when something has come.
 */
class Store {
  constructor(load, most, onload, onerror) {
    Object.assign(this, {load, most, onload, onerror, waiting: [], busy: 0});
    this.kept = new Map();
  }
  get pending() { return this.busy + this.waiting.length; }
  /** undefined: not there, or not yet; null: there is none. */
  peek(name) {
    const piece = this.kept.get(name);
    return piece && piece.done ? piece.value : undefined;
  }
  /** The same, and has it come. */
  get(name) {
    this.ask(name);
    this.begin();
    return this.peek(name);
  }
  /** Has these come, in this order, and none that were asked for before: the view has moved on. */
  want(names) {
    const wanted = new Set(names);
    for (const [name, piece] of this.kept) {
      if (piece.done || wanted.has(name)) continue;
      if (piece.stop) piece.stop.abort();
      this.kept.delete(name);
    }
    this.waiting = [];
    for (const name of names) this.ask(name);
    this.begin();
  }
  ask(name) {
    const piece = this.kept.get(name) || {done: false, stop: null};
    this.kept.delete(name);  // and to the end, as the one used last
    this.kept.set(name, piece);
    if (!piece.done && !piece.stop && !this.waiting.includes(name)) this.waiting.push(name);
  }
  begin() {
    // What the server has begun when the view moves on, it ends: so not more than keep it busy.
    while (this.busy < 4 && this.waiting.length > 0) this.fetch(this.waiting.shift());
  }
  async fetch(name) {
    const piece = this.kept.get(name), stop = piece.stop = new AbortController();
    ++this.busy;
    try {
      piece.value = await this.load(name, stop.signal);
    } catch (error) {
      piece.value = null;
      if (!stop.signal.aborted) this.onerror(error);
    }
    piece.done = true;
    --this.busy;
    for (const [old, {done}] of this.kept) {
      if (this.kept.size <= this.most) break;
      if (done) this.kept.delete(old);
    }
    this.onload(name);
    this.begin();
  }
}
