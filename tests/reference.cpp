#include "tests/reference.h"

#include <cstring>

namespace reference {

namespace {

constexpr int kFrame = 3;
constexpr int kEmpty = 0, kDense = 1, kCsr = 2, kCoo = 3;
constexpr std::uint64_t kOutside = ~std::uint64_t{0};  // position of auxiliary blocks

// The file, front to back. Nothing is read before it was compared with what is left.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> file) : file_(file) {}

  std::uint64_t at() const { return at_; }
  std::uint64_t left() const { return file_.size() - at_; }
  void jump(std::uint64_t to) { at_ = to; }

  std::uint64_t number(unsigned size, const char* what) {
    need(size, what);
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) {
      value |= std::to_integer<std::uint64_t>(file_[at_ + i]) << (8 * i);
    }
    at_ += size;
    return value;
  }

  std::string characters(std::uint64_t size, const char* what) {
    need(size, what);
    std::string s(size, '\0');
    if (size > 0) std::memcpy(s.data(), file_.data() + at_, size);
    at_ += size;
    return s;
  }

  void need(std::uint64_t size, const char* what) const {
    if (size > left()) throw Refused(4, at_, std::string("the file ends inside ") + what);
  }

 private:
  std::span<const std::byte> file_;
  std::uint64_t at_ = 0;
};

int value_type(Cursor& in) {
  const std::uint64_t at = in.at();
  const auto type = static_cast<int>(in.number(1, "a value type"));
  if (type < 1 || type > 10) throw Refused(1, at, "no such value type");
  return type;
}

Object header(Cursor& in) {
  Object object;
  if (in.number(1, "the version") != 1) throw Refused(1, 0, "version is not 1");
  object.data_type = static_cast<int>(in.number(1, "the data type"));
  if (object.data_type < 1 || object.data_type > kFrame) throw Refused(1, 1, "no such data type");
  object.rows = in.number(8, "the number of rows");
  object.cols = in.number(8, "the number of columns");
  if (object.data_type != kFrame) {
    object.types.push_back(value_type(in));
    return object;
  }
  in.need(object.cols, "the value types");
  for (std::uint64_t c = 0; c < object.cols; ++c) object.types.push_back(value_type(in));
  for (std::uint64_t c = 0; c < object.cols; ++c) {
    const std::uint64_t length = in.number(2, "a label's length");
    object.labels.push_back(in.characters(length, "a label"));
  }
  return object;
}

// Refuses a payload of fixed + count * each bytes that the file does not hold.
void need_values(const Cursor& in, std::uint64_t fixed, std::uint64_t count, std::uint64_t each) {
  in.need(fixed, "a block");
  if (count > (in.left() - fixed) / each) {
    throw Refused(4, in.at(), "the file ends inside a block's values");
  }
}

// Reads one block's position and header, and steps over its payload.
Block block_header(Cursor& in) {
  Block b;
  b.rx = in.number(8, "a block's position");
  b.cx = in.number(8, "a block's position");
  b.offset = in.at();
  b.rows = static_cast<std::uint32_t>(in.number(4, "a block's rows"));
  b.cols = static_cast<std::uint32_t>(in.number(4, "a block's columns"));
  const std::uint64_t kind_at = in.at();
  b.kind = static_cast<int>(in.number(1, "a block's type"));
  if (b.kind > kCoo) throw Refused(1, kind_at, "no such block type");
  if (b.kind != kEmpty) b.type = value_type(in);

  std::uint64_t fixed = 0, each = 1;
  if (b.kind == kDense) {
    b.stored = std::uint64_t{b.rows} * b.cols;
    each = size_of(b.type);
  } else if (b.kind == kCsr) {
    b.stored = in.number(8, "a block's number of values");
    fixed = std::uint64_t{4} * b.rows;
    each = 4 + size_of(b.type);
  } else if (b.kind == kCoo) {
    b.stored = in.number(4, "a block's number of values");
    each = (b.cols == 1 ? 4 : 8) + size_of(b.type);
  }
  need_values(in, fixed, b.stored, each);
  in.jump(in.at() + fixed + b.stored * each);
  b.bytes = in.at() - b.offset;
  return b;
}

bool is_auxiliary(const Block& b) {
  return b.rx == kOutside && b.cx == kOutside && b.kind == kDense && b.type == 1;
}

bool inside(const Object& object, const Block& b) {
  return b.rx <= object.rows && b.rows <= object.rows - b.rx && b.cx <= object.cols &&
         b.cols <= object.cols - b.cx;
}

// R1, R2 and R4: all blocks that hold cells.
void walk(Cursor& in, Object& object) {
  while (in.left() > 0) {
    const Block b = block_header(in);
    if (b.rows == 0 || b.cols == 0 || is_auxiliary(b)) continue;
    if (!inside(object, b)) throw Refused(2, b.offset, "a block leaves the object");
    object.blocks.push_back(b);
  }
}

// R3: marks the block's cells as covered.
void cover(Object& object, const Block& b) {
  for (std::uint64_t r = 0; r < b.rows; ++r) {
    for (std::uint64_t c = 0; c < b.cols; ++c) {
      Cell& cell = object.cells[(b.rx + r) * object.cols + b.cx + c];
      if (cell.state != State::absent) throw Refused(3, b.offset, "two blocks share a cell");
      cell.state = State::known;
    }
  }
}

struct Fault {
  std::string why;
};

void blame(Object& object, const Block& b, const std::string& why) {
  object.faults.push_back("block (" + std::to_string(b.rx) + ", " + std::to_string(b.cx) +
                          "): " + why);
}

// Stores one value of a block into the cell it belongs to.
void put(Object& object, const Block& b, std::uint64_t row, std::uint64_t col, std::uint64_t bits) {
  if (row >= b.rows || col >= b.cols) throw Fault{"R5: an index leaves its block"};
  const auto value = convert(b.type, bits, object.type_of(b.cx + col));
  Cell& cell = object.cells[(b.rx + row) * object.cols + b.cx + col];
  if (!value) {
    cell.state = State::doubtful;
    blame(object, b, "R6: a value does not fit its column's type");
    return;
  }
  cell.bits = *value;
}

// The same for an entry of a sparse block, which may name each cell once.
void put_once(Object& object, const Block& b, std::uint64_t row, std::uint64_t col,
              std::uint64_t bits, std::vector<bool>& seen) {
  put(object, b, row, col, bits);
  const std::uint64_t i = row * b.cols + col;
  if (seen[i]) throw Fault{"R5: a block stores a cell twice"};
  seen[i] = true;
}

void dense_values(Cursor& in, const Block& b, Object& object) {
  for (std::uint64_t r = 0; r < b.rows; ++r) {
    for (std::uint64_t c = 0; c < b.cols; ++c) {
      put(object, b, r, c, in.number(size_of(b.type), "a value"));
    }
  }
}

void csr_values(Cursor& in, const Block& b, Object& object) {
  std::vector<bool> seen(std::uint64_t{b.rows} * b.cols);
  in.number(8, "a block's number of values");
  std::uint64_t left = b.stored;
  for (std::uint64_t r = 0; r < b.rows; ++r) {
    const std::uint64_t count = in.number(4, "a row's number of values");
    if (count > left) throw Fault{"R5: row counts exceed the block's"};
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t c = in.number(4, "a column index");
      put_once(object, b, r, c, in.number(size_of(b.type), "a value"), seen);
    }
    left -= count;
  }
  if (left != 0) throw Fault{"R5: row counts fall short of the block's"};
}

void coo_values(Cursor& in, const Block& b, Object& object) {
  std::vector<bool> seen(std::uint64_t{b.rows} * b.cols);
  in.number(4, "a block's number of values");
  for (std::uint64_t i = 0; i < b.stored; ++i) {
    const std::uint64_t r = in.number(4, "a row index");
    const std::uint64_t c = b.cols == 1 ? 0 : in.number(4, "a column index");
    put_once(object, b, r, c, in.number(size_of(b.type), "a value"), seen);
  }
}

void values(std::span<const std::byte> file, const Block& b, Object& object) {
  constexpr std::uint64_t kHeader = 10;  // rows, cols, block type, value type
  Cursor in(file);
  in.jump(b.kind == kEmpty ? b.offset : b.offset + kHeader);
  try {
    if (b.kind == kDense) dense_values(in, b, object);
    if (b.kind == kCsr) csr_values(in, b, object);
    if (b.kind == kCoo) coo_values(in, b, object);
  } catch (const Fault& fault) {
    blame(object, b, fault.why);
    for (std::uint64_t r = 0; r < b.rows; ++r) {
      for (std::uint64_t c = 0; c < b.cols; ++c) {
        object.cells[(b.rx + r) * object.cols + b.cx + c] = {State::doubtful, 0};
      }
    }
  }
}

}  // namespace

Refused::Refused(int rule, std::uint64_t offset, const std::string& why)
    : std::runtime_error(std::string("R")
                             .append(std::to_string(rule))
                             .append(" at byte ")
                             .append(std::to_string(offset))
                             .append(": ")
                             .append(why)),
      rule_(rule),
      offset_(offset) {}

unsigned size_of(int type) {
  constexpr unsigned sizes[] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
  return sizes[type];
}

Object read(std::span<const std::byte> file, std::uint64_t max_cells) {
  Cursor in(file);
  Object object = header(in);
  walk(in, object);
  if (object.cols != 0 && object.rows > max_cells / object.cols) {
    throw TooLarge(std::to_string(object.rows) + " x " + std::to_string(object.cols) + " cells");
  }
  object.cells.resize(object.rows * object.cols);
  for (const Block& b : object.blocks) cover(object, b);
  for (const Block& b : object.blocks) values(file, b, object);
  return object;
}

}  // namespace reference
