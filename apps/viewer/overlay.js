// What is drawn over the picture: axes, borders of blocks, values of cells; and the panels beside it.

function cssVariable(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Round cell numbers between two cells, `gap` pixels apart at least. */
function axisTicks(begin, end, scale, gap) {
  const step = Math.max(1, roundStep(gap / scale));
  const ticks = [];
  for (let at = Math.ceil(begin / step) * step; at < end; at += step) ticks.push(at);
  return ticks;
}

function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let n = Math.floor(text.length * width / context.measureText(text).width);
  while (n > 0 && context.measureText(text.slice(0, n) + "\u2026").width > width) --n;
  return n > 0 ? text.slice(0, n) + "\u2026" : "";
}

function drawAxes(context, view, cells, labelOf) {
  context.fillStyle = cssVariable("--back");
  context.fillRect(0, 0, LEFT + view.width, TOP);
  context.fillRect(0, 0, LEFT, TOP + view.height);
  context.fillStyle = cssVariable("--ink");
  context.strokeStyle = cssVariable("--soft");
  context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
  context.textBaseline = "middle";
  context.beginPath();
  const middle = (scale) => scale >= 8 ? scale / 2 : 0;  // of a cell that is seen as one
  context.textAlign = "center";
  const columnGap = view.sx >= 44 ? view.sx : 84;
  for (const col of axisTicks(cells.left, cells.right, view.sx, columnGap)) {
    const x = Math.round(LEFT + view.x(col) + middle(view.sx)) + 0.5;
    if (x < LEFT - 1) continue;
    context.moveTo(x, TOP - 5);
    context.lineTo(x, TOP);
    const label = labelOf(col);
    const room = view.sx >= 44 ? view.sx - 4 : 80;
    context.fillText(fitted(context, label ?? grouped(col), room), x, TOP - 14);
  }
  context.textAlign = "right";
  for (const row of axisTicks(cells.top, cells.bottom, view.sy, view.sy >= 16 ? view.sy : 44)) {
    const y = Math.round(TOP + view.y(row) + middle(view.sy)) + 0.5;
    if (y < TOP - 1) continue;
    context.moveTo(LEFT - 5, y);
    context.lineTo(LEFT, y);
    context.fillText(grouped(row), LEFT - 8, y);
  }
  context.stroke();
}

/** Lines around blocks that are large enough to be told apart, with kind and type inside. */
function drawBlocks(context, view, lists) {
  context.save();
  context.beginPath();
  context.rect(LEFT, TOP, view.width, view.height);
  context.clip();
  context.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  context.textBaseline = "top";
  context.textAlign = "left";
  for (const [rx, cx, rows, cols, kind, type, stored] of lists.flat()) {
    const x = LEFT + view.x(cx), y = TOP + view.y(rx), wide = cols * view.sx, high = rows * view.sy;
    if (x > LEFT + view.width || y > TOP + view.height || x + wide < LEFT || y + high < TOP) continue;
    const small = Math.min(wide, high);
    if (small < 10) continue;
    context.strokeStyle = `rgba(60,66,74,${Math.min(0.6, small / 160)})`;
    context.strokeRect(Math.round(x) + 0.5, Math.round(y) + 0.5, Math.round(wide), Math.round(high));
    if (wide < 40 || high < 40 || view.showsValues()) continue;
    const texts = type ? [`${kind} ${type}, ${grouped(stored)}`, `${kind} ${type}`, kind] : [kind];
    const left = Math.max(x, LEFT) + 4, top = Math.max(y, TOP) + 4;
    const room = Math.min(x + wide, LEFT + view.width) - left - 6;
    const shown = texts.find((text) => context.measureText(text).width < room);
    if (!shown) continue;
    context.fillStyle = "rgba(255,255,255,.82)";
    context.fillRect(left - 2, top - 2, context.measureText(shown).width + 5, 16);
    context.fillStyle = "#20242a";
    context.fillText(shown, left, top);
  }
  context.restore();
}

/** `colourAt(row, col)` is what the text is written on. */
function drawValues(context, view, cells, textOf, colourAt) {
  context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (let row = cells.top; row < cells.bottom; ++row) {
    for (let col = cells.left; col < cells.right; ++col) {
      const known = textOf(row, col), text = known === NOT_READ ? "?" : known;
      if (!text) continue;
      const [r, g, b] = colourAt(row, col) || [255, 255, 255];
      const dark = 0.299 * r + 0.587 * g + 0.114 * b < 140;
      context.fillStyle = text === "0" ? (dark ? "rgba(255,255,255,.45)" : "rgba(0,0,0,.3)") : dark ? "#fff" : "#111";
      const x = LEFT + view.x(col + 0.5), y = TOP + view.y(row + 0.5);
      if (x < LEFT || y < TOP) continue;
      context.fillText(fitted(context, text, view.sx - 6), x, y);
    }
  }
}

/** `used`: some value has a colour of the scale. */
function drawBar(canvas, scale, used) {
  const context = canvas.getContext("2d"), width = canvas.width;
  context.clearRect(0, 0, width, canvas.height);
  if (scale.what === "kind" || !used) return;
  for (let x = 0; x < width; ++x) {
    context.fillStyle = css(rampColour(x / (width - 1), scale.what));
    context.fillRect(x, 0, 1, 14);
  }
  context.fillStyle = cssVariable("--ink");
  context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
  context.textBaseline = "top";
  context.textAlign = "left";
  const [low, middle, high] = scale.columns ? ["least", "", "greatest"] : scaleTexts(scale);
  context.fillText(low, 0, 18);
  context.textAlign = "right";
  context.fillText(high, width, 18);
  const taken = context.measureText(low).width + context.measureText(middle).width + context.measureText(high).width;
  context.textAlign = "center";
  if (taken + 16 < width) context.fillText(middle, width / 2, 18);
}

/** `bins`: how many cells each part of the scale has. */
function drawHistogram(canvas, bins, scale) {
  const context = canvas.getContext("2d"), most = Math.max(...bins, 1e-300);
  const wide = canvas.width / bins.length, high = canvas.height - 2;
  context.clearRect(0, 0, canvas.width, canvas.height);
  bins.forEach((n, i) => {
    if (n <= 0) return;
    const size = Math.max(1, Math.sqrt(n / most) * high);  // rare values shall be seen, too
    context.fillStyle = css(rampColour((i + 0.5) / bins.length, scale.what));
    context.fillRect(i * wide, high - size, Math.max(1, wide - 1), size);
  });
  context.fillStyle = cssVariable("--line");
  context.fillRect(0, high, canvas.width, 1);
}

/** A number that comes from pixels of which a number of digits are right. */
function fromPixels(value, exact, digits) {
  const known = exact && (digits === ALL_DIGITS || !Number.isFinite(value));
  return (known ? "" : "\u2248 ") + brief(value, Math.min(digits, known ? 9 : 6));
}

/** What the pixels of one figure in view come to; of none unless all of its tiles are there. */
function sumsOf(tiles, eachPixel) {
  const sum = {n: 0, total: 0, low: Infinity, high: -Infinity, unread: 0, samples: false, digits: ALL_DIGITS};
  if (!tiles.every((tile) => tile)) return sum;
  for (const tile of tiles) {
    sum.samples ||= tile.samples;
    sum.digits = Math.min(sum.digits, tile.digits);
  }
  eachPixel((value, why, n) => {
    if (why === UNKNOWN) sum.unread += n;
    if (why !== NUMBER) return;
    sum.n += n;
    sum.total += value * n;
    sum.low = Math.min(sum.low, value);
    sum.high = Math.max(sum.high, value);
  });
  return sum;
}

/**
 * Terms and texts for what is in view. `exact`: pixels are cells; `none`: what is said without a number;
 * `ruled`: some cells are no numbers, and others mark missing ones.
 */
function figuresOf({density, mean, min, max}, exact, none, cells, ruled) {
  const partly = mean.samples || (mean.unread > 0 && !ruled);
  const show = (sum, value, bound) => sum.n === 0 ? none
    : partly && bound ? `${bound} ${brief(value, Math.min(sum.digits, 6))}` : fromPixels(value, exact && !partly, sum.digits);
  const span = (from, to) => from < to ? `${grouped(from)} \u2013 ${grouped(to - 1)}` : "none";
  const figures = [["rows", span(cells.top, cells.bottom)], ["columns", span(cells.left, cells.right)],
    ["non-zero", density.n > 0 ? `${exact ? "" : "\u2248 "}${grouped(density.total)} (${brief(100 * density.total / density.n, 3)} %)` : none],
    ["mean", show(mean, mean.total / mean.n)], ["minimum", show(min, min.low, "\u2264")], ["maximum", show(max, max.high, "\u2265")]];
  if (mean.unread > 0) {
    const share = Math.min(99.9, 100 * mean.unread / density.n);
    figures.push(["of these", `${brief(share, 3)} % of the cells ${ruled ? "are no numbers" : "were not read"}`]);
  }
  if (mean.samples) figures.push(["values", "from samples only"]);
  return figures;
}

/** Fills a list of terms; what comes from files is set as text, never as markup. */
function fillList(list, pairs) {
  list.replaceChildren(...pairs.flatMap(([term, text]) => {
    const dt = document.createElement("dt"), dd = document.createElement("dd");
    dt.textContent = term;
    dd.textContent = text;
    return [dt, dd];
  }));
}

function fillKeys(element, entries) {
  element.replaceChildren(...entries.flatMap(([colour, text]) => {
    const box = document.createElement("span"), name = document.createElement("b");
    box.style.background = css(colour);
    name.textContent = text;
    return [box, name];
  }));
}
