#include <string>
#include <system_error>

#include "dapple/concat.h"
#include "dapple/convert.h"
#include "lib/catalog/formats.h"
#include "lib/compute/source.h"
#include "lib/dbdf/write/append.h"
#include "lib/io/byte_source.h"
#include "lib/io/local/local_file.h"
#include "lib/object/make_object.h"
#include "lib/object/store.h"

namespace dapple {

namespace {

/// Opens the file when it is this call's turn to append to it; other calls, in any process, wait
/// until the result is closed.
std::variant<Matrix, Frame> open_in_turn(const std::filesystem::path& file) {
  OpenOptions how;
  how.guard = true;
  for (;;) {
    auto object = open(file, how);
    const detail::LocalFile* const local = detail::store_of(object)->file().local();
    if (local == nullptr || local->lock_for_replacing()) return object;
  }
}

/// The file that a name leads to: rows appended to a link are for all who know the file.
std::filesystem::path follow_links(const std::filesystem::path& name) {
  std::error_code none;  // opening tells what is wrong with a link that leads nowhere
  if (!std::filesystem::is_symlink(name, none)) return name;
  const std::filesystem::path file = std::filesystem::canonical(name, none);
  return none ? name : file;
}

}  // namespace

WriteSummary append(const std::filesystem::path& name, const std::variant<Matrix, Frame>& rows,
                    const ConvertOptions& options) {
  if (options.transpose) {
    throw Error(Errc::invalid_argument, "rows are appended as they are, not as columns");
  }
  const std::filesystem::path file = follow_links(name);
  const std::variant<Matrix, Frame> parts[] = {open_in_turn(file), rows};
  const auto old = detail::store_of(parts[0]);
  if (old->format() != detail::native_format().info.name) {
    throw Error(Errc::unsupported, file.string(), std::nullopt,
                "rows can only be appended to dbdf files, and the format of this one is " +
                    std::string(old->format()) + "; convert it first");
  }
  const auto whole = detail::store_of(
      concat(parts, Axis::rows,
             {.allow_loss = options.allow_loss, .keep_order = true, .note = options.note}));
  detail::judge_losses(detail::Source(whole, {}, options), detail::native_format(), options);
  return detail::dbdf::append_dbdf(old, whole, file, options);
}

}  // namespace dapple
