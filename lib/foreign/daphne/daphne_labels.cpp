// What FILE.meta says about a frame.

#include <string>
#include <utility>

#include "lib/foreign/daphne/daphne_blocks.h"
#include "lib/foreign/meta/daphne_meta.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::daphne {

void take_labels_beside(const ByteSource& file, Schema& schema) {
  auto meta = find_daphne_meta(file);
  if (!meta || meta->kind != ObjectKind::frame) return;
  const auto fail = [&](const std::string& says, const std::string& has) {
    throw Error(Errc::corrupt, file.name() + ".meta", std::nullopt,
                "says " + says + ", but the frame has " + has);
  };
  const auto shape = [](std::uint64_t rows, std::uint64_t cols) {
    return std::to_string(rows) + " x " + std::to_string(cols);
  };
  if (meta->rows != schema.rows || meta->cols != schema.cols) {
    fail("the shape is " + shape(meta->rows, meta->cols), shape(schema.rows, schema.cols));
  }
  for (std::uint64_t col = 0; col < schema.cols; ++col) {
    const ValueType type = schema.columns[col].value_type;
    const Column& column = meta->columns[col];
    if (column.value_type != type || column.meaning.has_words()) {
      fail("column " + std::to_string(col) + " is " +
               (column.meaning.has_words() ? "str" : std::string(name(column.value_type))),
           std::string(name(type)));
    }
  }
  schema.columns = std::move(meta->columns);
}

}  // namespace dapple::detail::daphne
