// Where the pieces of a file come from: a server, or this page itself. Both know them by the same
// names.

const given = JSON.parse(document.getElementById("data").textContent);

/** The piece of that name as bytes; null where there is none. */
async function bytesOf(name) {
  if (given.pieces) {
    if (!Object.hasOwn(given.pieces, name)) return null;
    const packed = Uint8Array.from(atob(given.pieces[name]), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  const answer = await fetch(given.base + name);
  if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
  if (answer.status === 404) return null;
  const body = await answer.json().catch(() => ({}));
  throw new Error(body.error || "the server answered " + answer.status);
}

async function jsonOf(name) {
  const bytes = await bytesOf(name);
  return bytes && JSON.parse(new TextDecoder().decode(bytes));
}

const ABSENT = 0x7fc1, UNKNOWN = 0x7fc2, NAN = 0x7fc0;

/** A tile of these values: upper halves of 32-bit floats, with NaNs that say why there is no number. */
function tileFrom(width, height, codes, flags = 0) {
  const values = new Float32Array(codes.length), bits = new Uint32Array(values.buffer);
  for (let i = 0; i < bits.length; ++i) bits[i] = codes[i] << 16;
  return {width, height, counts: (flags & 1) !== 0, samples: (flags & 2) !== 0, codes, values};
}
function parseTile(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const width = view.getUint16(0, true), height = view.getUint16(2, true), n = width * height;
  const codes = new Uint16Array(n);
  for (let i = 0; i < n; ++i) codes[i] = bytes[5 + i] << 8 | bytes[5 + n + i];
  return tileFrom(width, height, codes, bytes[4]);
}

/**
 * Pieces that were asked for, the ones used last first. `get` gives what is there and asks for what
 * is not; `onload` is called when something has come.
 */
class Store {
  constructor(load, most, onload, onerror) {
    Object.assign(this, {load, most, onload, onerror, waiting: [], busy: 0});
    this.kept = new Map();
  }
  get pending() { return this.busy + this.waiting.length; }
  peek(name) {
    const piece = this.kept.get(name);
    return piece && piece.done ? piece.value : undefined;
  }
  /** undefined: on its way; null: there is none. */
  get(name) {
    const piece = this.kept.get(name);
    if (piece) {
      this.kept.delete(name);  // and to the end, as the one used last
      this.kept.set(name, piece);
      return piece.done ? piece.value : undefined;
    }
    this.kept.set(name, {done: false});
    this.waiting.push(name);
    this.next();
    return undefined;
  }
  /** Forgets what was asked for and not begun: the view has moved on. */
  forgetWaiting() {
    for (const name of this.waiting) this.kept.delete(name);
    this.waiting = [];
  }
  async next() {
    if (this.busy >= 6 || this.waiting.length === 0) return;
    const name = this.waiting.shift();
    ++this.busy;
    try {
      this.kept.set(name, {done: true, value: await this.load(name)});
      for (const old of this.kept.keys()) {
        if (this.kept.size <= this.most) break;
        if (this.kept.get(old).done) this.kept.delete(old);
      }
    } catch (error) {
      this.kept.set(name, {done: true, value: null});
      this.onerror(error);
    }
    --this.busy;
    this.onload(name);
    this.next();
  }
}
