// Door: the .meta file beside DAPHNE's data. Any bytes give an answer or an Error, and
// what is written of an answer reads back to it.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "lib/foreign/meta/daphne_meta.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::meta_target {

FUZZ_TARGET(meta) {
  using namespace dapple::detail;
  const std::string file = "x.meta";
  DaphneMeta meta;
  try {
    meta = parse_daphne_meta({reinterpret_cast<const char*>(data), size}, file);
  } catch (const Error&) {
    return 0;
  }
  Schema schema;
  schema.kind = meta.kind;
  schema.rows = meta.rows;
  schema.cols = meta.cols;
  schema.value_type = meta.value_type;
  schema.columns = meta.columns;
  const DaphneMeta again = parse_daphne_meta(daphne_meta_text(schema, meta.stored), file);
  if (again.kind != meta.kind || again.rows != meta.rows || again.cols != meta.cols ||
      again.columns != meta.columns || again.stored != meta.stored ||
      (meta.kind == ObjectKind::matrix && again.value_type != meta.value_type)) {
    std::abort();
  }
  return 0;
}

}  // namespace dapple::fuzz::meta_target
