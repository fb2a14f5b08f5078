// Files of foreign formats and the cells that must come out of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <variant>

#include "dapple/dapple.h"
#include "harness/session.h"

namespace dapple::bench {

/// Converts a file of any format to another, without syncing.
void convert_file(const std::filesystem::path& in, const std::filesystem::path& out,
                  const std::string& to, unsigned threads = 1, const WriteOptions& write = {});

/// A contender that writes `path`; it is removed before each run. The answer is not compared:
/// `holds` is, which sees what was written.
Contender file_writer(std::string name, Role role, std::string how, double work,
                      const std::filesystem::path& path, std::function<void()> write,
                      std::function<bool()> holds = {});

/// What the limits' work is counted in.
enum class Per : std::uint8_t { byte, run };

/// As a limit: the bytes of the file `like` from memory to a new file at `path`.
Contender raw_writer(const std::filesystem::path& like, const std::filesystem::path& path, Per per);

/// As a limit of conversions: the file `from`, copied to `path`.
Contender raw_copier(const std::filesystem::path& from, const std::filesystem::path& path, Per per);

/// As a limit: pread of the whole file into memory that was used before.
Contender raw_reader(const std::filesystem::path& path, Per per);

}  // namespace dapple::bench
