// Door: the command line. The input is the arguments, one per line; none may lead out of a folder
// that holds a few small files. Every line ends in an exit status, or in a complaint.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "apps/dapple/verbs.h"
#include "dapple/dapple.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::arguments_target {

namespace {

namespace fs = std::filesystem;

// A folder to run in, made as it was before each run.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "dapple-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
    null_ = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null_, STDIN_FILENO);
    if (chdir(name.c_str()) != 0) std::abort();
  }
  ~Folder() { fs::remove_all(path_); }

  int null() const { return null_; }
  void reset() const {
    for (const auto& entry : fs::directory_iterator(path_)) fs::remove_all(entry.path());
    std::ofstream("a.csv") << "1,2,0\n4,5.5,6\n";
    WriteOptions options;
    options.sync = false;
    options.tile = TileShape{2, 2};
    auto w = MatrixWriter::create("m.dbdf", 4, 4, ValueType::i32, options);
    const std::int32_t cells[] = {1, 2, 3, 4};
    w.put<std::int32_t>({0, 0}, {cells, 2, 2, 2});
    w.finish();
  }

 private:
  fs::path path_;
  int null_;
};

cli::Arguments lines_of(const char* data, std::size_t size) {
  cli::Arguments lines(1);
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == '\n') {
      lines.emplace_back();
    } else if (data[i] != '\0') {
      lines.back() += data[i];
    }
  }
  return lines;
}

}  // namespace

FUZZ_TARGET(arguments) {
  static const Folder folder;
  cli::Arguments arguments = lines_of(reinterpret_cast<const char*>(data), size);
  for (const std::string& argument : arguments) {
    if (argument.find('/') != std::string::npos || argument.find("..") != std::string::npos) {
      return 0;
    }
  }
  const cli::Verb* const verbs[] = {&cli::kInfoVerb,    &cli::kBlocksVerb, &cli::kGetVerb,
                                    &cli::kConvertVerb, &cli::kIndexVerb,  &cli::kVerifyVerb,
                                    &cli::kRepairVerb};
  for (const cli::Verb* verb : verbs) {
    if (verb->name != arguments[0]) continue;
    folder.reset();
    cli::Console console{cli::Output(folder.null())};
    try {
      const int status = verb->run({arguments.begin() + 1, arguments.end()}, console);
      console.out.flush();
      if (status < 0 || status > 3) std::abort();
    } catch (const cli::UsageError&) {
    } catch (const cli::HelpAsked&) {
    } catch (const Error&) {
    } catch (const std::bad_alloc&) {
    }
  }
  return 0;
}

}  // namespace dapple::fuzz::arguments_target
