// Door: JSON, of attributes, Zarr's metadata and DAPHNE's. Any bytes give a tree or an Error; what
// is written of a tree reads back to it, and its members by themselves are the same. What
// attributes are said to be, the reader takes, and they come back from a file as they are.
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

/// The members of an object are those of its tree.
void require_members(std::string_view text, const Json& tree) {
  const auto members = detail::json_members(text, "fuzz");
  require(members.size() == tree.keys.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    require(members[i].key == tree.keys[i]);
    require(equal(Json::parse(members[i].text, "fuzz"), tree.items[i]));
  }
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
    try {
      detail::json_members(text, "fuzz");  // what is wrong may be in the value of one
    } catch (const Error&) {
    }
    return 0;
  }
  require_members(text, tree);
  const std::string written = tree.dump();
  require(equal(Json::parse(written, "fuzz"), tree));
  if (!attributes) return 0;
  require(tree.is(Json::Kind::object) && detail::fault_of_attributes(written).empty());
  keep(text);
  return 0;
}

}  // namespace dapple::fuzz::json_target
