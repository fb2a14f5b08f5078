// Runs a fuzz target without a fuzzer: every file of the given files and folders, each followed by
// a number of small changes of it. The same inputs in the same order on every machine.
//
// usage: replay TARGET [--changes N] FILE-OR-FOLDER...
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include "tests/fuzz/target.h"

namespace dapple::fuzz {

namespace {

std::map<std::string_view, Target>& targets() {
  static std::map<std::string_view, Target> all;
  return all;
}

}  // namespace

Registered::Registered(const char* name, Target target) { targets().emplace(name, target); }

}  // namespace dapple::fuzz

namespace {

namespace fs = std::filesystem;
using Input = std::vector<std::uint8_t>;

// xorshift64*; any non-zero state.
std::uint64_t next(std::uint64_t& state) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545F4914F6CDD1DU;
}

// One to three edits: a bit, a byte, a number at its limits, a piece cut out or doubled.
void change(Input& input, std::uint64_t& state) {
  for (std::uint64_t edits = 1 + next(state) % 3; edits > 0 && !input.empty(); --edits) {
    const std::size_t at = next(state) % input.size();
    const std::size_t length = std::min<std::size_t>(1 + next(state) % 8, input.size() - at);
    const auto first = input.begin() + static_cast<std::ptrdiff_t>(at);
    switch (next(state) % 6) {
      case 0:
        input[at] = static_cast<std::uint8_t>(input[at] ^ (1U << (next(state) % 8)));
        break;
      case 1:
        input[at] = static_cast<std::uint8_t>(next(state));
        break;
      case 2:
        std::fill_n(first, length, static_cast<std::uint8_t>(next(state) % 2 == 0 ? 0x00 : 0xFF));
        break;
      case 3:
        input.erase(first, first + static_cast<std::ptrdiff_t>(length));
        break;
      case 4:
        input.resize(at);
        break;
      default: {
        const Input piece(first, first + static_cast<std::ptrdiff_t>(length));
        input.insert(first, piece.begin(), piece.end());
      }
    }
  }
}

void run(dapple::fuzz::Target target, const Input& input) {
  // A copy of exactly this size, so that the address sanitizer sees a read past its end.
  const std::vector<std::uint8_t> exact(input);
  target(exact.data(), exact.size());
}

std::vector<fs::path> inputs_of(const fs::path& given) {
  if (!fs::is_directory(given)) return {given};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(given)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int count, char** arguments) {
  const auto& targets = dapple::fuzz::targets();
  const auto found = targets.find(count > 1 ? arguments[1] : "");
  if (found == targets.end()) {
    std::fprintf(stderr,
                 "usage: %s TARGET [--changes N] FILE-OR-FOLDER...\ntargets:", arguments[0]);
    for (const auto& [name, target] : targets) std::fprintf(stderr, " %s", name.data());
    std::fprintf(stderr, "\n");
    return 2;
  }
  unsigned long changes = 0, inputs = 0;
  for (int i = 2; i < count; ++i) {
    if (std::string_view(arguments[i]) == "--changes" && i + 1 < count) {
      changes = std::strtoul(arguments[++i], nullptr, 10);
      continue;
    }
    for (const fs::path& path : inputs_of(arguments[i])) {
      std::ifstream in(path, std::ios::binary);
      const Input input{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      run(found->second, input);
      std::uint64_t state = 0x9E3779B97F4A7C15U + input.size();
      for (unsigned long n = 0; n < changes; ++n) {
        Input changed = input;
        change(changed, state);
        run(found->second, changed);
      }
      ++inputs;
    }
  }
  std::printf("%lu inputs, %lu changes of each\n", inputs, changes);
  return inputs == 0 ? 1 : 0;
}
