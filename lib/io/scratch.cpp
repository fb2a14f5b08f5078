#include "lib/io/scratch.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "lib/io/local/local_file.h"
#include "lib/io/temporary.h"

namespace dapple::detail {

namespace {

[[noreturn]] void fail(const std::string& action, int errno_value) {
  throw_io("a temporary file in " + temporary_folder(), action, errno_value);
}

}  // namespace

Scratch::Scratch(std::uint64_t size) : size_(size) {
  if (in_memory()) {
    memory_.reset(size);
    return;
  }
  fd_ = open_scratch("working space");
  if (uninterrupted([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(size)); }) != 0) {
    fail("enlarge to " + std::to_string(size) + " bytes", errno);
  }
  Descriptor reader = duplicate(fd_.get());
  if (!reader.is_open()) fail("open", errno);
  file_ = LocalFile::adopt(std::move(reader), "working space");
}

Scratch::~Scratch() = default;

void Scratch::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (in_memory()) {
    if (!bytes.empty()) std::memcpy(memory_.data() + offset, bytes.data(), bytes.size());
    return;
  }
  if (!write_all(fd_.get(), offset, bytes)) fail("write", errno);
}

void Scratch::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (!in_memory()) {
    file_->read_at(offset, out);
  } else if (!out.empty()) {
    std::memcpy(out.data(), memory_.data() + offset, out.size());
  }
}

const std::byte* Scratch::at(std::uint64_t offset, std::uint64_t n) const {
  if (in_memory()) return memory_.data() + offset;
  file_->expect_reads();
  return file_->at(offset, n);
}

}  // namespace dapple::detail
