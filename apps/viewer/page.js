// The page: what is shown, what the keys and fingers do, and when it is drawn.

const $ = (id) => document.getElementById(id);
const WHATS = ["density", "mean", "min", "max", "kind"];
const STAT_WHATS = WHATS.slice(0, 4);
const BINS = 48;
const STATE_TEXT = {[NAN]: "NaN", [ABSENT]: "absent", [UNKNOWN]: "not read"};

function complain(error) {
  $("message").textContent = error.message;
  $("message").hidden = false;
}

function sizeText(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.length; ++unit) bytes /= 1024;
  return (unit ? bytes.toFixed(1) : bytes) + " " + units[unit];
}

const shortened = (text, most) => text.length > most ? text.slice(0, most) + "\u2026" : text;

function start(source, meta) {
  if (meta.ruled) STATE_TEXT[UNKNOWN] = "no number";
  LEFT = Math.max(LEFT, 14 + 8 * grouped(meta.rows).length);
  const view = new View(meta), pyramid = new Pyramid(meta, source.zooms(meta));
  const everything = {top: 0, left: 0, bottom: meta.rows, right: meta.cols};
  const state = {what: meta.what, scaling: null, borders: true, pointer: null, scale: null};
  const canvas = $("canvas"), context = canvas.getContext("2d");
  let drawing = false;
  const draw = () => {
    if (!drawing) requestAnimationFrame(() => { drawing = false; paint(); });
    drawing = true;
  };
  const texts = new Store((name, signal) => source.text(name, signal), 200, draw, complain);
  const tiles = new Store((name, signal) => source.tile(name, pyramid, signal), 800, draw, complain);
  const hasCells = source.sides !== null;

  /** Label of a column, and what its zeros say: nothing before the labels are there. */
  const columnOf = (col) => {
    if (!meta.labels && !meta.named[1]) return [null, "0"];
    const name = `labels/${Math.floor(col / 256)}`, piece = texts.get(name);
    if (!piece) return [null, texts.failed(name) ? NOT_READ : piece === null ? "0" : undefined];
    const [label, zero, type] = piece[col % 256];
    return [label, zero === "" ? MISSING : zero, type];
  };
  const labelOf = (col) => columnOf(col)[0];
  const nameAt = (row) => meta.named[0] && texts.get(`names/${Math.floor(row / 256)}`)?.[row % 256] || null;
  const valueOf = (row, col, ask) => {
    const text = hasCells ? cellText(texts, source.sides, row, col, columnOf(col)[1], ask) : undefined;
    return text === MISSING ? "missing" : text;
  };
  const table = meta.labels && hasCells ? new Table({source, meta, texts, columnAt: columnOf, onmove: draw, nameAt,
    cellAt: (row, col, plain) => cellText(texts, source.sides, row, col, columnOf(col)[1], true, plain)}) : null;
  /** Shows a frame as a table, or as a picture. */
  function turn(asTable) {
    if (table === null) return;
    state.table = asTable;
    $("mode").textContent = state.table ? "picture" : "table";
    $("sheet").hidden = !state.table;
    $("map").hidden = state.table;
    for (const tool of document.querySelectorAll(".drawn")) tool.hidden = state.table;
    for (const section of document.querySelectorAll(".view")) section.hidden = true;
    state.seen = null;
    draw();
  }
  function paintTable() {
    table.paint();
    paintReadout([], 0);
    document.body.dataset.state = texts.pending === 0 ? "ready" : "loading";
    if (texts.pending === 0) remember();
  }
  /** undefined: not yet; null: there is none, or it could not be had. */
  const dataOf = (tile, what = state.what) => {
    const name = tileName(what, tile);
    return tiles.failed(name) ? null : tiles.peek(name);
  };
  const isLost = (tile, what = state.what) => tiles.failed(tileName(what, tile));

  function paintTiles(shown) {
    context.save();
    context.translate(LEFT, TOP);
    context.beginPath();
    context.rect(0, 0, view.width, view.height);
    context.clip();
    context.imageSmoothingEnabled = false;
    for (const tile of shown) {
      const own = dataOf(tile);
      let from = tile, data = own;
      while (!data && from) {  // meanwhile, what a coarser tile shows of it
        from = pyramid.above(from);
        data = from && dataOf(from);
      }
      if (data) {
        drawTile(context, view, tile, from, data, state.scale, pyramid);
      } else if (isLost(tile)) {
        const x = view.x(tile.left), y = view.y(tile.top);
        context.fillStyle = css(OTHER.unknown);
        context.fillRect(x, y, view.x(tile.right) - x, view.y(tile.bottom) - y);
      }
      if (own !== undefined) continue;
      for (const part of pyramid.below(tile)) {  // and finer ones
        const finer = dataOf(part);
        if (finer) drawTile(context, view, part, part, finer, state.scale, pyramid);
      }
    }
    context.strokeStyle = cssVariable("--soft");
    context.strokeRect(Math.round(view.x(0)) - 0.5, Math.round(view.y(0)) - 0.5,
      Math.round(meta.cols * view.sx) + 1, Math.round(meta.rows * view.sy) + 1);
    context.restore();
  }

  function paint() {
    if (state.table) return paintTable();
    const ratio = devicePixelRatio || 1, box = $("map").getBoundingClientRect();
    if (canvas.width !== Math.round(box.width * ratio) || canvas.height !== Math.round(box.height * ratio)) {
      canvas.width = Math.round(box.width * ratio);
      canvas.height = Math.round(box.height * ratio);
      view.resize(box.width, box.height);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = cssVariable("--back");
    context.fillRect(0, 0, box.width, box.height);
    const cells = view.cells(), zoom = pyramid.zoomFor(view);
    const shown = pyramid.tiles(zoom, cells);
    // The coarsest tile first: it shows something of whatever comes into view.
    const order = [...pyramid.tiles(0, everything), ...fromTheMiddle(shown, view)];
    // What is shown comes before the figures that only the panel tells of.
    tiles.want([state.what, ...STAT_WHATS.filter((what) => what !== state.what)]
      .flatMap((what) => order.map((tile) => tileName(what, tile))));
    const loaded = shown.every((tile) => dataOf(tile) !== undefined);
    const eachPixel = (take, what) => forEachPixel(shown, cells, pyramid, (tile) => dataOf(tile, what), take);
    if (!state.scale || state.scale.what !== state.what) rescale(eachPixel);
    paintTiles(shown);
    if (state.borders) {
      const large = pyramid.tiles(meta.blocksZoom, cells);
      const average = Math.sqrt(meta.rows * view.sy * meta.cols * view.sx / Math.max(1, meta.blocks.total));
      if (average >= 10 && large.length <= 64) {
        drawBlocks(context, view, large.map((tile) =>
          texts.get(`blocks/${tile.zoom}.${tile.x}.${tile.y}`) || []));
      }
    }
    if (view.showsValues() && hasCells) {
      const onTile = (row, col) => {
        const tile = shown.find((t) => row >= t.top && row < t.bottom && col >= t.left && col < t.right);
        const data = tile && dataOf(tile);
        if (!data || zoom !== pyramid.deepest) return null;
        const i = (row - tile.top) * data.width + col - tile.left;
        return colourOf(data.states[i], data.values[i], scaleAt(state.scale, col));
      };
      drawValues(context, view, cells, (row, col) => valueOf(row, col, true), onTile);
    }
    drawAxes(context, view, cells, labelOf);
    paintReadout(shown, zoom);
    // Colours and figures change when all is there and the view rests: they take longer than a frame.
    const seen = JSON.stringify([cells, zoom, state.what, state.scaling]);
    clearTimeout(state.later);
    if (loaded && tiles.pending === 0 && state.seen !== seen) {
      state.later = setTimeout(() => {
        state.seen = seen;
        rescale(eachPixel);
        paintPanels(shown, cells, zoom, eachPixel);
        draw();
      }, 20);
    }
    const ready = tiles.pending + texts.pending === 0 && state.seen === seen;
    document.body.dataset.state = ready ? "ready" : "loading";
    if (ready) remember();
  }

  /** `eachPixel(take, what)`: of what is in view. */
  function rescale(eachPixel) {
    state.extremes = extremesOf(eachPixel);
    state.scale = makeScale(state.what, state.extremes, state.scaling, meta.counts);
    if (meta.labels && state.what !== "kind") state.scale.columns = columnScales(eachPixel);
    state.scale.key = JSON.stringify(state.scale);
  }

  /** Columns of a frame have nothing in common: each has its own scale, by column. */
  function columnScales(eachPixel) {
    const columns = new Map();
    eachPixel((...pixel) => {
      if (!columns.has(pixel[3])) columns.set(pixel[3], []);
      columns.get(pixel[3]).push(pixel);
    });
    return Object.fromEntries([...columns].map(([col, pixels]) =>
      [col, makeScale(state.what, extremesOf((take) => pixels.forEach((pixel) => take(...pixel))), state.scaling, false)]));
  }

  function paintPanels(shown, cells, zoom, eachPixel) {
    for (const section of document.querySelectorAll(".view")) section.hidden = false;
    const scale = state.scale, extremes = state.extremes, data = shown.map((tile) => dataOf(tile)).find((d) => d);
    const counted = data && data.counts, sampled = data && data.samples;
    const text = counted && scale.what === "density" ? "stored values per cell" : WHAT_TEXT[scale.what];
    const scaled = scale.columns ? ", each column by itself" : scale.log ? ", log" : scale.ranks ? ", by rank" : "";
    $("legend").textContent = text + scaled + (sampled ? ", from samples" : counted ? ", from the index" : "");
    $("log").textContent = scalingOf(scale);
    $("log").setAttribute("aria-pressed", String(scale.log || scale.ranks !== null));
    drawBar($("bar"), scale, extremes.low <= extremes.high);
    const keys = scale.what === "kind" ? KIND_NAMES.filter((kind) => meta.blocks[kind] > 0).map((kind) => [KINDS[kind], kind]) : [];
    for (const [value, name] of [[Infinity, "inf"], [-Infinity, "-inf"]]) {
      if (extremes.states.has(value)) keys.push([colourOf(NUMBER, value, scale), name]);
    }
    if (shown.some((tile) => isLost(tile))) extremes.states.add(UNKNOWN);
    for (const why of [NAN, ABSENT, UNKNOWN]) {
      if (extremes.states.has(why)) keys.push([colourOf(why, 0, scale), STATE_TEXT[why]]);
    }
    fillKeys($("keys"), keys);
    const bins = new Array(BINS).fill(0);
    if (scale.what !== "kind") {
      eachPixel((value, why, n, col) => {
        const t = why === NUMBER && Number.isFinite(value) ? placeOn(scaleAt(scale, col), value) : null;
        if (t !== null && !(scale.what === "density" && value === 0)) bins[Math.min(BINS - 1, Math.floor(t * BINS))] += n;
      });
    }
    drawHistogram($("histogram"), bins, scale);
    paintStats(shown, cells, zoom, eachPixel);
  }

  /** Sums up what the pixels in view say. */
  function paintStats(shown, cells, zoom, eachPixel) {
    const exact = zoom === pyramid.deepest, lost = shown.some((tile) => STAT_WHATS.some((what) => isLost(tile, what)));
    const sums = Object.fromEntries(STAT_WHATS.map((what) => [what, sumsOf(shown.map((tile) => dataOf(tile, what)),
      (take) => eachPixel(take, what))]));
    fillList($("stats"), [...figuresOf(sums, exact, lost ? "not read" : "\u2013", cells, meta.ruled),
      ["one pixel", `${grouped(pyramid.rowStep(zoom))} \u00d7 ${grouped(pyramid.colStep(zoom))} cells`]]);
  }

  function paintReadout(shown, zoom) {
    const [row, col] = (state.pointer || [Math.floor(view.row), Math.floor(view.col)]);
    if (row < 0 || col < 0 || row >= meta.rows || col >= meta.cols) return;
    const named = (text) => text ? ` (${shortened(text, 60)})` : "";
    let text = `row ${row}${named(nameAt(row))}, column ${col}${named(labelOf(col))}`;
    const tile = shown.find((t) => row >= t.top && row < t.bottom && col >= t.left && col < t.right);
    const data = tile && dataOf(tile);
    const value = valueOf(row, col, state.table || view.showsValues());
    if (value !== undefined) {
      text += "\nvalue " + (value === NOT_READ ? "not read" : value === null ? "absent" : value);
    } else if (tile && isLost(tile)) {
      text += `\n${WHAT_TEXT[state.what]} not read`;
    } else if (data) {
      const high = (tile.bottom - tile.top) / data.height, wide = (tile.right - tile.left) / data.width;
      const r = Math.floor((row - tile.top) / (data.samples ? high : pyramid.rowStep(zoom)));
      const c = Math.floor((col - tile.left) / (data.samples ? wide : pyramid.colStep(zoom)));
      const i = r * data.width + c, number = data.values[i], named = STATE_TEXT[data.states[i]];
      const size = zoom < pyramid.deepest ? `, of ${grouped(pyramid.rowStep(zoom))} \u00d7 ${grouped(pyramid.colStep(zoom))} cells` : "";
      text += `\n${WHAT_TEXT[state.what]} ` + (named ?? (state.what === "kind" ? KIND_NAMES[number] : fromPixels(number, zoom === pyramid.deepest && !data.samples, data.digits))) + size;
    }
    for (const list of pyramid.tiles(meta.blocksZoom, {top: row, bottom: row + 1, left: col, right: col + 1})) {
      for (const [rx, cx, rows, cols, kind, type, stored] of texts.peek(`blocks/${list.zoom}.${list.x}.${list.y}`) || []) {
        if (row < rx || row >= rx + rows || col < cx || col >= cx + cols) continue;
        text += `\nblock (${rx}, ${cx}), ${rows} \u00d7 ${cols}, ${kind}` + (type ? ` ${type}, ${grouped(stored)} stored` : "");
      }
    }
    if ($("readout").textContent !== text) $("readout").textContent = text;
  }

  /** Keeps the view in the address, so that it can be sent to somebody or loaded again. */
  function remember() {
    const numbers = [view.row, view.col, view.sy, view.sx].map((n) => Number(n.toPrecision(12)));
    try {
      history.replaceState(null, "", `#at=${numbers.join(",")}&what=${state.what}${table && !state.table ? "&view=picture" : ""}`);
    } catch { /* some browsers limit how often */ }
  }
  function recall() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const numbers = (asked.get("at") || "").split(",").map(Number);
    if (WHATS.includes(asked.get("what"))) choose(asked.get("what"));
    turn(asked.get("view") !== "picture");
    if (numbers.length === 4 && numbers.every(Number.isFinite)) {
      [view.row, view.col, view.sy, view.sx] = numbers;
      view.settle();
    }
  }

  const scalingOf = (scale) => scale?.log ? "log" : scale?.ranks ? "rank" : "linear";
  function choose(what) {
    state.what = what;
    state.scaling = null;
    $("what").value = what;
    draw();
  }
  function toggleLog() {
    state.scaling = SCALINGS[(SCALINGS.indexOf(scalingOf(state.scale)) + 1) % SCALINGS.length];
    draw();
  }
  function toggleBorders() {
    state.borders = !state.borders;
    $("borders").setAttribute("aria-pressed", String(state.borders));
    draw();
  }
  function move(action) {
    action();
    state.pointer = null;
    draw();
  }
  const keys = {
    "+": () => move(() => view.zoom(2)), "=": () => move(() => view.zoom(2)),
    "-": () => move(() => view.zoom(0.5)),
    "0": () => move(() => view.fit()), Home: () => move(() => view.fit()),
    ArrowLeft: () => move(() => view.pan(-80, 0)), ArrowRight: () => move(() => view.pan(80, 0)),
    ArrowUp: () => move(() => view.pan(0, -80)), ArrowDown: () => move(() => view.pan(0, 80)),
    PageUp: () => move(() => view.pan(0, -view.height * 0.9)),
    PageDown: () => move(() => view.pan(0, view.height * 0.9)),
    m: () => choose(WHATS[(WHATS.indexOf(state.what) + 1) % WHATS.length]),
    l: toggleLog, b: toggleBorders, g: () => $("cell").focus(), t: () => table && turn(!state.table),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT"].includes(event.target.tagName)) return;
    if (state.table && !["t", "g"].includes(event.key)) {
      table.key(event);
      return;
    }
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
  $("what").addEventListener("change", () => choose($("what").value));
  $("log").addEventListener("click", toggleLog);
  $("borders").addEventListener("click", toggleBorders);
  $("in").addEventListener("click", keys["+"]);
  $("out").addEventListener("click", keys["-"]);
  $("fit").addEventListener("click", keys["0"]);
  $("mode").addEventListener("click", keys.t);
  $("mode").hidden = table === null;
  $("go").addEventListener("submit", (event) => {
    event.preventDefault();
    const [row, col] = $("cell").value.split(/[\s,;]+/).map(Number);
    const inside = Number.isInteger(row) && Number.isInteger(col) && row >= 0 && col >= 0 && row < meta.rows && col < meta.cols;
    $("cell").setCustomValidity(inside ? "" : "a row below " + meta.rows + ", a comma, and a column below " + meta.cols);
    if (!$("cell").reportValidity()) return;
    move(() => view.goTo(row, col));
    if (state.table) table.goTo(row, col); else $("canvas").focus();
  });
  $("cell").addEventListener("input", () => $("cell").setCustomValidity(""));

  const pointers = new Map();
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left - LEFT, event.clientY - box.top - TOP];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event), before = pointers.get(event.pointerId);
    if (before) {
      const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      if (others.length > 0) {
        const [ox, oy] = others[0];
        const apart = (px, py) => Math.max(1, Math.hypot(px - ox, py - oy));
        view.zoom(apart(x, y) / apart(...before), (x + ox) / 2, (y + oy) / 2);
      } else {
        view.pan(before[0] - x, before[1] - y);
      }
      pointers.set(event.pointerId, [x, y]);
    }
    state.pointer = view.cellAt(x, y).map(Math.floor);
    draw();
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => pointers.delete(event.pointerId));
  }
  canvas.addEventListener("dblclick", (event) => move(() => view.zoom(4, ...place(event))));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const size = event.deltaMode === 1 ? 33 : 1;
    view.zoom(2 ** (-event.deltaY * size / 240), ...place(event));
    draw();
  }, {passive: false});
  for (const place of [$("map"), $("sheet")]) if (place) new ResizeObserver(draw).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

  $("shape").textContent = `${grouped(meta.rows)} \u00d7 ${grouped(meta.cols)}, ${meta.type}`;
  $("what").value = state.what;
  const kinds = KIND_NAMES.filter((kind) => meta.blocks[kind] > 0).map((kind) => `${grouped(meta.blocks[kind])} ${kind}`);
  const cellsText = hasCells || meta.rows * meta.cols === 0 ? [] : [["cells", "too many for this page; \u201cdapple view FILE\u201d shows them"]];
  fillList($("file"), [["format", meta.format], ["size", sizeText(meta.bytes)], ["stored", grouped(meta.stored)],
    ["blocks", kinds.join(", ") || "none"], ["tiles", meta.grid ? meta.grid.map(grouped).join(" \u00d7 ") : "not regular"], ...cellsText,
    ...Object.entries(meta.attributes).map(([key, value]) => [key, JSON.stringify(value)])]);
  paint();
  recall();
  draw();
}

/** Shows what a source has. */
const show = (source) => source.meta().then((meta) => start(source, meta)).catch(complain);
