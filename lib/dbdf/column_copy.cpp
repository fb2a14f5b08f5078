#include "lib/dbdf/column_copy.h"

#include <algorithm>
#include <string>

#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/io/hash.h"
#include "lib/io/local/local_file.h"

namespace dapple {

namespace detail {

namespace dbdf {

namespace {

constexpr std::uint64_t kCopyVersion = 1;
constexpr std::uint64_t kBoundHead = 4096;  // of the file, which is hashed

/// Other than a sidecar, which knows that its file is dbdf and holds one object, the hash of the
/// head depends on the format as which the file is read, and on what was chosen of it.
Binding binding_of(const Store& matrix) {
  std::string read_as(matrix.format());
  read_as.append(1, '\0').append(matrix.file().chosen());
  Binding binding{kCopyTag, kCopyVersion, std::min(matrix.file().size(), kBoundHead),
                  xxh3(std::as_bytes(std::span(read_as)))};
  // A file with an index of its own is never changed in place.
  if (matrix.index().origin() != IndexOrigin::embedded) binding.cover(matrix.file());
  return binding;
}

bool is_transpose(const Schema& copy, const Schema& of) {
  return copy.kind == ObjectKind::matrix && copy.rows == of.cols && copy.cols == of.rows &&
         copy.value_type == of.value_type;
}

/// Sets all but the store of a copy; `copy.file` is there.
void judge(const Store& matrix, FoundCopy& copy) {
  copy.state = SidecarState::damaged;
  std::uint64_t body = 0;
  const Schema schema = read_header(*copy.file, body);
  auto trailer = find_trailer(*copy.file, body + kPosition + kDenseHeader);
  if (!trailer || !complete(trailer->place, schema.rows, schema.cols)) {
    copy.fault = copy.file->size() - 1;
    return;
  }
  const auto hint = find_hint(*copy.file, body, *trailer, kCopyTag);
  copy.fault = hint ? hint->offset : trailer->payload;
  if (!hint || hint->bytes != kLine || !is_whole(*copy.file, *hint)) return;
  const auto match =
      binding_of(matrix).match(matrix.file(), copy.file->bytes(hint->offset, hint->bytes));
  copy.state = match.state;
  if (match.state == SidecarState::fresh && !is_transpose(schema, matrix.schema())) {
    copy.state = SidecarState::damaged;
    copy.fault = 0;
  } else {
    copy.fault += match.fault;
  }
}

}  // namespace

std::vector<std::byte> copy_hint(const Store& matrix) {
  const auto line = binding_of(matrix).line(matrix.file());
  return {line.begin(), line.end()};
}

FoundCopy find_column_copy(const Store& matrix) {
  FoundCopy copy;
  if (matrix.schema().kind != ObjectKind::matrix) return copy;
  copy.file = matrix.file().sibling(kCopyEnding);
  if (copy.file == nullptr) return copy;
  try {
    watched(*copy.file, [&] {
      judge(matrix, copy);
      if (copy.state != SidecarState::fresh) return;
      OpenOptions options;
      options.check = matrix.file().check();
      copy.store = open_dbdf(copy.file, options);
    });
  } catch (const Error& e) {
    copy.state = SidecarState::damaged;
    copy.fault = e.offset().value_or(0);
  }
  return copy;
}

}  // namespace dbdf

std::shared_ptr<const Store> Store::by_column() const {
  const std::lock_guard lock(mutex_);
  if (!by_column_) by_column_ = watched([&] { return dbdf::find_column_copy(*this).store; });
  return *by_column_;
}

}  // namespace detail

std::filesystem::path column_copy_path(const std::filesystem::path& file) {
  std::filesystem::path path = file;
  path += detail::kCopyEnding;
  return path;
}

SidecarState column_copy_state(const Matrix& matrix) {
  const detail::Store& store = matrix.store();
  return store.watched([&] { return detail::dbdf::find_column_copy(store).state; });
}

}  // namespace dapple
