#include "workloads/text_columns.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/page_cache.h"
#include "harness/random.h"
#include "peers/python_peers.h"
#include "workloads/cells_file.h"

namespace dapple::bench {

namespace {

using Path = std::filesystem::path;

constexpr const char* kCities[] = {"Graz",       "Linz",    "Wien",    "Salzburg", "Innsbruck",
                                   "Eisenstadt", "Bregenz", "Villach", "Wels",     "Steyr"};

/// What a row's fields are.
enum class Fields { people, categories, dates };

void append_row(Fields fields, std::uint64_t row, std::string& text) {
  const auto any = [row](std::uint64_t k, std::uint64_t n) { return mix((k << 50) ^ row) % n; };
  const auto city = [&](std::uint64_t k) { return kCities[any(k, std::size(kCities))]; };
  const auto date = [&](std::uint64_t k) {
    return fmt::format("{}-{:02}-{:02}", 1970 + any(k, 50), 1 + any(k + 1, 12), 1 + any(k + 2, 28));
  };
  const auto to = std::back_inserter(text);
  const double amount = static_cast<double>(any(9, 1'000'000)) / 1000;
  if (fields == Fields::people) {
    fmt::format_to(to, "{},Person {},{},{},{},{}\n", row, row * 7919 % 100'000'007, city(0),
                   date(1), any(5, 2) == 0 ? "true" : "false", amount);
  } else if (fields == Fields::categories) {
    fmt::format_to(to, "{},{},{},{}\n", city(0), city(1), city(2), amount);
  } else {
    fmt::format_to(to, "{}T{:02}:{:02}:{:02},{},{}\n", date(1), any(5, 24), any(6, 60), any(7, 60),
                   date(10), amount);
  }
}

Path make_csv(Session& session, Fields fields, const char* name, std::uint64_t rows) {
  return session.file(fmt::format("{}.csv", name), [&](const Path& path) {
    std::ofstream out(path, std::ios::binary);
    out << (fields == Fields::people       ? "id,name,city,born,active,amount\n"
            : fields == Fields::categories ? "a,b,c,amount\n"
                                           : "seen,born,amount\n");
    std::string text;
    for (std::uint64_t row = 0; row < rows; ++row) {
      append_row(fields, row, text);
      if (text.size() < (std::size_t{1} << 20) && row + 1 < rows) continue;
      out << text;
      text.clear();
    }
  });
}

/// True when a file has as many rows, and the same amounts, as the text.
bool holds_rows(const Path& path, const Path& csv, std::uint64_t rows) {
  const auto sum = [rows](const Frame& frame) {
    const std::uint64_t col = frame.cols() - 1;
    double all = 0;
    for (const double value : frame.read_column<double>(col, {0, rows})) all += value;
    return all;
  };
  const Frame frame = Frame::open(path);
  return frame.rows() == rows && sum(frame) == sum(Frame::open(csv));
}

void measure_import(Session& session, Fields fields, const char* name, std::uint64_t rows) {
  const Path path = make_csv(session, fields, name, rows);
  const Pin pin(path);
  const auto work = static_cast<double>(std::filesystem::file_size(path));
  const Path to = session.folder().scratch("imported.dbdf");
  Series series{fmt::format("csv of {}, to dbdf (GB of text)", name),
                kGigabytesPerSecond,
                Cache::any,
                {{"", 0.5}, {"peer", 2}}};
  series.contenders.push_back(raw_reader(path, Per::byte));
  for (const unsigned threads : {1U, 2U}) {
    series.contenders.push_back(file_writer(
        threads == 1 ? "dapple" : "dapple, 2 threads", threads == 1 ? Role::dapple : Role::aside,
        "convert to a dbdf file in memory", work, to,
        [=] { convert_file(path, to, "dbdf", threads); },
        [=] { return holds_rows(to, path, rows); }));
  }
  if (session.python().has("pandas")) {
    Contender peer{"pandas", Role::peer, "read_csv, C engine", work, static_cast<double>(rows), {}};
    series.contenders.push_back(session.python().contender(
        std::move(peer), {{"do", "load_table"}, {"file", path.string()}}));
  }
  session.measure(series);
  std::filesystem::remove(to);
}

/// Codes of a category column, u8, out of a dbdf file.
void measure_category(Session& session, std::uint64_t rows) {
  const Path csv = make_csv(session, Fields::categories, "categories", rows);
  const Path path =
      session.file("categories.dbdf", [&](const Path& to) { convert_file(csv, to, "dbdf", 2); });
  const Pin pin(path);
  const Frame frame = Frame::open(path);
  std::vector<std::uint8_t> codes(rows), copy(rows);
  frame.read_column<std::uint8_t>(0, {0, rows}, std::span(codes));
  const auto answer = static_cast<double>(codes.front() + codes.back());
  const auto work = static_cast<double>(rows);
  Series series{"read a category column", kGigabytesPerSecond, Cache::warm, {{"limit", 1.25}}};
  series.contenders.push_back(
      {"memcpy", Role::limit, "the codes, from memory", work, answer, [&](Sample&) {
         std::memcpy(copy.data(), codes.data(), rows);
         return static_cast<double>(copy.front() + copy.back());
       }});
  series.contenders.push_back(
      {"dapple", Role::dapple, "read_column<uint8_t> of all rows", work, answer, [&](Sample&) {
         frame.read_column<std::uint8_t>(0, {0, rows}, std::span(copy));
         return static_cast<double>(copy.front() + copy.back());
       }});
  session.measure(series);
}

}  // namespace

void measure_text_columns(Session& session) {
  const std::uint64_t rows = session.sized<std::uint64_t>(3'000'000, 1000);
  measure_import(session, Fields::people, "people", rows);
  measure_import(session, Fields::categories, "categories", rows);
  measure_import(session, Fields::dates, "dates", rows);
  measure_category(session, rows);
}

}  // namespace dapple::bench
