// Door: rows and cells by number. The input is a DAPHNE file, with and without right hashes for its
// index. Rows are gathered in any order, dense and sparse, at once and one by one: each cell is
// that of the reference reader, or an Error. Nothing else of the caller's memory is written.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/sign.h"
#include "tests/fuzz/target.h"
#include "tests/reference.h"

namespace dapple::fuzz::rows_target {

namespace {

using Rows = std::vector<std::uint64_t>;

constexpr std::uint64_t kMostCells = 1 << 12;

/// Calls f(). An Error is an answer.
void ask(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error&) {
  }
}

template <Value T>
class Gathering {
 public:
  Gathering(const Matrix& matrix, const reference::Object* truth)
      : matrix_(matrix), truth_(truth), cols_{matrix.cols() / 3, matrix.cols()} {}

  void all() {
    Rows rows;
    for (std::uint64_t i = 0; i < 2 * matrix_.rows() && i < 200; ++i) {
      rows.push_back(i * 7919 % matrix_.rows());
    }
    several(rows);
    for (std::size_t i = 0; i < rows.size() && i < 40; ++i) several({rows[i]});
    ask([&] { cells(); });
    ask([&] { stream(); });
  }

 private:
  void several(const Rows& rows) {
    for (const Absent absent : {Absent::error, Absent::zero}) {
      ask([&] { dense(rows, absent); });
      ask([&] { sparse(rows, absent); });
    }
  }

  void dense(const Rows& rows, Absent absent) {
    constexpr int kUntouched = 0x5A;
    const std::size_t width = cols_.size(), stride = width + 2;
    std::vector<T> out(rows.size() * stride);
    std::memset(out.data(), kUntouched, out.size() * sizeof(T));
    const std::vector<T> before = out;
    gather_rows<T>(matrix_, rows, std::span(out), stride, {cols_, absent});
    for (std::size_t k = 0; k < rows.size(); ++k) {
      for (std::size_t c = 0; c < width; ++c) check(rows[k], cols_.begin + c, out[k * stride + c]);
      for (std::size_t c = width; c < stride; ++c) {
        const std::size_t i = k * stride + c;
        require(std::memcmp(&out[i], &before[i], sizeof(T)) == 0, "memory beside the rows");
      }
    }
  }

  void sparse(const Rows& rows, Absent absent) {
    gather_csr<T>(matrix_, rows, batch_, {cols_, absent});
    require(batch_.row_ptr.size() == rows.size() + 1 && batch_.row_ptr[0] == 0 &&
                batch_.row_ptr[rows.size()] == batch_.values.size() &&
                batch_.col_idx.size() == batch_.values.size(),
            "CSR arrays");
    for (std::size_t k = 0; k < rows.size(); ++k) {
      std::vector<T> row(cols_.size());
      for (auto i = batch_.row_ptr[k]; i < batch_.row_ptr[k + 1]; ++i) {
        require(batch_.col_idx[i] < row.size(), "a column outside");
        require(i == batch_.row_ptr[k] || batch_.col_idx[i] > batch_.col_idx[i - 1], "CSR order");
        row[batch_.col_idx[i]] = batch_.values[i];
      }
      for (std::size_t c = 0; c < row.size(); ++c) check(rows[k], cols_.begin + c, row[c]);
    }
  }

  void cells() {
    std::vector<CellPos> places;
    for (std::uint64_t i = 0; i < 300; ++i) {
      places.push_back({i * 31 % matrix_.rows(), i * i * 17 % matrix_.cols()});
    }
    std::vector<T> out(places.size());
    gather_cells<T>(matrix_, places, std::span(out), {{}, Absent::zero});
    for (std::size_t k = 0; k < out.size(); ++k) check(places[k].row, places[k].col, out[k]);
  }

  void stream() {
    for (const auto row : stream_rows<T>(matrix_, {.absent = Absent::zero})) {
      for (const auto [col, value] : row) check(row.number(), col, value);
    }
  }

  void check(std::uint64_t row, std::uint64_t col, T value) const {
    if (truth_ == nullptr) return;
    const reference::Cell& cell = truth_->cell(row, col);
    if (cell.state == reference::State::doubtful) return;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    require(bits == cell.bits || is_deceived(row, col), "another cell");
  }

  /// True when the cell comes from a block that the file does not have: a forged index may name one
  /// inside the bytes of another block, which only a walk could tell.
  bool is_deceived(std::uint64_t row, std::uint64_t col) const {
    const auto block = matrix_.find_cover(row, col);
    return block && std::none_of(truth_->blocks.begin(), truth_->blocks.end(),
                                 [&](const auto& b) { return b.offset == block->info().offset; });
  }

  const Matrix& matrix_;
  const reference::Object* truth_;  // nullptr: anything may be read
  Range cols_;
  Csr<T> batch_;
};

void look_at(const Matrix& matrix, const reference::Object* truth) {
  if (matrix.rows() == 0 || matrix.cols() == 0 || matrix.rows() > kMostCells ||
      matrix.cols() > kMostCells / matrix.rows()) {
    return;
  }
  visit_type(matrix.value_type(), [&](auto tag) { Gathering<decltype(tag)>(matrix, truth).all(); });
}

}  // namespace

FUZZ_TARGET(rows) {
  static fuzz::MemoryFile file;
  const auto input = std::as_bytes(std::span(data, size));
  for (const bool forged : {false, true}) {
    std::vector<std::byte> bytes(input.begin(), input.end());
    if (forged) fuzz::sign_index(bytes);
    file.set(std::span<const std::byte>(bytes));
    try {
      const Matrix matrix = Matrix::open(file.path(), {.format = "dbdf"});
      const reference::Object truth = reference::read(bytes, kMostCells);
      require(forged || truth.data_type == 3 ||
                  (matrix.rows() == truth.rows && matrix.cols() == truth.cols),
              "another shape");
      look_at(matrix, forged ? nullptr : &truth);
    } catch (const Error&) {
    } catch (const reference::TooLarge&) {
    } catch (const reference::Refused&) {
      ask([&] { look_at(Matrix::open(file.path(), {.format = "dbdf"}), nullptr); });
    }
  }
  return 0;
}

}  // namespace dapple::fuzz::rows_target
