#include "tests/modes/ranged_file.h"

#include <filesystem>
#include <thread>

#include "lib/io/local/local_file.h"

namespace dapple::test {

namespace {

detail::Identity identity_of(const std::string& path) {
  return detail::LocalFile::open(path)->identity();
}

}  // namespace

RangedFile::RangedFile(const std::string& path)
    : RangedSource(path, identity_of(path), Habits{}), file_(detail::LocalFile::open(path)) {}

RangedFile::~RangedFile() = default;

void RangedFile::fetch(std::span<const Part> parts) const {
  ++fetches_;
  if (delay_.count() > 0) std::this_thread::sleep_for(delay_);
  for (const Near& near : joined(parts)) {
    ++requests_;
    bytes_ += near.bytes.size();
    if (fault_) fault_(near.bytes.begin, near.bytes.size());
    for (const Part& part : near.parts) file_->read_at(part.offset, part.to);
  }
}

std::shared_ptr<detail::ByteSource> RangedFile::sibling(std::string_view ending) const {
  const std::string path = std::string(name()).append(ending);
  if (!std::filesystem::is_regular_file(path)) return nullptr;
  auto file = std::make_shared<RangedFile>(path);
  file->set_check(check());
  return file;
}

}  // namespace dapple::test
