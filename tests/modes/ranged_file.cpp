#include "tests/modes/ranged_file.h"

#include <thread>
#include <utility>

#include "lib/io/local/local_file.h"

namespace dapple::test {

RangedFile::RangedFile(std::shared_ptr<detail::ByteSource> file)
    : RangedSource(file->name(), file->identity(), Habits{}), file_(std::move(file)) {}

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

std::shared_ptr<detail::ByteSource> RangedFile::ranged(
    std::shared_ptr<detail::ByteSource> file) const {
  if (file == nullptr) return nullptr;
  auto found = std::make_shared<RangedFile>(std::move(file));
  found->set_check(check());
  return found;
}

}  // namespace dapple::test
