#include "tests/compare.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/support.h"

namespace dapple::test {

namespace {

using reference::State;

struct Different {
  std::string how;
};

std::string place(std::uint64_t row, std::uint64_t col) {
  std::string s = "(";
  s.append(std::to_string(row)).append(", ").append(std::to_string(col)).append(")");
  return s;
}

// Bits of `n` values of one type, one word each.
template <Value T>
std::vector<std::uint64_t> bits_of(const T* values, std::size_t n) {
  std::vector<std::uint64_t> bits(n);
  for (std::size_t i = 0; i < n; ++i) std::memcpy(&bits[i], &values[i], sizeof(T));
  return bits;
}

template <Value T>
std::vector<std::uint64_t> bits_of(const std::vector<T>& values) {
  return bits_of(values.data(), values.size());
}

class Comparison {
 public:
  Comparison(const reference::Object& expected, Demand demand)
      : expected_(expected), demand_(demand) {}

  void all(const Matrix& m) {
    schema(m, 0);
    look_into(m);
    if (demand_ != Demand::cells_or_error) {
      demand(m.value_type() == static_cast<ValueType>(expected_.types[0]), "another value type");
      demand(m.storage() == (expected_.data_type == 1 ? Storage::dense : Storage::csr),
             "another storage");
    }
    blocks(m);
    covers(m);
    visit_type(m.value_type(), [&](auto tag) {
      using T = decltype(tag);
      region(whole(m), m.value_type(), [&](const Region& r, const ReadOptions& options) {
        return bits_of(m.template read<T>(r, options));
      });
      csr<T>(m);
    });
  }

  void all(const Frame& f) {
    schema(f, 3);
    look_into(f);
    for (std::uint64_t c = 0; c < f.cols(); ++c) {
      const ValueType type = f.column_type(c);
      if (c >= expected_.cols) break;
      if (demand_ != Demand::cells_or_error) {
        demand(type == static_cast<ValueType>(expected_.types[c]), "another column type");
        demand(f.label(c) == expected_.labels[c], "another label");
      }
      visit_type(type, [&](auto tag) {
        using T = decltype(tag);
        region({whole(f).rows, {c, c + 1}}, type, [&](const Region& r, const ReadOptions& options) {
          return bits_of(f.template read_column<T>(c, r.rows, options));
        });
      });
    }
    blocks(f);
    covers(f);
  }

 private:
  static void demand(bool good, const std::string& how) {
    if (!good) throw Different{how};
  }

  // Runs a question. An Error is an answer where the demand says so, or where `may_fail`.
  void ask(const std::string& what, bool may_fail, const std::function<void()>& f) {
    try {
      f();
    } catch (const Error& e) {
      if (!may_fail && demand_ == Demand::equal) {
        throw Different{std::string(what).append(": ").append(e.what())};
      }
    }
  }

  template <class Object>
  void schema(const Object& o, int kind) {
    if (demand_ == Demand::cells_or_error) return;
    demand((expected_.data_type == 3) == (kind == 3), "a matrix for a frame, or a frame for one");
    demand(o.rows() == expected_.rows && o.cols() == expected_.cols, "another shape");
  }

  // `o` must stay while cells are compared.
  template <class Object>
  void look_into(const Object& o) {
    find_offset_ = [&o](std::uint64_t row, std::uint64_t col) -> std::optional<std::uint64_t> {
      const auto block = o.find_cover(row, col);
      if (!block) return std::nullopt;
      return block->info().offset;
    };
  }

  template <class Object>
  Region whole(const Object& o) const {
    const std::uint64_t rows = std::min(o.rows(), expected_.rows);
    const std::uint64_t cols = std::min(o.cols(), expected_.cols);
    if (rows == 0 || cols == 0) return {};  // the other may be huge
    return {{0, rows}, {0, cols}};
  }

  // True when the cell comes from a block that the file does not have: a forged index may name one
  // inside the bytes of another block, which only a walk could tell.
  bool is_deceived(std::uint64_t row, std::uint64_t col) const {
    if (demand_ != Demand::cells_or_error || !find_offset_) return false;
    try {
      const std::optional<std::uint64_t> offset = find_offset_(row, col);
      return offset && std::none_of(expected_.blocks.begin(), expected_.blocks.end(),
                                    [&](const auto& b) { return b.offset == *offset; });
    } catch (const Error&) {
      return false;
    }
  }

  // The cell's expected value as a value of `type`; nothing when it has none.
  std::optional<std::uint64_t> value(std::uint64_t row, std::uint64_t col, ValueType type) const {
    const reference::Cell& cell = expected_.cell(row, col);
    if (cell.state == State::absent) return 0;
    if (cell.state == State::doubtful) return std::nullopt;
    return reference::convert(expected_.type_of(col), cell.bits, static_cast<int>(type));
  }

  bool any(const Region& region, State state) const {
    for (std::uint64_t r = region.rows.begin; r < region.rows.end; ++r) {
      for (std::uint64_t c = region.cols.begin; c < region.cols.end; ++c) {
        if (expected_.cell(r, c).state == state &&
            (state != State::doubtful || !is_deceived(r, c))) {
          return true;
        }
      }
    }
    return false;
  }

  void cells(const Region& region, ValueType type, const std::vector<std::uint64_t>& bits) const {
    std::size_t i = 0;
    for (std::uint64_t r = region.rows.begin; r < region.rows.end; ++r) {
      for (std::uint64_t c = region.cols.begin; c < region.cols.end; ++c) {
        const std::uint64_t got = bits[i++];
        // Absent cells of a forged index: see `covers`.
        const bool any_value =
            demand_ == Demand::cells_or_error && expected_.cell(r, c).state == State::absent;
        demand(any_value || value(r, c, type) == got || is_deceived(r, c),
               "another value in cell " + place(r, c));
      }
    }
  }

  template <class Read>
  void region(const Region& r, ValueType type, const Read& read) {
    const bool doubtful = any(r, State::doubtful), absent = any(r, State::absent);
    ask("reading all", doubtful, [&] {
      const auto bits = read(r, ReadOptions{.absent = Absent::zero});
      demand(!doubtful, "cells out of a block at fault");
      cells(r, type, bits);
    });
    ask("reading all that must be there", doubtful || absent, [&] {
      const auto bits = read(r, ReadOptions{});
      demand(!doubtful && (!absent || demand_ == Demand::cells_or_error),
             "cells that no block covers");
      cells(r, type, bits);
    });
  }

  template <Value T>
  void csr(const Matrix& m) {
    const Region r = whole(m);
    const bool doubtful = any(r, State::doubtful);
    ask("reading all as CSR", doubtful, [&] {
      const Csr<T> got = m.template read_csr<T>(r, {.absent = Absent::zero});
      const auto values = bits_of(got.values.data(), got.values.size());
      demand(std::find(values.begin(), values.end(), 0) == values.end(), "a zero in a CSR region");
      cells(r, value_type_of<T>(), dense_bits(got, r));
    });
  }

  // The cells of a region given as sorted rows.
  template <class T, class Col>
  static std::vector<std::uint64_t> dense_bits(const Csr<T, Col>& csr, const Region& r) {
    std::vector<std::uint64_t> bits(r.rows.size() * r.cols.size());
    const auto values = bits_of(csr.values.data(), csr.values.size());
    demand(csr.row_ptr.size() == r.rows.size() + 1 && csr.row_ptr[0] == 0 &&
               csr.row_ptr[r.rows.size()] == values.size() && csr.col_idx.size() == values.size(),
           "CSR arrays of other sizes");
    for (std::uint64_t row = 0; row < r.rows.size(); ++row) {
      for (std::uint64_t i = csr.row_ptr[row]; i < csr.row_ptr[row + 1]; ++i) {
        demand(i == csr.row_ptr[row] || csr.col_idx[i] > csr.col_idx[i - 1], "CSR order");
        bits[row * r.cols.size() + csr.col_idx[i]] = values[i];
      }
    }
    return bits;
  }

  static BlockInfo info_of(const reference::Block& b) {
    return {{b.rx, b.cx},
            b.rows,
            b.cols,
            static_cast<BlockKind>(b.kind),
            b.kind == 0 ? ValueType::u8 : static_cast<ValueType>(b.type),
            b.stored,
            b.offset,
            b.bytes};
  }

  template <class Object>
  void list(const Object& o) {
    ask("counts", false, [&] {
      const BlockCounts counts = o.counts();
      BlockCounts n;
      for (const reference::Block& b : expected_.blocks) {
        ++n.total;
        ++(b.kind == 0 ? n.empty : b.kind == 1 ? n.dense : b.kind == 2 ? n.csr : n.coo);
        n.stored += b.stored;
      }
      demand(counts.total == n.total && counts.empty == n.empty && counts.dense == n.dense &&
                 counts.csr == n.csr && counts.coo == n.coo && counts.stored == n.stored,
             "other counts");
    });
    ask("the list of blocks", false, [&] {
      demand(o.blocks().size() == expected_.blocks.size(), "another number of blocks");
      auto b = expected_.blocks.begin();
      for (const BlockInfo& info : o.blocks())
        demand(info == info_of(*b++), "another list of blocks");
    });
  }

  template <class Object>
  void blocks(const Object& o) {
    if (demand_ != Demand::cells_or_error) list(o);
    for (const reference::Block& b : expected_.blocks) {
      const BlockInfo info = info_of(b);
      ask("the block at " + place(b.rx, b.cx), false, [&] {
        const Block block = o.block(info.pos);
        if (demand_ != Demand::cells_or_error) demand(block.info() == info, "another block");
        block_cells(o, block);
      });
    }
  }

  // Blocks over columns of different types are read column by column elsewhere.
  template <class Object>
  void block_cells(const Object& o, const Block& block) {
    const Region r = intersect(block.info().cells(), whole(o));
    if (r != block.info().cells() || r.empty()) return;
    const ValueType type = o.column_type(r.cols.begin);
    for (std::uint64_t c = r.cols.begin; c < r.cols.end; ++c) {
      if (o.column_type(c) != type) return;
    }
    const bool doubtful = any(r, State::doubtful);
    visit_type(type, [&](auto tag) {
      ask("decoding a block", doubtful, [&] {
        std::vector<decltype(tag)> out(r.rows.size() * r.cols.size());
        block.decode(std::span(out));
        demand(!doubtful, "cells out of a block at fault");
        cells(r, type, bits_of(out));
      });
      ask("a block as CSR", doubtful, [&] {
        const auto csr = block.to_csr<decltype(tag)>();
        demand(!doubtful, "CSR arrays of a block at fault");
        cells(r, type, dense_bits(csr, r));
        const BlockKind kind = block.info().kind;
        if (o.format() == "dbdf" && (kind == BlockKind::csr || kind == BlockKind::coo)) {
          demand(csr.values.size() == block.info().stored, "another number of CSR entries");
        }
      });
    });
  }

  template <class Object>
  void covers(const Object& o) {
    const Region r = whole(o);
    for (std::uint64_t row = 0; row < r.rows.end; ++row) {
      for (std::uint64_t col = 0; col < r.cols.end; ++col) {
        ask("the cover of " + place(row, col), false, [&] {
          const auto block = o.find_cover(row, col);
          const bool covered = expected_.cell(row, col).state != State::absent;
          // A forged index may know of a block inside the payload of an auxiliary one, which only
          // a walk could tell.
          if (demand_ != Demand::cells_or_error) {
            demand(block.has_value() == covered, "another cover of " + place(row, col));
          }
          if (block) demand(block->info().cells().contains(row, col), "a block elsewhere");
        });
      }
    }
  }

  const reference::Object& expected_;
  Demand demand_;
  std::function<std::optional<std::uint64_t>(std::uint64_t, std::uint64_t)> find_offset_;
};

}  // namespace

std::string difference(const std::filesystem::path& path, const reference::Object& expected,
                       Demand demand, const OpenOptions& options) {
  try {
    const auto object = open(path, options);
    Comparison comparison(expected, demand);
    std::visit([&](const auto& o) { comparison.all(o); }, object);
  } catch (const Different& d) {
    return d.how;
  } catch (const Error& e) {
    if (demand == Demand::equal) return e.what();
  }
  return {};
}

/// Every value of every type is one of long double.
static_assert(std::numeric_limits<long double>::digits >= 64);

long double exact_number(const reference::Object& object, std::uint64_t row, std::uint64_t col) {
  const std::uint64_t bits = object.cell(row, col).bits;
  return visit_type(static_cast<ValueType>(object.type_of(col)), [&](auto tag) {
    std::memcpy(&tag, &bits, sizeof tag);
    return static_cast<long double>(tag);
  });
}

}  // namespace dapple::test
