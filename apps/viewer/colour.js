// From values to colours, and numbers to text; as the program's own pictures do it.

const VIRIDIS = [[0.27773, 0.00541, 0.3341], [0.10509, 1.40461, 1.38459],
  [-0.33086, 0.21485, 0.0951], [-4.63423, -5.7991, -19.33244], [6.22827, 14.17993, 56.69055],
  [4.77638, -13.74515, -65.35303], [-5.43546, 4.64585, 26.31244]];
const KINDS = {empty: [240, 240, 240], dense: [0, 114, 178], csr: [86, 180, 233], coo: [230, 159, 0]};
const KIND_NAMES = ["empty", "dense", "csr", "coo"];
const INFINITE = [[204, 121, 167], [86, 180, 233]];  // plus, minus
const OTHER = {nan: [213, 94, 0], absent: [208, 208, 208], unknown: [232, 232, 232]};
const WHAT_TEXT = {density: "non-zeros per cell", mean: "mean", min: "minimum", max: "maximum",
  kind: "kind of block"};

function viridis(t) {
  return [0, 1, 2].map((c) => {
    let value = 0;
    for (let k = 6; k >= 0; --k) value = value * t + VIRIDIS[k][c];
    return Math.round(255 * Math.min(1, Math.max(0, value)));
  });
}
const RAMP = Array.from({length: 256}, (_, i) => viridis(i / 255));

/** The colour of a part 0 to 1 of the scale: the denser the darker, otherwise the more the brighter. */
function rampColour(t, what) {
  return RAMP[Math.round(255 * (what === "density" ? 1 - t : t))];
}

/** What the numbers of some pixels are like: `eachPixel(take)` gives them. */
function extremesOf(eachPixel) {
  const found = {low: Infinity, high: -Infinity, positive: Infinity, whole: true, sum: 0, n: 0, states: new Set(), some: []};
  let each = 1, seen = 0;  // one value in `each` is among `some`
  eachPixel((value, state, n) => {
    if (state !== NUMBER || !Number.isFinite(value)) {
      found.states.add(state === NUMBER ? value : state);
      return;
    }
    found.low = Math.min(found.low, value);
    found.high = Math.max(found.high, value);
    if (value > 0) found.positive = Math.min(found.positive, value);
    found.whole &&= Number.isInteger(value);
    if (seen++ % each === 0) found.some.push(value);
    if (found.some.length === 8192) { found.some = found.some.filter((_, i) => i % 2 === 0); each *= 2; }
    found.sum += value * n;
    found.n += n;
  });
  return found;
}

const SCALINGS = ["linear", "log", "rank"];
const RANKS = 64;

/** Of values that differ, RANKS + 1 with as many between each two: what ranks are measured by. */
function ranksOf(values) {
  const apart = [...new Set(values)].sort((a, b) => a - b);
  return Array.from({length: RANKS + 1}, (_, k) => apart[Math.round(k / RANKS * (apart.length - 1))]);
}

/**
 * The scale for numbers of which these are the extremes. `scaling` is one of SCALINGS, or null to choose:
 * logarithms suit counts and densities of wide range, ranks other values of which few are far from most.
 */
function makeScale(what, extremes, scaling, counts) {
  let {low, high} = extremes;
  const {positive} = extremes, skewed = extremes.whole && extremes.sum / extremes.n < high / 8;
  if (!(low <= high)) { low = 0; high = 1; }
  const suits = (what === "density" || ((counts || skewed) && low >= 0)) && high / positive >= 8;
  const ranks = extremes.some.length > 2 ? ranksOf(extremes.some) : null;
  const crowded = ranks && ranks[RANKS * 0.875] - ranks[RANKS * 0.125] < (high - low) / 16;
  const chosen = scaling ?? (suits ? "log" : crowded ? "rank" : "linear");
  const scale = {what, low, high, log: chosen === "log", ranks: chosen === "rank" ? ranks : null};
  if (scale.log) {
    if (scale.high <= 0) scale.high = 1;
    if (scale.low <= 0) scale.low = Math.min(positive, scale.high);
    if (scale.low >= scale.high) scale.low = scale.high / 10;
  } else if (scale.low >= scale.high) {
    const half = Math.max(0.5, Math.abs(scale.low) * 1e-3);
    if (what === "density") scale.high = 1;
    else { scale.high = scale.low + half; scale.low -= half; }
  }
  return scale;
}

function placeAmong(ranks, value) {
  let k = 0;
  for (let step = RANKS / 2; step >= 1; step /= 2) if (k + step < RANKS && ranks[k + step] <= value) k += step;
  const part = (value - ranks[k]) / (ranks[k + 1] - ranks[k]);
  return Math.min(1, Math.max(0, (k + (Number.isFinite(part) ? part : 0)) / RANKS));
}

/** The scale of a column: frames have one for each. */
const scaleAt = (scale, col) => scale.columns?.[col] ?? scale;

/** 0 to 1, or null for what a logarithm cannot show. */
function placeOn(scale, value) {
  if (scale.log && value <= 0) return null;
  if (scale.ranks) return placeAmong(scale.ranks, value);
  const t = scale.log ? Math.log(value / scale.low) / Math.log(scale.high / scale.low)
    : (value / 2 - scale.low / 2) / (scale.high / 2 - scale.low / 2);
  return Number.isNaN(t) ? 0 : Math.min(1, Math.max(0, t));
}

/** Of a number, or of a pixel whose state says why it has none. */
function colourOf(state, value, scale) {
  if (state === NAN) return OTHER.nan;
  if (state === ABSENT) return OTHER.absent;
  if (state === UNKNOWN) return OTHER.unknown;
  if (scale.what === "kind") return KINDS[KIND_NAMES[value]] || OTHER.unknown;
  if (scale.what === "density" && value <= 0) return [255, 255, 255];
  if (!Number.isFinite(value)) return INFINITE[value > 0 ? 0 : 1];
  const t = placeOn(scale, value);
  return t === null ? [255, 255, 255] : rampColour(t, scale.what);
}

const css = ([r, g, b]) => `rgb(${r},${g},${b})`;

/** A value in few digits. */
function brief(value, digits = 4) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "inf" : "-inf";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e7) return String(Number(value.toPrecision(digits)));
  return value.toExponential(digits - 1).replace(/\.?0+e/, "e");
}

/** Both ends of a scale and its middle, in as few digits as tell them apart. */
function scaleTexts({low, high, log, ranks}) {
  const middle = ranks ? ranks[RANKS / 2] : log ? Math.sqrt(low) * Math.sqrt(high) : low / 2 + high / 2;
  const apart = Math.log10(Math.max(Math.abs(low), Math.abs(high))) - Math.log10(high - low);
  const digits = log || ranks || !Number.isFinite(apart) ? 3 : Math.min(16, 3 + Math.max(0, Math.floor(apart)));
  return [low, middle, high].map((value) => brief(value, digits));
}

/** A whole number with thin spaces between thousands. */
const grouped = (n) => Math.round(n).toLocaleString("en").replaceAll(",", "\u202f");

function roundStep(step) {
  const power = 10 ** Math.floor(Math.log10(step));
  for (const factor of [1, 2, 5, 10]) if (factor * power >= step * 0.999) return factor * power;
  return 10 * power;
}
