// XXH3-64 of xxHash 0.8 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), the hash of the format. Short
// input is hashed with BigInt; long input in halves of 32 bits, which is ten times as fast.

const SECRET = Uint8Array.from((
  "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221" +
  "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8" +
  "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb" +
  "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
).match(/../g), (hex) => parseInt(hex, 16));
const P32 = [0x9e3779b1n, 0x85ebca77n, 0xc2b2ae3dn];
const P64 = [0x9e3779b185ebca87n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n, 0x85ebca77c2b2ae63n, 0x27d4eb2f165667c5n];
const STRIPE = 64, BLOCK = 1024;  // bytes that share a part of the secret, and until it starts anew

const wrap = (x) => BigInt.asUintN(64, x);
const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
const secret = viewOf(SECRET);
const key = (at) => secret.getBigUint64(at, true);
const fold = (a, b) => { const product = wrap(a) * wrap(b); return wrap(product) ^ product >> 64n; };
const rotate = (x, n) => wrap(x << n) | x >> 64n - n;
const swap32 = (x) => (x & 0xffn) << 24n | (x & 0xff00n) << 8n | x >> 8n & 0xff00n | x >> 24n;

/** h, with its upper bits mixed into the lower ones before and after a multiplication. */
function mix(h, before, factor, after) {
  h = wrap(h);
  h = wrap((h ^ h >> before) * factor);
  return h ^ h >> after;
}
const avalanche = (h) => mix(h, 37n, 0x165667919e3779f9n, 32n);
function avalanche64(h) {
  h = wrap(mix(h, 33n, P64[1], 29n) * P64[2]);
  return h ^ h >> 32n;
}

function hashTo16(data, length, seed) {
  const size = BigInt(length), word = (at) => BigInt(data.getUint32(at, true)), long = (at) => data.getBigUint64(at, true);
  if (length > 8) {
    const low = long(0) ^ wrap((key(24) ^ key(32)) + seed), high = long(length - 8) ^ wrap((key(40) ^ key(48)) - seed);
    return avalanche(size + (swap32(low & 0xffffffffn) << 32n | swap32(low >> 32n)) + high + fold(low, high));
  }
  if (length >= 4) {
    seed ^= swap32(seed & 0xffffffffn) << 32n;
    const h = wrap(word(length - 4) + (word(0) << 32n)) ^ wrap((key(8) ^ key(16)) - seed);
    const mixed = wrap((h ^ rotate(h, 49n) ^ rotate(h, 24n)) * 0x9fb21c651e98df25n);
    return mix(mixed ^ (mixed >> 35n) + size, 64n, 0x9fb21c651e98df25n, 28n);
  }
  if (length === 0) return avalanche64(seed ^ key(56) ^ key(64));
  const byte = (at) => BigInt(data.getUint8(at));
  const all = byte(0) << 16n | byte(length >> 1) << 24n | byte(length - 1) | size << 8n;
  return avalanche64(all ^ wrap(BigInt((secret.getUint32(0, true) ^ secret.getUint32(4, true)) >>> 0)) + seed);
}

function hashTo240(data, length, seed) {
  const part = (at, from) =>
    fold(data.getBigUint64(at, true) ^ wrap(key(from) + seed), data.getBigUint64(at + 8, true) ^ wrap(key(from + 8) - seed));
  let sum = BigInt(length) * P64[0];
  if (length <= 128) {
    for (let i = Math.ceil(length / 32) - 1; i >= 0; --i) sum += part(16 * i, 32 * i) + part(length - 16 * i - 16, 32 * i + 16);
    return avalanche(sum);
  }
  for (let i = 0; i < 8; ++i) sum += part(16 * i, 16 * i);
  sum = avalanche(sum);
  for (let i = 8; i < length >> 4; ++i) sum += part(16 * i, 16 * i - 125);
  return avalanche(sum + part(length - 16, 119));
}

/** The secret that a seed makes of the one above. */
function seeded(seed) {
  const made = new Uint8Array(192), to = viewOf(made);
  for (let at = 0; at < 192; at += 16) {
    to.setBigUint64(at, wrap(key(at) + seed), true);
    to.setBigUint64(at + 8, wrap(key(at + 8) - seed), true);
  }
  return to;
}

/** Adds stripes of input to the eight sums, each a low and a high half. */
function addStripes(sums, data, at, stripes, keys, keyAt) {
  for (let s = 0; s < stripes; ++s, at += STRIPE, keyAt += 8) {
    for (let i = 0; i < 16; i += 2) {
      const low = data.getUint32(at + 4 * i, true), high = data.getUint32(at + 4 * i + 4, true), other = i ^ 2;
      const a = low ^ keys.getUint32(keyAt + 4 * i, true), b = high ^ keys.getUint32(keyAt + 4 * i + 4, true);
      const a0 = a & 0xffff, a1 = a >>> 16, b0 = b & 0xffff, b1 = b >>> 16, first = a0 * b0;
      const middle = a1 * b0 + a0 * b1 + (first >>> 16);
      const productHigh = a1 * b1 + Math.floor(middle / 65536), productLow = ((middle << 16) | (first & 0xffff)) >>> 0;
      const plain = sums[other] + low;
      sums[other] = plain;
      sums[other + 1] += high + (plain > 0xffffffff ? 1 : 0);
      const total = sums[i] + productLow;
      sums[i] = total;
      sums[i + 1] += productHigh + (total > 0xffffffff ? 1 : 0);
    }
  }
}

const sumOf = (sums, i) => BigInt(sums[2 * i + 1]) << 32n | BigInt(sums[2 * i]);

function hashLong(data, length, seed) {
  const keys = seed === 0n ? secret : seeded(seed), sums = new Uint32Array(16);
  const put = (i, value) => { sums[2 * i] = Number(value & 0xffffffffn); sums[2 * i + 1] = Number(value >> 32n); };
  [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]].forEach((value, i) => put(i, value));
  const blocks = Math.floor((length - 1) / BLOCK);
  for (let block = 0; block < blocks; ++block) {
    addStripes(sums, data, block * BLOCK, 16, keys, 0);
    for (let i = 0; i < 8; ++i) {
      const sum = sumOf(sums, i);
      put(i, wrap((sum ^ sum >> 47n ^ keys.getBigUint64(128 + 8 * i, true)) * P32[0]));
    }
  }
  addStripes(sums, data, blocks * BLOCK, Math.floor((length - 1 - blocks * BLOCK) / STRIPE), keys, 0);
  addStripes(sums, data, length - STRIPE, 1, keys, 121);
  let result = BigInt(length) * P64[0];
  for (let i = 0; i < 4; ++i) {
    result += fold(sumOf(sums, 2 * i) ^ keys.getBigUint64(11 + 16 * i, true),
      sumOf(sums, 2 * i + 1) ^ keys.getBigUint64(19 + 16 * i, true));
  }
  return avalanche(result);
}

/** The hash of bytes (a Uint8Array), as a BigInt. */
export function xxh3(bytes, seed = 0n) {
  const data = viewOf(bytes), length = bytes.length;
  return length <= 16 ? hashTo16(data, length, seed) : length <= 240 ? hashTo240(data, length, seed) : hashLong(data, length, seed);
}
