#include "workloads/cells_file.h"

#include <memory>
#include <utility>
#include <vector>

#include "harness/raw_file.h"

namespace dapple::bench {

namespace fs = std::filesystem;

void convert_file(const fs::path& in, const fs::path& out, const std::string& to, unsigned threads,
                  const WriteOptions& write) {
  ConvertOptions options;
  options.to = to;
  options.threads = threads;
  options.write = write;
  options.write.sync = false;
  options.write.overwrite = true;
  OpenOptions opening;
  opening.threads = threads;
  convert(open(in, opening), {}, out, options);
}

Contender file_writer(std::string name, Role role, std::string how, double work,
                      const fs::path& path, std::function<void()> write,
                      std::function<bool()> holds) {
  return {std::move(name),
          role,
          std::move(how),
          work,
          0,
          [write = std::move(write)](Sample&) {
            write();
            return 0.0;
          },
          [path] { fs::remove(path); },
          std::move(holds)};
}

Contender raw_writer(const fs::path& like, const fs::path& path, Per per) {
  const RawFile file(like);
  const auto bytes = std::make_shared<std::vector<std::byte>>(file.size());
  file.read_at(0, *bytes);
  return file_writer("pwrite", Role::limit, "as many bytes to a new file",
                     per == Per::run ? 1 : static_cast<double>(bytes->size()), path,
                     [bytes, path] { RawFile(path, RawFile::For::writing).write_at(0, *bytes); });
}

Contender raw_copier(const fs::path& from, const fs::path& path, Per per) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  const auto buffer = std::make_shared<std::vector<std::byte>>(kPiece);
  const auto copy = [buffer, from, path] {
    const RawFile in(from), out(path, RawFile::For::writing);
    std::uint64_t at = 0;
    while (const std::size_t n = in.read_some_at(at, *buffer)) {
      out.write_at(at, std::span(*buffer).first(n));
      at += n;
    }
  };
  return file_writer("copy", Role::limit, "the file to a new one, by pread and pwrite of 1 MiB",
                     per == Per::run ? 1 : static_cast<double>(fs::file_size(from)), path, copy);
}

Contender raw_reader(const fs::path& path, Per per) {
  const auto bytes = std::make_shared<std::vector<std::byte>>(fs::file_size(path));
  return {"pread",
          Role::limit,
          "the whole file into warm memory",
          per == Per::run ? 1 : static_cast<double>(bytes->size()),
          static_cast<double>(bytes->size()),
          [bytes, path](Sample&) {
            return static_cast<double>(RawFile(path).read_some_at(0, *bytes));
          }};
}

}  // namespace dapple::bench
