// Door: JSON, of attributes, Zarr's metadata and DAPHNE's. Any bytes give a tree or an Error; what
// is written of a tree reads back to it. What attributes are said to be, the reader takes, and they
// come back from a file as they are.
#include <string>
#include <string_view>

#include "dapple/dapple.h"
#include "lib/base/json.h"
#include "lib/object/attributes.h"
#include "tests/fuzz/target.h"
#include "tests/support.h"

namespace dapple::fuzz::json_target {

namespace {

using detail::Json;

bool equal(const Json& a, const Json& b) {
  if (a.kind != b.kind || a.truth != b.truth || a.text != b.text || a.keys != b.keys ||
      a.items.size() != b.items.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!equal(a.items[i], b.items[i])) return false;
  }
  return true;
}

void keep(std::string_view text) {
  static const test::TempDir dir;
  WriteOptions options;
  options.attributes = text;
  options.overwrite = true;
  options.sync = false;
  MatrixWriter::create(dir / "m.dbdf", 1, 1, ValueType::u8, options).finish();
  const std::string kept = Matrix::open(dir / "m.dbdf").attributes();
  require(kept == text || (kept == "{}" && detail::is_empty_object(text)));
}

}  // namespace

FUZZ_TARGET(json) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool attributes = detail::fault_of_attributes(text).empty();
  Json tree;
  try {
    tree = Json::parse(text, "fuzz");
  } catch (const Error&) {
    require(!attributes);
    return 0;
  }
  const std::string written = tree.dump();
  require(equal(Json::parse(written, "fuzz"), tree));
  if (!attributes) return 0;
  require(tree.is(Json::Kind::object) && detail::fault_of_attributes(written).empty());
  keep(text);
  return 0;
}

}  // namespace dapple::fuzz::json_target
