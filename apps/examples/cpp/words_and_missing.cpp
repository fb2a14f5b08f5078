// Writes a frame of words and numbers, some of them missing, and reads both back.
//
//   words_and_missing OUT.dbdf
//
// prints
//   Oslo 3.5
//   Bergen -
//   - 12
//   Oslo 4
#include <dapple/dapple.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

// A word is stored as its code in the dictionary; code 0 is a missing word.
void write(const char* path) {
  dapple::DictionaryBuilder words;
  const std::vector<std::uint32_t> codes = {words.add("Oslo"), words.add("Bergen"),
                                            dapple::kMissingCode, words.add("Oslo")};
  dapple::Column city{"city", words.code_type(), {.kind = dapple::MeaningKind::category}};
  city.meaning.words = words.finish();

  // A missing number is stored as one that no cell has otherwise.
  dapple::Column rain{"rain", dapple::ValueType::f32, {.missing = dapple::kMissingF32}};
  std::vector<float> millimetres = {3.5F, dapple::missing_value<float>(), 12, 4};

  auto writer = dapple::FrameWriter::create(path, 4, {city, rain});
  writer.put_region<std::uint32_t>({0, 0}, {codes.data(), 4, 1});
  writer.put_region<float>({0, 1}, {millimetres.data(), 4, 1});
  writer.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return EXIT_FAILURE;
  try {
    write(argv[1]);
    const auto frame = dapple::Frame::open(argv[1]);
    const dapple::Range rows{0, frame.rows()};
    const auto cities = frame.read_words(frame.column("city"), rows);
    const auto rain = frame.read_column<float>(frame.column("rain"), rows);
    const auto measured = frame.read_valid(frame.column("rain"), rows);
    for (std::size_t i = 0; i < rain.size(); ++i) {
      std::printf("%s ", std::string(cities[i].value_or("-")).c_str());
      measured[i] != 0 ? std::printf("%g\n", rain[i]) : std::printf("-\n");
    }
  } catch (const dapple::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
}
