#include <memory>
#include <string>

#include "dapple/concat.h"
#include "dapple/convert.h"
#include "lib/dbdf/write/append.h"
#include "lib/io/file.h"
#include "lib/object/store.h"

namespace dapple {

WriteSummary append(const std::filesystem::path& file, const std::variant<Matrix, Frame>& rows,
                    const ConvertOptions& options) {
  OpenOptions how;
  how.guard = true;
  const std::variant<Matrix, Frame> parts[] = {open(file, how), rows};
  const auto share = [](const BlockedObject& object) { return object.share(); };
  const auto old = std::visit(share, parts[0]);
  if (std::string_view(old->codec().format) != "dbdf") {
    throw Error(Errc::unsupported, file.string(), std::nullopt,
                "rows can only be appended to dbdf files, and the format of this one is " +
                    std::string(old->codec().format) + "; convert it first");
  }
  const auto whole = std::visit(share, concat(parts, Axis::rows));
  return detail::dbdf::append_dbdf(old, whole, file, options);
}

}  // namespace dapple
