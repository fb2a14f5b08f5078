// A frame as a table: rows and columns of text, what each column is like, a search, and a filter.

const ROW = 25, COLUMN = 172, MOST_HIGH = 4e6;  // pixels; of what can be scrolled over at most
const SPOT = 64;         // rows of a piece; columns are looked at in a few pieces far apart
const SEARCHED = 20000;  // rows that one search goes through at most

/** New elements, with text, never markup. */
function make(tag, text = "", name = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = name;
  return element;
}

/** A few bars, as an image: each is a share of the largest. */
function bars(counts) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), most = Math.max(1, ...counts);
  svg.setAttribute("viewBox", `0 0 ${counts.length} 10`);
  svg.setAttribute("preserveAspectRatio", "none");
  counts.forEach((n, i) => {
    const bar = document.createElementNS(svg.namespaceURI, "rect"), high = n > 0 ? Math.max(0.6, 10 * n / most) : 0;
    for (const [name, value] of Object.entries({x: i + 0.08, width: 0.84, y: 10 - high, height: high})) bar.setAttribute(name, value);
    svg.append(bar);
  });
  return svg;
}

/** A value in as few characters as a narrow column needs: an f32 in its own digits, a time without zeros of a fraction. */
function narrow(text, type) {
  if (/^timestamp/.test(type)) return text.replace(/\.0+(?=Z?$)/, "");
  for (let digits = 6; type === "f32" && text.length > 9 && digits < 10; ++digits) {
    const short = String(Number(Number(text).toPrecision(digits)));
    if (Math.fround(short) === Number(text)) return short;
  }
  return text;
}

/** How often values occur: of numbers in equal steps, of others the most frequent ones. */
function histogram(values, isNumber, steps) {
  if (!isNumber) {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    return [...counts.values()].sort((a, b) => b - a).slice(0, 12);
  }
  const finite = values.map(Number).filter(Number.isFinite), low = Math.min(...finite), high = Math.max(...finite), counts = new Array(steps).fill(0);
  for (const value of finite) ++counts[high > low ? Math.min(steps - 1, Math.floor((value - low) / (high - low) * steps)) : 0];
  return counts;
}

class Table {
  /** `cellAt(row, col)` is the text of a cell or what cellText gives in its place; `columnAt(col)` a column;
   * `nameAt(row)` the name of a row, or null. */
  constructor({source, meta, texts, columnAt, cellAt, nameAt, onmove}) {
    Object.assign(this, {source, meta, texts, columnAt, cellAt, nameAt, onmove, row: 0, col: 0, rows: null, hit: null, summaries: new Map()});
    this.load = remembering(64, (name) => source.text(name));  // what is searched
    this.scroll = $("scroll");
    this.scroll.addEventListener("scroll", () => this.scrolled());
    this.scroll.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
    $("filter").hidden = !source.filters;
    $("find").addEventListener("submit", (event) => {
      event.preventDefault();
      if (document.activeElement === $("filter")) this.filter($("filter").value);
      else this.search($("search").value).catch((error) => this.tell(error.message, true));
    });
  }
  get count() { return this.rows ? this.rows.length : this.meta.rows; }
  get most() { return Math.max(0, this.count - this.fits + 1); }
  get fits() { return Math.max(1, Math.floor((this.scroll.clientHeight - this.head) / ROW)); }
  get wide() { return Math.max(1, Math.floor((this.scroll.clientWidth - this.left) / COLUMN)); }
  get head() { return $("cells").tHead?.offsetHeight ?? 90; }
  get left() { return 20 + 8 * (this.meta.named[0] ? 16 : String(this.meta.rows).length); }
  get mostLeft() { return Math.max(0, this.meta.cols - this.wide); }

  /** From where the bars are to rows and columns; where there are too many for pixels, in proportion. */
  scrolled() {
    const {scroll} = this, place = (at, size, shown, most) => size > shown ? Math.round(at / (size - shown) * most) : 0;
    const row = place(scroll.scrollTop, scroll.scrollHeight, scroll.clientHeight, this.most);
    const col = place(scroll.scrollLeft, scroll.scrollWidth, scroll.clientWidth, this.mostLeft);
    if (this.set?.top === scroll.scrollTop && this.set.left === scroll.scrollLeft) return;  // by ourselves
    Object.assign(this, {row, col});
    this.onmove();
  }
  move(row, col) {
    this.row = Math.min(this.most, Math.max(0, row));
    this.col = Math.min(this.mostLeft, Math.max(0, col));
    const {scroll} = this;
    scroll.scrollTop = this.most && this.row / this.most * (scroll.scrollHeight - scroll.clientHeight);
    scroll.scrollLeft = this.mostLeft && this.col / this.mostLeft * (scroll.scrollWidth - scroll.clientWidth);
    this.set = {top: scroll.scrollTop, left: scroll.scrollLeft};
    this.onmove();
  }
  goTo(row, col) {
    const at = this.rows ? this.rows.findIndex((r) => r >= row) : row;
    this.hit = [row, col];
    this.move((at < 0 ? this.count : at) - (this.fits >> 1), col - (this.wide >> 1));
  }
  wheel(event) {
    if (this.count * ROW < MOST_HIGH || event.deltaY === 0) return;  // the browser scrolls by pixels
    event.preventDefault();
    this.move(this.row + Math.sign(event.deltaY) * 3, this.col);
  }
  key(event) {
    const steps = {ArrowDown: [1, 0], ArrowUp: [-1, 0], PageDown: [this.fits - 1, 0], PageUp: [1 - this.fits, 0],
      Home: [-this.count, 0], End: [this.count, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(steps, event.key)) return;
    event.preventDefault();
    this.move(this.row + steps[event.key][0], this.col + steps[event.key][1]);
  }

  paint() {
    const {meta} = this, table = $("cells"), head = make("thead"), body = make("tbody"), cols = [], space = $("space").style;
    for (let col = this.col; col < Math.min(meta.cols, this.col + this.wide + 1); ++col) cols.push(col);
    space.height = `${Math.min(MOST_HIGH, (this.count + 1) * ROW + this.head)}px`;
    space.width = `${Math.min(MOST_HIGH, meta.cols * COLUMN + this.left)}px`;
    const names = make("tr"), about = make("tr", "", "about");
    names.append(make("th"));
    about.append(make("th"));
    for (const col of cols) {
      const [label, , type] = this.columnAt(col), name = make("th", label ?? String(col));
      name.title = label ?? "";
      names.append(name);
      about.append(this.summary(col, type));
    }
    head.append(names, about);
    for (let k = this.row; k < Math.min(this.count, this.row + this.fits + 1); ++k) {
      const row = this.rows ? this.rows[k] : k, line = make("tr");
      line.append(make("th", shortened(this.nameAt(row) ?? grouped(row), 16)), ...cols.map((col) => this.cell(row, col)));
      body.append(line);
    }
    table.style.setProperty("--left", `${this.left}px`);
    table.replaceChildren(head, body);
  }

  cell(row, col) {
    const text = this.cellAt(row, col), type = this.columnAt(col)[2] ?? "", isNumber = /^[uif]\d|duration/.test(type);
    const shown = text === undefined ? "" : text === null ? "absent" : text === MISSING ? "missing" : text === NOT_READ ? "not read" : narrow(text, type);
    const cell = make("td", shown, (typeof text === "string" ? isNumber ? "number" : "" : "none")
      + (this.hit && this.hit[0] === row && this.hit[1] === col ? " hit" : ""));
    if (shown.length > 18) cell.title = typeof text === "string" ? text : shown;
    return cell;
  }

  /** The rows that columns are judged by: all of few, or some far apart. */
  looked() {
    const all = Math.ceil(this.meta.rows / SPOT), spots = Math.min(all, this.source.spots), pieces = [];
    for (let k = 0; k < spots; ++k) pieces.push(Math.round(k * (all - 1) / Math.max(1, spots - 1)));
    return [...new Set(pieces)];
  }

  /** Type, shares of missing cells and of NaN, and a histogram of a column; remembered once all of it is there. */
  summary(col, type) {
    if (this.summaries.has(col)) return this.summaries.get(col).cloneNode(true);
    const cell = make("th"), values = [], isNumber = !/^(category|text|boolean)/.test(type ?? "");
    let missing = 0, nans = 0, rows = 0, there = type !== undefined;
    for (const y of this.looked()) {
      const piece = this.texts.get(pieceName(Math.floor(col / this.source.sides[1]), y * SPOT / this.source.sides[0] | 0));
      if (piece === undefined) { there = false; continue; }
      for (let row = y * SPOT; row < Math.min(this.meta.rows, (y + 1) * SPOT); ++row, ++rows) {
        const text = this.cellAt(row, col, isNumber);
        if (typeof text !== "string") ++missing; else if (isNumber && text === "nan") ++nans; else values.push(text);
      }
    }
    cell.append(make("span", type ?? ""));
    if (!there || rows === 0) return cell;
    const all = rows === this.meta.rows, shares = [[missing, "missing"], [nans, "nan"]].filter(([n]) => n > 0);
    const share = shares.map(([n, what]) => `${brief(100 * n / rows, 2)} % ${what}`).join(", ") || "none missing";
    cell.append(make("span", share), bars(histogram(values, isNumber, all ? 12 : 8)));
    cell.title = all ? `${type}, of all rows` : `${type}; shares and bars are of ${grouped(rows)} rows`;
    this.summaries.set(col, cell);
    return cell;
  }

  tell(text, isError = false) {
    $("found").textContent = text;
    $("found").className = isError ? "error" : "";
  }

  async filter(expression) {
    try {
      const found = expression.trim() === "" ? null : await this.source.filter(expression);
      if (found?.error) throw new Error(found.error);
      this.rows = found && found.rows;
      const cut = found && found.rows.length < found.all ? `, the first ${grouped(found.rows.length)} are shown` : "";
      this.tell(found ? `${grouped(found.all)} of ${grouped(this.meta.rows)} rows${cut}` : "");
      this.move(0, this.col);
    } catch (error) {
      this.tell(error.message, true);
    }
  }

  async textOf(row, col) {
    const {sides} = this.source, piece = await this.load(pieceName(Math.floor(col / sides[1]), Math.floor(row / sides[0])));
    return cellText({get: () => piece, failed: () => false}, sides, row, col, this.columnAt(col)[1], true);
  }

  /** Goes to the next cell with a text in it, in upper or lower case, after the one found last. */
  async search(wanted) {
    const text = wanted.toLowerCase(), from = this.hit && this.wanted === text ? this.hit : [this.rows ? 0 : this.row, -1];
    if (text === "") { this.hit = null; this.tell(""); return this.onmove(); }
    this.tell("searching");
    this.wanted = text;
    const numbers = this.rows, first = numbers ? Math.max(0, numbers.indexOf(from[0])) : from[0];
    const end = Math.min(this.count, first + SEARCHED);
    for (let k = first; k < end; ++k) {
      const row = numbers ? numbers[k] : k;
      for (let col = k === first ? from[1] + 1 : 0; col < this.meta.cols; ++col) {
        const found = await this.textOf(row, col);
        if (typeof found !== "string" || !found.toLowerCase().includes(text)) continue;
        this.tell(`row ${grouped(row)}`);
        return this.goTo(row, col);
      }
    }
    const isEnd = end >= this.count;
    this.tell(isEnd ? "not found" : `not in ${grouped(SEARCHED)} rows`);
    this.hit = isEnd ? [0, -1] : [numbers ? numbers[end - 1] : end - 1, this.meta.cols];  // or from the start
    return this.onmove();
  }
}
