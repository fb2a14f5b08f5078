// When memory runs out, at whichever allocation: what is written appears whole or not at all, what
// is read can be read again, and nothing ends the program. A program of its own, since it brings
// its own operator new.

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "dapple/dapple_c.h"
#include "tests/check.h"
#include "tests/support.h"

namespace {

// How many more allocations succeed before one fails; none fails while there is no number.
thread_local std::optional<std::uint64_t> allocations_left;
thread_local bool has_failed = false;
std::atomic<std::int64_t> objects{0};  // that were made with new, and are there

bool may_allocate() noexcept {
  if (!allocations_left) return true;
  if ((*allocations_left)-- > 0) return true;
  allocations_left.reset();
  has_failed = true;
  return false;
}

void* allocate(std::size_t align, std::size_t n) noexcept {
  void* p = nullptr;
  return may_allocate() && ::posix_memalign(&p, align, n) == 0 ? p : nullptr;
}

void* allocate_or_throw(std::size_t align, std::size_t n) {
  void* const p = allocate(align, n);
  if (p == nullptr) throw std::bad_alloc();
  ++objects;
  return p;
}

void give_back(void* p) noexcept {
  if (p != nullptr) --objects;
  std::free(p);
}

}  // namespace

void* operator new(std::size_t n) { return allocate_or_throw(alignof(std::max_align_t), n); }
void* operator new(std::size_t n, std::align_val_t align) {
  return allocate_or_throw(static_cast<std::size_t>(align), n);
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  void* const p = allocate(alignof(std::max_align_t), n);
  if (p != nullptr) ++objects;
  return p;
}
void operator delete(void* p) noexcept { give_back(p); }
void operator delete(void* p, std::size_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }

// Arrays come from here.
extern "C" void* aligned_alloc(std::size_t align, std::size_t n) noexcept {
  return allocate(align, n);
}

namespace dapple::test {
namespace {

/// Runs `f` while the allocation after the next `n` fails. True when there was one.
template <class F>
bool fails_behind(std::uint64_t n, const F& f) {
  has_failed = false;
  allocations_left = n;
  f();
  allocations_left.reset();
  return has_failed;
}

/// Runs `f`; false when it threw for want of memory, or because of that before.
template <class F>
bool succeeds(const F& f) {
  try {
    f();
    return true;
  } catch (const std::bad_alloc&) {
  } catch (const Error&) {
  }
  return false;
}

/// Cells that are to be written, and the blocks that they are put in: of every kind, small ones
/// that are gathered and large ones that are written from where they lie or piece by piece.
class Work {
 public:
  static constexpr std::uint32_t kSide = 160;
  struct Step {
    Region cells;
    std::function<void(MatrixWriter&)> put;
  };

  Work() : cells_(std::size_t{2 * kSide} * (3 * kSide)) {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const std::size_t row = i / cols(), col = i % cols();
      const bool sparse = row >= kSide;
      if (!sparse || (row + col) % 2 == 0) cells_[i] = static_cast<double>(i) + 0.5;
    }
    packed_.assign(std::size_t{kSide} * kSide, 0);
    for (std::uint32_t r = 0; r < kSide; ++r) {
      for (std::uint32_t c = 0; c < kSide; ++c) packed_[r * kSide + c] = at(r, c);
    }
    for (std::uint32_t r = 0; r < kSide; ++r) {
      row_ptr_.push_back(col_idx_.size());
      for (std::uint32_t c = 0; c < kSide; ++c) {
        if (at(kSide + r, c) == 0) continue;
        col_idx_.push_back(c);
        values_.push_back(at(kSide + r, c));
      }
    }
    row_ptr_.push_back(col_idx_.size());
    for (std::uint32_t r = 0; r < kSide; ++r) {
      for (std::uint32_t c = kSide; c > 0; --c) {
        const double value = at(kSide + r, kSide + c - 1);
        if (value != 0) triplets_.push_back({r, c - 1, value});
      }
    }
  }

  static std::uint64_t rows() { return 2 * kSide; }
  static std::uint64_t cols() { return 3 * kSide; }
  double at(std::uint64_t row, std::uint64_t col) const { return cells_[row * cols() + col]; }

  std::vector<Step> steps() const {
    const std::uint32_t s = kSide;
    return {
        {tile(0, 0, s, s),
         [=, this](auto& w) {
           w.template put<double>({0, 0}, {packed_.data(), s, s});
         }},
        {tile(0, s, s, s),
         [=, this](auto& w) {
           w.template put<double>({0, s}, {&cells_[s], s, s, cols()});
         }},
        {tile(0, 2 * s, 8, 8),
         [=, this](auto& w) {
           w.template put<double>({0, 2 * s}, {&cells_[2 * s], 8, 8, cols()});
         }},
        {tile(s, 0, s, s),
         [=, this](auto& w) {
           w.template put<double>({s, 0}, CsrRef<double>{s, s, row_ptr_, col_idx_, values_});
         }},
        {tile(s, s, s, s),
         [=, this](auto& w) {
           w.template put<double>({s, s}, TileShape{s, s}, std::span(triplets_));
         }},
        {tile(8, 2 * s, 8, 8),
         [=](auto& w) {
           w.put_empty({8, 2 * s}, {8, 8});
         }},
    };
  }

 private:
  static Region tile(std::uint64_t row, std::uint64_t col, std::uint64_t rows, std::uint64_t cols) {
    return {{row, row + rows}, {col, col + cols}};
  }

  std::vector<double> cells_, packed_, values_;
  std::vector<std::uint64_t> row_ptr_;
  std::vector<std::uint32_t> col_idx_;
  std::vector<Triplet<double>> triplets_;
};

}  // namespace

TEST_CASE("no memory: a writer that goes on publishes a sound file or none") {
  const TempDir dir;
  const Work work;
  const auto steps = work.steps();
  const auto path = dir / "written.dbdf";
  WriteOptions options;
  options.sync = false;
  options.overwrite = true;
  std::uint64_t published = 0, n = 0;
  for (bool failed = true; failed; ++n) {
    CAPTURE(n);
    std::vector<bool> done(steps.size());
    bool finished = false;
    failed = fails_behind(n, [&] {
      succeeds([&] {
        auto writer = test::writer<double>(path, Work::rows(), Work::cols(), options);
        for (std::size_t i = 0; i < steps.size(); ++i) {
          done[i] = succeeds([&] { steps[i].put(writer); });
        }
        finished = succeeds([&] { writer.finish(); });
      });
    });
    REQUIRE(std::filesystem::exists(path) == finished);
    if (!finished) continue;
    ++published;
    REQUIRE(verify(path, Level::payload).findings.empty());
    const auto matrix = Matrix::open(path);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Region& region = steps[i].cells;
      const auto cells = matrix.read<double>(region);
      bool same = true;
      for (std::uint64_t k = 0; k < cells.size(); ++k) {
        const std::uint64_t row = region.rows.begin + k / region.cols.size(),
                            col = region.cols.begin + k % region.cols.size();
        const bool empty = i + 1 == steps.size() || !done[i];
        same = same && cells[k] == (empty ? 0 : work.at(row, col));
      }
      CAPTURE(i);
      CHECK(same);
    }
    std::filesystem::remove(path);
  }
  CHECK(published > 1);
  CHECK(n > 20);
  CHECK(dir.names().empty());
}

TEST_CASE("no memory: rows that wait for the others of their tile are written, or no file is") {
  const TempDir dir;
  constexpr std::uint32_t rows = 32, cols = 64, part = 8;
  std::vector<double> cells(rows * cols);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<double>(i) + 0.5;
  const auto path = dir / "parts.dbdf";
  WriteOptions options;
  options.sync = false;
  options.tile = TileShape{rows, cols};
  std::uint64_t published = 0, n = 0;
  for (bool failed = true; failed; ++n) {
    CAPTURE(n);
    std::vector<bool> done(rows / part);
    bool finished = false;
    failed = fails_behind(n, [&] {
      succeeds([&] {
        auto writer = MatrixWriter::create(path, rows, cols, ValueType::f64, options);
        for (std::uint32_t i = 0; i < done.size(); ++i) {
          done[i] = succeeds([&] {
            writer.put_region<double>({i * part, 0}, {&cells[i * part * cols], part, cols});
          });
        }
        for (int tries = 0; !finished && tries < 2; ++tries) {
          finished = succeeds([&] { writer.finish(); });
        }
      });
    });
    if (!finished) continue;
    ++published;
    const auto read = Matrix::open(path).read<double>({{0, rows}, {0, cols}});
    for (std::size_t k = 0; k < cells.size(); ++k) {
      REQUIRE(read[k] == (done[k / (part * cols)] ? cells[k] : 0));
    }
    std::filesystem::remove(path);
  }
  CHECK(published > 1);
  CHECK(n > 20);
}

TEST_CASE("no memory: what could not be read can be read again") {
  const TempDir dir;
  const Work work;
  const auto path = dir / "written.dbdf";
  {
    auto writer = test::writer<double>(path, Work::rows(), Work::cols());
    for (const auto& step : work.steps()) step.put(writer);
    writer.finish();
  }
  const Region all{{0, Work::rows()}, {0, Work::cols()}};
  const Region some{{3, Work::rows() - 5}, {7, Work::cols() - 9}};
  const auto whole = Matrix::open(path);
  const auto cells = whole.read<double>(some);
  const auto csr = whole.read_csr<double>(all);
  const auto same = [](const Csr<double>& a, const Csr<double>& b) {
    return a.row_ptr == b.row_ptr && a.col_idx == b.col_idx && a.values == b.values;
  };
  const auto sum = [](const Matrix& matrix) {
    double result = 0;
    for (const BlockInfo info : matrix.blocks()) {
      for (const double value : matrix.block(info.pos).to_csr<double>().values) result += value;
    }
    return result;
  };
  const double total = sum(whole);

  const std::vector<std::function<bool(const Matrix&)>> reads = {
      [&](const Matrix& m) { return m.read<double>(some) == cells; },
      [&](const Matrix& m) { return same(m.read_csr<double>(all), csr); },
      [&](const Matrix& m) { return sum(m) == total; },
      [&](const Matrix& m) {
        return m.find_cover(200, 200)->info().pos == BlockPos{160, 160};
      },
  };
  for (std::size_t i = 0; i < reads.size(); ++i) {
    std::uint64_t n = 0;
    for (bool failed = true; failed; ++n) {
      CAPTURE(i);
      CAPTURE(n);
      std::optional<Matrix> matrix;
      bool right = true;
      failed = fails_behind(n, [&] {
        succeeds([&] {
          matrix.emplace(Matrix::open(path));
          right = reads[i](*matrix);
        });
      });
      CHECK(right);
      if (matrix) CHECK(reads[i](*matrix));
    }
    CHECK(n > 2);
  }
}

TEST_CASE("no memory: a conversion leaves a whole file or none, and can be opened") {
  const TempDir dir;
  std::vector<double> cells(12 * 5);
  for (std::size_t i = 0; i < cells.size(); i += 2) cells[i] = static_cast<double>(i) + 0.5;
  const auto in = dir / "in";
  {
    auto writer = MatrixWriter::create(in, 12, 5, ValueType::f64);
    writer.put<double>({0, 0}, {cells.data(), 12, 5});
    writer.finish();
  }
  const auto sum = [](const auto& object) {
    double result = 0;
    for (const BlockInfo info : object.blocks()) {
      for (const double value : object.block(info.pos).template to_csr<double>().values) {
        result += value;
      }
    }
    return result;
  };
  const auto sum_of_file = [&](const std::filesystem::path& path) {
    return std::visit(sum, open(path));
  };
  const double total = sum_of_file(in);
  for (const FormatInfo& format : formats()) {
    if (!format.writes) continue;
    const std::string name(format.name);
    CAPTURE(name);
    ConvertOptions options;
    options.to = format.name;
    options.write.sync = false;
    // A file has the ending by which a format without a mark of its own is recognised.
    const std::string ending(format.extensions.substr(0, format.extensions.find(' ')));
    const auto out = dir / ("out" + ending);
    convert(open(in), {}, out, options);
    const auto expected = read_bytes(out);
    const auto files = dir.names();  // some formats keep a second one
    const auto remove_results = [&] {
      for (const std::string& file : dir.names()) {
        if (file != "in") std::filesystem::remove(dir / file);
      }
    };
    remove_results();
    std::uint64_t n = 0;
    for (bool failed = true; failed; ++n) {
      CAPTURE(n);
      bool converted = false;
      failed = fails_behind(
          n, [&] { converted = succeeds([&] { convert(open(in), {}, out, options); }); });
      REQUIRE(dir.names() == (converted ? files : std::vector<std::string>{"in"}));
      if (converted) REQUIRE(read_bytes(out) == expected);
      if (failed) remove_results();
    }
    n = 0;
    for (bool failed = true; failed; ++n) {
      CAPTURE(n);
      double got = 0;
      bool opened = false;
      failed = fails_behind(n, [&] { opened = succeeds([&] { got = sum_of_file(out); }); });
      CHECK(got == (opened ? total : 0));
    }
    remove_results();
  }
}

TEST_CASE("no memory: a region whose cells are not there is refused without taking any") {
  const TempDir dir;
  auto writer = MatrixWriter::create(dir / "m", ~std::uint64_t{0}, 1, ValueType::f64);
  const std::uint64_t rows = std::uint64_t{1} << 62;
  const std::vector<std::byte> cell(8);
  const std::vector<std::function<void()>> puts = {
      [&] {
        writer.put_region({{0, rows}, {0, 1}}, ValueType::f64, cell);
      },
      [&] {
        writer.put_region({0, 0}, DenseRef<double>{nullptr, rows, 1});
      },
  };
  for (const auto& put : puts) {
    std::optional<Errc> code;
    fails_behind(20, [&] {  // those of the message are fewer
      try {
        put();
      } catch (const Error& error) {
        code = error.code();
      } catch (const std::bad_alloc&) {
      }
    });
    CHECK(code == Errc::invalid_argument);
  }
}

TEST_CASE("no memory: what a program in C gave away is released once") {
  static const auto bytes = test::Image::matrix(1, 1, ValueType::u8).empty({0, 0}, 1, 1).bytes();
  dapple_reader reader{};
  reader.size = [](void*) { return static_cast<std::int64_t>(bytes.size()); };
  reader.read = [](void*, const dapple_range* ranges, std::size_t n) {
    std::uint64_t all = 0;
    for (const dapple_range& range : std::span(ranges, n)) {
      std::copy_n(&bytes[range.offset], range.size, static_cast<std::byte*>(range.to));
      all += range.size;
    }
    return static_cast<std::int64_t>(all);
  };
  reader.release = [](void* released) { ++*static_cast<int*>(released); };
  constexpr const char* name = "a name that takes memory of its own";
  const auto try_out = [&](const auto& open) {
    std::uint64_t n = 0;
    for (bool failed = true; failed; ++n) {
      CAPTURE(n);
      int released = 0;
      reader.context = &released;
      dapple_object* object = nullptr;
      std::int32_t code = DAPPLE_OK;
      failed = fails_behind(n, [&] { code = open(&object); });
      CHECK((object != nullptr) == (code == DAPPLE_OK));
      dapple_close(&object);
      CHECK(released == 1);
    }
    CHECK(n > 8);
  };
  try_out([&](dapple_object** object) {
    return dapple_open_reader(&reader, name, nullptr, object, nullptr);
  });
  try_out([&](dapple_object** object) {
    return dapple_open_memory(bytes.data(), bytes.size(), reader.release, reader.context, name,
                              nullptr, object, nullptr);
  });
}

TEST_CASE("no memory: a stream of Arrow says so, keeps nothing, and goes on") {
  const TempDir dir;
  test::write_text(dir / "p.csv",
                   "name,born,height,a label that is rather long\n"
                   "\"Ann\",2001-02-03,1.5,1\n\"Bob\",,1.75,2\n\"Ann\",1999-12-31,,3\n");
  const Frame frame = Frame::open(dir / "p.csv");
  // Calls one function of a stream until it needs no more memory than there is.
  const auto try_out = [&]<class Made>(int (*ArrowArrayStream::*call)(ArrowArrayStream*, Made*)) {
    {
      ArrowArrayStream stream;  // after it, what the frame keeps is there
      arrow_stream(frame, {}, stream);
      Made made;
      REQUIRE((stream.*call)(&stream, &made) == 0);
      made.release(&made);
      stream.release(&stream);
    }
    std::uint64_t n = 0;
    for (bool failed = true; failed; ++n) {
      CAPTURE(n);
      ArrowArrayStream stream;
      arrow_stream(frame, {}, stream);
      Made made{};
      const std::int64_t before = objects;
      int code = 0;
      failed = fails_behind(n, [&] { code = (stream.*call)(&stream, &made); });
      REQUIRE(code == (failed ? ENOMEM : 0));
      if (failed) {
        CHECK(std::string(stream.get_last_error(&stream)) == "there is not enough memory");
        CHECK(objects == before);
        REQUIRE((stream.*call)(&stream, &made) == 0);
      }
      REQUIRE(made.n_children == 4);
      made.release(&made);
      CHECK(objects == before);
      stream.release(&stream);
    }
    CHECK(n > 8);
  };
  try_out(&ArrowArrayStream::get_schema);
  try_out(&ArrowArrayStream::get_next);
}

TEST_CASE("no memory: a stream of Arrow that fails for another reason fails") {
  const auto bytes = test::Image::frame(3, {{"a", ValueType::f64}}).bytes();  // without a block
  const Frame frame = Frame::open(bytes, "a file whose name takes memory of its own");
  std::uint64_t n = 0;
  for (bool failed = true; failed; ++n) {
    CAPTURE(n);
    ArrowArrayStream stream;
    arrow_stream(frame, {.fault = [](const Error& fault) { const Error copy = fault; }}, stream);
    ArrowArray batch;
    int code = 0;
    failed = fails_behind(n, [&] { code = stream.get_next(&stream, &batch); });
    CHECK((code == EIO || (failed && code == ENOMEM)));
    CHECK(std::string(stream.get_last_error(&stream)).size() > 10);
    stream.release(&stream);
  }
  CHECK(n > 4);
}

}  // namespace dapple::test
