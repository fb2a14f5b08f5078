// Stored values as values of a column's type, and as people write them.
import { bitsOf, sizeOf } from "./values.js";

const LIMITS = {u8: [0, 2 ** 8 - 1], u16: [0, 2 ** 16 - 1], u32: [0, 2 ** 32 - 1], i8: [-(2 ** 7), 2 ** 7 - 1],
  i16: [-(2 ** 15), 2 ** 15 - 1], i32: [-(2 ** 31), 2 ** 31 - 1]};
const WIDE_LIMITS = {u64: [0n, 2n ** 64n - 1n], i64: [-(2n ** 63n), 2n ** 63n - 1n]};

/** A number or BigInt as a value of `type`; undefined if that does not hold it exactly. */
function exactly(value, type) {
  const whole = typeof value === "bigint" || (Number.isInteger(value) && !Object.is(value, -0));
  if (WIDE_LIMITS[type]) {
    const [least, most] = WIDE_LIMITS[type], wide = whole ? BigInt(value) : undefined;
    return whole && wide >= least && wide <= most ? wide : undefined;
  }
  if (LIMITS[type]) return whole && value >= LIMITS[type][0] && value <= LIMITS[type][1] ? Number(value) : undefined;
  const float = type === "f32" ? Math.fround(Number(value)) : Number(value);
  const same = typeof value === "bigint" ? Number.isFinite(float) && BigInt(float) === value : Object.is(float, value);
  return same ? float : undefined;
}

/** Copies values of one type to places of another: put(values, i, j) moves value i to place j of `out`. */
export function mover(from, to, out, refuse) {
  if (from === to) {  // by their bits, which keeps the payloads of NaNs
    const size = sizeOf(to), lanes = bitsOf(out);
    return (values) => {
      const own = bitsOf(values);
      return size < 8 ? (i, j) => { lanes[j] = own[i]; }
        : (i, j) => { lanes[2 * j] = own[2 * i]; lanes[2 * j + 1] = own[2 * i + 1]; };
    };
  }
  return (values) => (i, j) => {
    const value = exactly(values[i], to);
    if (value === undefined) throw refuse(values[i]);
    out[j] = value;
  };
}

/** 64-bit integers as numbers, where each of them is one that a number holds. */
export function asNumbers(values, refuse) {
  if (!(values instanceof BigInt64Array || values instanceof BigUint64Array)) return values;
  return Float64Array.from(values, (value) => {
    const number = exactly(value, "f64");
    if (number === undefined) throw refuse(value);
    return number;
  });
}

/** Whether value i is the one whose bits mark missing cells. */
function missingTest(values, mark) {
  if (mark === null) return () => false;
  const own = bitsOf(values), size = values.BYTES_PER_ELEMENT;
  if (size === 8) {
    const low = Number(mark & 0xffffffffn), high = Number(mark >> 32n);
    return (i) => own[2 * i] === low && own[2 * i + 1] === high;
  }
  const bits = Number(BigInt.asUintN(8 * size, mark));
  return (i) => own[i] === bits;
}

const PER_SECOND = {s: 1n, ms: 1000n, us: 1000000n, ns: 1000000000n};
const DIGITS = {s: 0, ms: 3, us: 6, ns: 9};
const two = (n) => String(n).padStart(2, "0");

/** Whole seconds, rounded down, and the digits of what is left. */
function split(ticks, unit) {
  const each = PER_SECOND[unit], rest = (ticks % each + each) % each;
  return [(ticks - rest) / each, DIGITS[unit] ? "." + String(rest).padStart(DIGITS[unit], "0") : ""];
}

/** Year, month and day of a day since 1970-01-01, of any year (Howard Hinnant's civil_from_days). */
function dateText(day) {
  const days = day + 719468n, era = (days < 0n ? days - 146096n : days) / 146097n, doe = days - era * 146097n;
  const yoe = (doe - doe / 1460n + doe / 36524n - doe / 146096n) / 365n, doy = doe - (365n * yoe + yoe / 4n - yoe / 100n);
  const month = (5n * doy + 2n) / 153n, m = month < 10n ? month + 3n : month - 9n;
  const year = yoe + era * 400n + (m <= 2n ? 1n : 0n), size = String(year < 0n ? -year : year).padStart(4, "0");
  return `${year < 0n ? "-" : ""}${size}-${two(m)}-${two(doy - (153n * month + 2n) / 5n + 1n)}`;
}

/** A timestamp as ISO 8601 has it; `zone` of a column puts a Z after times in UTC. */
export function timestampText(ticks, unit, zone = "") {
  if (unit === "D") return dateText(ticks);
  const [seconds, fraction] = split(ticks, unit), time = (seconds % 86400n + 86400n) % 86400n;
  return `${dateText((seconds - time) / 86400n)}T${two(time / 3600n)}:${two(time / 60n % 60n)}:${two(time % 60n)}${fraction}${zone ? "Z" : ""}`;
}

/** A duration as hours, minutes and seconds, or as days. */
export function durationText(ticks, unit) {
  if (unit === "D") return `${ticks} days`;
  const [seconds, fraction] = split(ticks < 0n ? -ticks : ticks, unit);
  return `${ticks < 0n ? "-" : ""}${two(seconds / 3600n)}:${two(seconds / 60n % 60n)}:${two(seconds % 60n)}${fraction}`;
}

/** A number in the fewest digits that read back to it. */
export const numberText = (value) => Object.is(value, -0) ? "-0" : Number.isNaN(value) ? "nan"
  : typeof value === "number" && !Number.isFinite(value) ? (value < 0 ? "-inf" : "inf") : String(value);

/** How to get the value and the text of value i of `values`, which are those of a described column. */
export function reading(column, values, refuse) {
  const isMissing = missingTest(values, column.missing ?? null);
  const plain = {number: (v) => v, boolean: (v, i) => v > 1 ? refuse(`${v} is no truth value`, i) : v === 1,
    timestamp: (v) => v, duration: (v) => v,
    category: (v, i) => v === 0 ? null : v > column.words.length ? refuse(`code ${v} has no word`, i) : column.words.at(v - 1)};
  plain.text = plain.category;
  const texts = {number: numberText, boolean: String, timestamp: (v) => timestampText(v, column.unit, column.zone),
    duration: (v) => durationText(v, column.unit), category: String, text: String};
  const value = (i) => isMissing(i) ? null : plain[column.meaning](values[i], i);
  const text = (i) => { const found = value(i); return found === null ? null : texts[column.meaning](found); };
  return {value, text};
}
