// Value types, and bytes as values of them.

export const TYPES = [null, "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64"];
export const KINDS = ["empty", "dense", "csr", "coo"];
export const ARRAYS = {u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array, i8: Int8Array,
  i16: Int16Array, i32: Int32Array, i64: BigInt64Array, f32: Float32Array, f64: Float64Array};
export const MOST = 2 ** 30;  // bytes that are decoded at once, and made for a caller

export const sizeOf = (type) => ARRAYS[type].BYTES_PER_ELEMENT;
export const dataOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
/** Offsets above 2^53 are rounded, and still beyond every file. */
export const u64 = (data, at) => data.getUint32(at, true) + data.getUint32(at + 4, true) * 2 ** 32;
const LITTLE = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;
/** Bytes as values, copied only where they are not aligned for that. */
export function valuesOf(bytes, type) {
  if (!LITTLE) throw new Error("this machine is big endian, for which nothing here was made");
  const whole = bytes.byteOffset % sizeOf(type) === 0 ? bytes : bytes.slice();
  return new ARRAYS[type](whole.buffer, whole.byteOffset, whole.length / sizeOf(type));
}

const LANES = {1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Uint32Array};
/** The bits of values, of those with 8 bytes in halves. Their buffer may go on, to a place that is not aligned. */
export function bitsOf(values) {
  const LANE = LANES[values.BYTES_PER_ELEMENT];
  return new LANE(values.buffer, values.byteOffset, values.byteLength / LANE.BYTES_PER_ELEMENT);
}

const TEXT = new TextDecoder("utf-8", {ignoreBOM: true});
/** UTF-8 as text, all of it: a mark U+FEFF at its start is a part of it. */
export const textOf = (bytes) => TEXT.decode(bytes);
