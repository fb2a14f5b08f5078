// Values of cells: their pieces.

const pieceName = (x, y) => `cells/${x}.${y}`;

const NOT_READ = Symbol("not read");  // a cell of a piece that could not be had
const MISSING = Symbol("missing");    // one that has the mark of missing cells

/**
 * The text of a cell; undefined while it is on its way, null where no block covers it, NOT_READ or MISSING.
 * `zero` is that of cells that are not stored. `plain`: the stored number, not its meaning.
 */
function cellText(cellStore, sides, row, col, zero, ask, plain = false) {
  const y = Math.floor(row / sides[0]), x = Math.floor(col / sides[1]);
  const name = pieceName(x, y), piece = ask ? cellStore.get(name) : cellStore.peek(name);
  if (piece === undefined) return cellStore.failed(name) ? NOT_READ : undefined;
  const none = plain && typeof zero === "string" ? "0" : zero;
  if (piece === null) return none;  // all of it
  const covers = ([top, bottom, left, right]) => row >= top && row < bottom && col >= left && col < right;
  if (piece.covered && !piece.covered.some(covers)) return null;
  const number = String((row - y * sides[0]) * sides[1] + col - x * sides[1]);
  if (!Object.hasOwn(piece.cells, number)) return none;
  const text = piece.cells[number];
  if (!Array.isArray(text)) return text;
  return text[1] === "" ? MISSING : text[plain ? 0 : 1];
}
