// What can only be read once, as a file.
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "lib/io/local/local_file.h"
#include "lib/io/temporary.h"

namespace dapple::detail {

std::shared_ptr<LocalFile> LocalFile::spool(int source, std::string name) {
  const auto read = [&](std::span<std::byte> buffer) {
    const ssize_t got = uninterrupted([&] { return ::read(source, buffer.data(), buffer.size()); });
    if (got < 0) throw_io(name, "read", errno);
    return static_cast<std::size_t>(got);
  };
  return spool(read, name);
}

std::shared_ptr<LocalFile> LocalFile::spool(const ReadSome& read, std::string name) {
  Descriptor fd = open_scratch(name);
  constexpr std::size_t kBuffer = 1 << 20;
  const auto buffer = std::make_unique<std::byte[]>(kBuffer);
  for (std::uint64_t size = 0;;) {
    const std::size_t count = read({buffer.get(), kBuffer});
    if (count == 0) break;
    if (!write_all(fd.get(), size, {buffer.get(), count})) {
      throw_io(name, "copy to a temporary file in " + temporary_folder(), errno);
    }
    size += count;
  }
  return adopt_unnamed(std::move(fd), std::move(name));
}

}  // namespace dapple::detail
