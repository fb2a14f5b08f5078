// A second reader of the DAPHNE binary format, written from the published format and the rules
// R1..R8 alone (lib/dbdf/FORMAT.md). It shares no code and no header with the library, and is as
// plain as it can be: one dense array of cells, three nested loops. Tests hold the library's
// answers, and every file that its writer makes, against this reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace reference {

/// What a cell is after reading.
enum class State : std::uint8_t {
  absent,    // no block covers it (R7)
  known,     // `bits` holds its value
  doubtful,  // its block breaks R5, or its value R6
};

struct Cell {
  State state = State::absent;
  std::uint64_t bits = 0;  // the value as its column's declared type, in the low bytes
};

/// A block that holds cells, as its header has it.
struct Block {
  std::uint64_t rx = 0, cx = 0;
  std::uint32_t rows = 0, cols = 0;
  int kind = 0;              // 0 empty, 1 dense, 2 CSR, 3 COO
  int type = 0;              // 1..10; 0 for an empty block
  std::uint64_t stored = 0;  // values stored
  std::uint64_t offset = 0;  // byte of the file where the block's header starts
  std::uint64_t bytes = 0;   // from there to its end
};

struct Object {
  int data_type = 0;  // 1 DenseMatrix, 2 CSRMatrix, 3 Frame
  std::uint64_t rows = 0, cols = 0;
  std::vector<int> types;           // one for a matrix, one per column for a frame
  std::vector<std::string> labels;  // of a frame
  std::vector<Block> blocks;        // in file order
  std::vector<Cell> cells;          // rows x cols, row after row
  std::vector<std::string> faults;  // what breaks R5 or R6, one line each

  int type_of(std::uint64_t col) const { return data_type == 3 ? types[col] : types[0]; }
  const Cell& cell(std::uint64_t row, std::uint64_t col) const { return cells[row * cols + col]; }
};

/// The file breaks one of R1..R4 and holds no object.
class Refused : public std::runtime_error {
 public:
  Refused(int rule, std::uint64_t offset, const std::string& why);
  int rule() const noexcept { return rule_; }
  std::uint64_t offset() const noexcept { return offset_; }

 private:
  int rule_;
  std::uint64_t offset_;
};

/// The object has more cells than the caller wants to hold as an array.
class TooLarge : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads a whole file. Throws Refused for R1, R2 and R4, then TooLarge before anything of that size
/// is allocated, then Refused for R3.
Object read(std::span<const std::byte> file, std::uint64_t max_cells = std::uint64_t{1} << 22);

/// The value `bits` of type `from` as a value of type `to`, when it is exactly the same (R6).
std::optional<std::uint64_t> convert(int from, std::uint64_t bits, int to);

/// The object as canonical text: kind, shape, types, labels, then every cell that is not positive
/// zero; floats as the bits of the IEEE value.
std::string text(const Object& object);

/// Bytes of a value of this type.
unsigned size_of(int type);

}  // namespace reference
