// Cells in memory and files of other formats become dbdf files. Nothing is synced: storage is no
// faster for dapple than for anybody.
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "bench.h"
#include "dapple/dapple.h"
#include "random.h"

namespace dapple::bench {

namespace {

namespace fs = std::filesystem;

/// A text file of lines that `append(line number, text)` writes.
template <class Append>
fs::path make_text(const Data& data, const std::string& name, const std::string& head,
                   std::uint64_t lines, const Append& append) {
  return data.file(name, [&](const fs::path& to) {
    std::ofstream out(to, std::ios::binary);
    std::string text = head;
    for (std::uint64_t line = 0; line < lines; ++line) {
      append(line, text);
      if (text.size() < (std::size_t{1} << 20) && line + 1 < lines) continue;
      out << text;
      text.clear();
    }
  });
}

/// Converts on one processor, and gives what `sum` makes of the new file.
template <class Sum>
Ready import(const Data& data, const fs::path& from, double expected, Sum sum) {
  const fs::path to = data.scratch("imported.dbdf");
  return {.work = static_cast<double>(fs::file_size(from)), .expected = expected, .run = [=] {
            ConvertOptions options;
            options.to = "dbdf";
            options.threads = 1;
            options.write.sync = false;
            options.write.overwrite = true;
            convert(open(from, {.threads = 1}), {}, to, options);
            return sum(to);
          }};
}

double value_of(std::uint64_t row, std::uint64_t field) {
  return static_cast<double>(mix((field << 50) ^ row) % 1'000'000) / 8;
}

Ready csv_of_numbers(const Data& data) {
  constexpr std::uint64_t kFields = 8;
  const auto rows = data.sized<std::uint64_t>(1'000'000, 1000);
  const fs::path path = make_text(
      data, "numbers.csv", "a,b,c,d,e,f,g,h\n", rows, [](std::uint64_t row, std::string& text) {
        for (std::uint64_t k = 0; k < kFields; ++k) {
          fmt::format_to(std::back_inserter(text), "{}{}", value_of(row, k),
                         k + 1 < kFields ? ',' : '\n');
        }
      });
  return import(data, path, value_of(rows - 1, kFields - 1), [rows](const fs::path& made) {
    return Frame::open(made).read_column<double>(kFields - 1, {rows - 1, rows})[0];
  });
}

Ready csv_with_words(const Data& data) {
  constexpr const char* kCities[] = {"Graz", "Linz", "Wien", "Salzburg", "Innsbruck", "Wels"};
  const auto rows = data.sized<std::uint64_t>(1'000'000, 1000);
  const fs::path path =
      make_text(data, "people.csv", "id,name,city,born,active,amount\n", rows,
                [&](std::uint64_t row, std::string& text) {
                  const auto any = [row](std::uint64_t k, std::uint64_t n) {
                    return mix((k << 50) ^ row) % n;
                  };
                  fmt::format_to(std::back_inserter(text), "{},Person {},{},{}-{:02}-{:02},{},{}\n",
                                 row, row * 7919 % 100'000'007, kCities[any(0, std::size(kCities))],
                                 1970 + any(1, 50), 1 + any(2, 12), 1 + any(3, 28),
                                 any(5, 2) == 0 ? "true" : "false", value_of(row, 9));
                });
  return import(data, path, value_of(rows - 1, 9), [rows](const fs::path& made) {
    return Frame::open(made).read_column<double>(5, {rows - 1, rows})[0];
  });
}

Ready coordinates(const Data& data) {
  const auto cols = data.sized<std::uint64_t>(50'000, 500);
  constexpr std::uint64_t kEach = 100, kStep = 1000;  // entries a column, one in a strip of rows
  const auto row_of = [](std::uint64_t i) { return i % kEach * kStep + mix(i) % kStep; };
  const fs::path path =
      make_text(data, "coordinates.mtx",
                fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n",
                            kEach * kStep, cols, cols * kEach),
                cols * kEach, [&](std::uint64_t i, std::string& text) {
                  fmt::format_to(std::back_inserter(text), "{} {} {}\n", row_of(i) + 1,
                                 i / kEach + 1, value_of(i, 3) + 1);
                });
  const std::uint64_t last = cols * kEach - 1;
  return import(data, path, value_of(last, 3) + 1, [=](const fs::path& made) {
    const std::uint64_t row = row_of(last);
    return Matrix::open(made).read<double>({{row, row + 1}, {cols - 1, cols}})[0];
  });
}

enum class Cells { as_they_are, that_fit_u8 };

template <Cells Kind>
Ready write_dense(const Data& data) {
  constexpr std::uint32_t kTile = 256;
  const auto side = data.sized<std::uint32_t>(8192, 512);
  std::vector<double> cells(kTile * kTile);
  for (std::size_t k = 0; k < cells.size(); ++k) {
    cells[k] = cell(0, k) + (Kind == Cells::as_they_are ? 1.0 / 3 : 0.0);
  }
  const fs::path to = data.scratch("written.dbdf");
  return {.work = static_cast<double>(std::uint64_t{side} * side * sizeof(double)),
          .expected = cells.back(),
          .run = [=] {
            auto writer = MatrixWriter::create(
                to, side, side, ValueType::f64,
                {.tile = TileShape{kTile, kTile}, .overwrite = true, .sync = false});
            for (std::uint32_t row = 0; row < side; row += kTile) {
              for (std::uint32_t col = 0; col < side; col += kTile) {
                writer.put<double>({row, col}, {cells.data(), kTile, kTile});
              }
            }
            writer.finish();
            return Matrix::open(to).read<double>({{side - 1, side}, {side - 1, side}})[0];
          }};
}

constexpr Workload kWorkloads[] = {
    {"csv of numbers", "How fast is a table of numbers imported?", kGigabytesPerSecond, false,
     csv_of_numbers},
    {"csv with words", "And of words, dates and truth values?", kGigabytesPerSecond, false,
     csv_with_words},
    {"coordinate mtx", "How fast is Matrix Market's coordinate text imported?", kGigabytesPerSecond,
     false, coordinates},
    {"write dense", "How fast are tiles of f64 written?", kGigabytesPerSecond, false,
     write_dense<Cells::as_they_are>},
    {"write narrow", "And those whose cells fit into u8?", kGigabytesPerSecond, false,
     write_dense<Cells::that_fit_u8>},
};

}  // namespace

std::span<const Workload> transfer_workloads() { return kWorkloads; }

}  // namespace dapple::bench
