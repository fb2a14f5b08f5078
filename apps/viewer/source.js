// What a page draws comes in pieces, each with a name (TILES.md), from a source: `meta()`; `text(name)`, which
// is JSON; `tile(name, pyramid)`; and `sides`, the rows and columns of a piece of cells, null where there
// are none. `zooms` are those of pictures that it has, `spots` the pieces that tell what a column is like.

const given = JSON.parse(document.getElementById("data").textContent);

/** A server of dapple's, or what it has put into the page. */
class Pieces {
  constructor() {
    Object.assign(this, {sides: given.pieces ? given.cells : [64, 64], spots: 8, filters: !given.pieces});
    this.load = remembering(300, (name) => this.text(name));  // what tiles are made of
    this.figures = remembering(40, (place) => this.figuresOf(place));
  }
  /** The rows that meet a condition. */
  filter(condition) {
    const digits = [...new TextEncoder().encode(condition)].map((byte) => byte.toString(16).padStart(2, "0"));
    return this.text("rows/" + digits.join(""));
  }
  zooms(meta) { return given.pieces && (!this.sides || meta.ruled) ? given.zooms : 65; }
  meta() { return this.text("meta"); }
  async text(name, signal) {
    const bytes = await this.bytes(name, signal);
    return bytes && JSON.parse(new TextDecoder().decode(bytes));
  }
  /** The tile of that name; null where there is none. */
  async tile(name, pyramid, signal) {
    const [, what, place] = name.split("/");
    this.pyramid = pyramid;
    if (given.pieces && what !== "kind") return (await this.figures(place))?.[STAT_WHATS.indexOf(what)] ?? null;
    if (given.pieces && this.isFine(place)) return (await this.made(true, place))[0];
    const bytes = await this.bytes(name, signal);
    return bytes && parseTiles(bytes)[0];
  }
  /** Finer than what the page holds. */
  isFine(place) { return Number(place.split(".")[0]) >= given.zooms; }
  made(kind, place) {
    return tilesOfCells(kind, this.pyramid.tile(...place.split(".").map(Number)), this.pyramid, this.load, this.sides);
  }
  async figuresOf(place) {
    if (this.isFine(place)) return this.made(false, place);
    const bytes = await this.bytes(`tiles/${place}`);
    return bytes && parseTiles(bytes);
  }
  /** The piece of that name as bytes; null where there is none. `signal` says that nobody waits any more. */
  async bytes(name, signal) {
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
}

const NUMBER = 0, NAN = 1, ABSENT = 2, UNKNOWN = 3;  // states of a pixel
const ALL_DIGITS = 17;

const ALL_NUMBERS = new Uint8Array(65536);

/** A tile without a number yet. `digits`: how many of its numbers are right. */
const emptyTile = (width, height) => ({width, height, counts: false, samples: false, digits: ALL_DIGITS,
  values: new Float64Array(width * height), states: new Uint8Array(width * height).fill(ABSENT)});
/** The tiles in these bytes, which follow each other. */
function parseTiles(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset), tiles = [];
  const one = new Uint8Array(8), number = new DataView(one.buffer);
  for (let at = 0; at < bytes.length;) {
    const width = view.getUint16(at, true), height = view.getUint16(at + 2, true), n = width * height;
    const how = bytes[at + 4], kept = how >> 4 || 2, wide = (how & 8) !== 0, firstNan = wide ? 0x7ff8 : 0x7fc0;
    // Tiles that were kept by older versions do not say how they are written, nor that they are rounded.
    const rounded = (how & 4) !== 0 || how >> 4 === 0;
    const digits = rounded ? Math.round((8 * kept - (wide ? 10 : 7)) * Math.log10(2)) : ALL_DIGITS;
    const values = wide ? new Float64Array(n) : new Float32Array(n);
    let states = null;
    for (let i = 0; i < n; ++i) {
      for (let b = 0; b < kept; ++b) one[b] = bytes[at + 5 + b * n + i];
      const why = number.getUint16(0) - firstNan;
      values[i] = wide ? number.getFloat64(0) : number.getFloat32(0);
      if (why >= 0 && why <= 2) (states ||= new Uint8Array(n))[i] = NAN + why;
    }
    states ||= ALL_NUMBERS;
    tiles.push({width, height, counts: (how & 1) !== 0, samples: (how & 2) !== 0, digits, values, states});
    at += 5 + kept * n;
  }
  return tiles;
}

/** Calls make(name), or gives what it gave before; it remembers `most` of these, and none that failed. */
function remembering(most, make) {
  const kept = new Map();
  return (name) => {
    if (!kept.has(name)) kept.set(name, make(name));
    const made = kept.get(name);
    made.catch(() => kept.delete(name));
    if (kept.size > most) kept.delete(kept.keys().next().value);
    return made;
  };
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
  /** undefined: not there, or not yet, or failed; null: there is none. */
  peek(name) {
    const piece = this.kept.get(name);
    return piece && piece.done ? piece.value : undefined;
  }
  /** It was asked for and could not be had, so nothing is known of it. */
  failed(name) {
    const piece = this.kept.get(name);
    return piece !== undefined && piece.failed;
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
    const piece = this.kept.get(name) || {done: false, failed: false, stop: null};
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
      piece.failed = true;
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
