#include "lib/dbdf/write/checks.h"

#include <bit>
#include <cstdint>
#include <string>

#include "dapple/error.h"
#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/header.h"
#include "lib/object/attributes.h"

namespace dapple::detail::dbdf {

void require_sound(const WriteOptions& options) {
  constexpr std::uint32_t kLargest = 2u << 20;
  if (!std::has_single_bit(options.align) || options.align > kLargest) {
    throw Error(Errc::invalid_argument,
                "the alignment must be a power of two up to " + std::to_string(kLargest) +
                    ", and " + std::to_string(options.align) + " is not",
                "align");
  }
  if (options.plain && options.pack != Packing::none) {
    throw Error(Errc::invalid_argument,
                "the plain layout has no packed blocks; choose one or the other");
  }
  if (options.tile && (options.tile->rows == 0 || options.tile->cols == 0)) {
    throw Error(
        Errc::invalid_argument,
        "tiles of " + extents_text(options.tile->rows, options.tile->cols) + " cells hold nothing",
        "tile");
  }
  if (options.attributes.empty()) return;
  const std::string fault = fault_of_attributes(options.attributes);
  if (!fault.empty()) throw Error(Errc::invalid_argument, "the attributes " + fault, "attributes");
}

void take_given(const WriteOptions& options, Schema& schema, const std::string& file) {
  if (options.plain) {
    schema.attributes = nullptr;
    schema.row_names = schema.col_names = nullptr;
    return;
  }
  const auto refuse = [&](const std::string& why) {
    throw Error(Errc::invalid_argument, file, std::nullopt, why);
  };
  if (options.col_names != nullptr && schema.kind == ObjectKind::frame) {
    refuse("the columns of a frame have labels, and no other names");
  }
  const auto take = [&](const std::shared_ptr<const Names>& given, ReadNames& own,
                        std::uint64_t count, const char* what) {
    if (given != nullptr) own = [given] { return given; };
    const auto names = own ? own() : nullptr;
    if (names == nullptr || names->size() == 0 || names->size() == count) return;
    refuse(counted(names->size(), "name") + " cannot be those of " + counted(count, what));
  };
  take(options.row_names, schema.row_names, schema.rows, "row");
  take(options.col_names, schema.col_names, schema.cols, "column");
  if (!options.attributes.empty()) schema.attributes = [json = options.attributes] { return json; };
  schema.read_attributes();
}

std::vector<std::byte> checked_header(const Schema& schema) {
  for (const Column& column : schema.columns) {
    if (column.label.size() > 65535) {
      throw Error(Errc::invalid_argument, "a label has at most 65535 bytes, but one has " +
                                              std::to_string(column.label.size()));
    }
  }
  return emit_header(schema);
}

ValueType type_of_block(const Schema& schema, BlockPos pos, TileShape shape) {
  if (shape.rows == 0 || shape.cols == 0) {
    throw Error(Errc::invalid_argument,
                "a block of " + extents_text(shape.rows, shape.cols) + " cells holds nothing");
  }
  if (pos.rx >= schema.rows || shape.rows > schema.rows - pos.rx || pos.cx >= schema.cols ||
      shape.cols > schema.cols - pos.cx) {
    throw Error(Errc::out_of_range, "the block of " + extents_text(shape.rows, shape.cols) +
                                        " cells at " + text(pos) + " is not inside the " +
                                        extents_text(schema.rows, schema.cols) + " object");
  }
  const ValueType type = schema.type_of(pos.cx);
  const std::uint64_t other = schema.end_of_type({pos.cx, pos.cx + shape.cols});
  if (other == pos.cx + shape.cols) return type;
  throw Error(Errc::invalid_argument,
              "a block has columns of one value type (R8), but column " + std::to_string(pos.cx) +
                  " is " + std::string(name(type)) + " and column " + std::to_string(other) +
                  " is " + std::string(name(schema.type_of(other))));
}

}  // namespace dapple::detail::dbdf
