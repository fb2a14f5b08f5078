// W14: other formats, in and out. Binary ones against a copy of the file, text in bytes per second,
// ML.NET's against the compression library alone. Matrix Market's coordinate files are in
// coordinates.cpp.
#include <fmt/format.h>
#include <libdeflate.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/kernels.h"
#include "harness/page_cache.h"
#include "harness/random.h"
#include "harness/raw_file.h"
#include "peers/python_peers.h"
#include "workloads/cells_file.h"
#include "workloads/coordinates.h"
#include "workloads/text_columns.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

using Path = std::filesystem::path;

/// A dense f64 matrix in dapple's own file, and memory to read it into.
struct Source {
  std::uint64_t rows, cols;
  double (*value)(std::uint64_t row, std::uint64_t col);
  Path path;
  std::vector<double> cells{};  // as they should be
  std::vector<double> out{};

  double corners() const { return value(0, 0) + value(rows - 1, cols - 1); }
};

double whole(std::uint64_t row, std::uint64_t col) { return cell(row, col); }

/// Up to six digits, three of them behind the point: what people keep in text files.
double thousandths(std::uint64_t row, std::uint64_t col) {
  return static_cast<double>(mix((row << 20) ^ col) % 1'000'000) / 1000;
}

Source make_source(const Session& session, const char* name, std::uint64_t rows, std::uint64_t cols,
                   double (*value)(std::uint64_t, std::uint64_t)) {
  Source source{rows, cols, value, {}};
  source.cells.reserve(rows * cols);
  source.out.resize(rows * cols);
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint64_t col = 0; col < cols; ++col) source.cells.push_back(value(row, col));
  }
  source.path = session.file(fmt::format("{}.dbdf", name), [&](const Path& path) {
    WriteOptions options;
    options.tile = {static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, 65536 / cols * 4)),
                    static_cast<std::uint32_t>(cols)};
    options.kind = KindChoice::dense;
    options.narrow = false;
    auto writer = MatrixWriter::create(path, rows, cols, ValueType::f64, options);
    for (std::uint64_t row = 0; row < rows; row += options.tile->rows) {
      const auto n =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(rows - row, options.tile->rows));
      writer.put<double>({row, 0},
                         {source.cells.data() + row * cols, n, static_cast<std::uint32_t>(cols)});
    }
    writer.finish();
  });
  return source;
}

Path make_foreign(const Session& session, const Source& source, const char* name,
                  const std::string& format) {
  return session.file(fmt::format("{}.{}", name, format),
                      [&](const Path& path) { convert_file(source.path, path, format); });
}

void read_all(const Path& path, const std::string& format, std::vector<double>& out,
              unsigned threads) {
  OpenOptions options;
  options.format = format;
  if (format == "csv") options.csv.header = false;
  options.threads = threads;
  ReadOptions reading;
  reading.threads = threads;
  std::visit(
      [&](const auto& object) {
        object.template read<double>({{0, object.rows()}, {0, object.cols()}}, std::span(out), 0,
                                     reading);
      },
      open(path, options));
}

Contender reader(const Path& path, const std::string& format, Source& source, double work,
                 unsigned threads) {
  Contender c{threads == 1 ? "dapple" : "dapple, 2 threads",
              threads == 1 ? Role::dapple : Role::aside,
              "open, read<double> of everything",
              work,
              source.corners(),
              {}};
  c.run = [&source, path, format, threads](Sample&) {
    read_all(path, format, source.out, threads);
    return source.out.front() + source.out.back();
  };
  c.prepare = [&source] { source.out.front() = source.out.back() = -1; };
  c.holds = [&source] { return source.out == source.cells; };
  return c;
}

Contender writer(const Path& to, const std::string& format, Source& source, double work,
                 unsigned threads) {
  return file_writer(
      threads == 1 ? "dapple" : "dapple, 2 threads", threads == 1 ? Role::dapple : Role::aside,
      "convert from a dbdf file in memory", work, to,
      [&source, to, format, threads] { convert_file(source.path, to, format, threads); },
      [&source, to, format] {
        read_all(to, format, source.out, 1);
        return source.out == source.cells;
      });
}

/// A peer from Python, if its library is there.
void add_python(Session& session, Series& series, const char* library, Contender contender,
                nlohmann::json request) {
  if (!session.python().has(library)) return;
  series.contenders.push_back(session.python().contender(std::move(contender), std::move(request)));
}

struct Foreign {
  const char* format;
  const char* name;  // of the source
  std::vector<Goal> goals;
  const char* library = "";  // that reads it in Python
  const char* request = "";
};

void measure_format(Session& session, Source& source, const Foreign& f) {
  const Path path = make_foreign(session, source, f.name, f.format);
  const Pin pin(path);
  const auto work = static_cast<double>(std::filesystem::file_size(path));

  Series in{fmt::format("{}, in (GB of the file)", f.format), kGigabytesPerSecond, Cache::warm,
            f.goals};
  in.contenders.push_back(raw_reader(path, Per::byte));
  for (const unsigned threads : {1U, 2U}) {
    in.contenders.push_back(reader(path, f.format, source, work, threads));
  }
  add_python(session, in, f.library, {f.library, Role::peer, f.request, work, source.corners(), {}},
             {{"do", f.request}, {"file", path.string()}});
  session.measure(in);

  const Path to = session.folder().scratch(fmt::format("written.{}", f.format));
  Series out{fmt::format("{}, out (GB of the file)", f.format), kGigabytesPerSecond, Cache::any,
             f.goals};
  out.contenders.push_back(raw_copier(path, to, Per::byte));
  for (const unsigned threads : {1U, 2U}) {
    out.contenders.push_back(writer(to, f.format, source, work, threads));
  }
  session.measure(out);
  std::filesystem::remove(to);
}

/// The cells of an ML.NET file as libdeflate alone packs and unpacks them, in strips of as many
/// rows.
class Deflated {
 public:
  explicit Deflated(const Source& source) : source_(source) { compress(); }

  double compress() {
    const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(
        libdeflate_alloc_compressor(kLevel), libdeflate_free_compressor);
    strips_.clear();
    for (std::size_t at = 0; at < source_.cells.size(); at += strip_cells()) {
      const auto cells = std::as_bytes(strip(at));
      std::vector<std::byte> packed(
          libdeflate_deflate_compress_bound(compressor.get(), cells.size()));
      packed.resize(libdeflate_deflate_compress(compressor.get(), cells.data(), cells.size(),
                                                packed.data(), packed.size()));
      strips_.push_back(std::move(packed));
    }
    return static_cast<double>(strips_.size());
  }

  double decompress(std::vector<double>& out) const {
    const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor(
        libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
    std::size_t at = 0;
    for (const auto& packed : strips_) {
      const auto cells = std::as_writable_bytes(std::span(out).subspan(at, strip(at).size()));
      if (libdeflate_deflate_decompress(decompressor.get(), packed.data(), packed.size(),
                                        cells.data(), cells.size(),
                                        nullptr) != LIBDEFLATE_SUCCESS) {
        return -1;
      }
      at += strip(at).size();
    }
    return out.front() + out.back();
  }

 private:
  static constexpr int kLevel = 6;            // zlib's usual one, which dapple takes
  static constexpr std::size_t kRows = 8192;  // of a block, as ML.NET writes them

  std::size_t strip_cells() const { return kRows * source_.cols; }
  std::span<const double> strip(std::size_t at) const {
    return std::span(source_.cells).subspan(at, std::min(strip_cells(), source_.cells.size() - at));
  }

  const Source& source_;
  std::vector<std::vector<std::byte>> strips_;
};

void measure_idv(Session& session, Source& source) {
  const Path path = make_foreign(session, source, "text", "idv");
  const Pin pin(path);
  const auto work = static_cast<double>(source.cells.size() * sizeof(double));
  Deflated deflated(source);
  const double strips = deflated.compress();

  Series in{"idv, in (GB of cells)", kGigabytesPerSecond, Cache::warm, {{"limit", 1.25}}};
  in.contenders.push_back({"libdeflate alone", Role::limit, "inflates the same cells", work,
                           source.corners(),
                           [&](Sample&) { return deflated.decompress(source.out); }});
  for (const unsigned threads : {1U, 2U}) {
    in.contenders.push_back(reader(path, "idv", source, work, threads));
  }
  session.measure(in);

  const Path to = session.folder().scratch("written.idv");
  Series out{"idv, out (GB of cells)", kGigabytesPerSecond, Cache::any, {{"limit", 1.25}}};
  out.contenders.push_back({"libdeflate alone", Role::limit, "deflates the same cells, level 6",
                            work, strips, [&](Sample&) { return deflated.compress(); }});
  for (const unsigned threads : {1U, 2U}) {
    out.contenders.push_back(writer(to, "idv", source, work, threads));
  }
  session.measure(out);
  std::filesystem::remove(to);
}

}  // namespace

void run_w14(Session& session) {
  const std::vector<Goal> copy = {{"limit", 1.25}}, text = {{"", 0.2}, {"peer", 1}};
  const std::uint64_t side = session.sized<std::uint64_t>(4096, 64);
  const std::uint64_t rows = session.sized<std::uint64_t>(262'144, 1024);
  session.describe(fmt::format("binary: {} x {} f64; text and idv: {} x 16 f64 of up to six digits",
                               side, side, rows));
  {
    Source source = make_source(session, "binary", side, side, whole);
    const Pin pin(source.path);
    measure_format(session, source, {"futhark", "binary", copy});
    measure_format(session, source, {"npy", "binary", copy, "numpy", "load_npy"});
  }
  Source source = make_source(session, "text", rows, 16, thousandths);
  const Pin pin(source.path);
  measure_format(session, source, {"csv", "text", text, "pandas", "load_csv"});
  measure_format(session, source, {"mtx", "text", text, "scipy", "load_mtx"});
  measure_idv(session, source);
  measure_coordinates(session);
  measure_text_columns(session);
}

}  // namespace dapple::bench
