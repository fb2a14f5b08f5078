#include "info.h"

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "attributes.h"
#include "dapple/sidecar.h"
#include "input.h"
#include "names.h"
#include "text.h"

namespace dapple::cli {

namespace {

/// JSON keys for the meaning of a column; nothing for plain numbers.
std::string meaning_json(const Meaning& meaning) {
  std::string text;
  if (meaning.kind != MeaningKind::number)
    text += fmt::format(R"(,"meaning":"{}")", name(meaning.kind));
  if (meaning.kind == MeaningKind::category) {
    const auto words = count_words(meaning);
    text += fmt::format(R"(,"words":{})", words ? std::to_string(*words) : "null");
  }
  if (meaning.kind == MeaningKind::category && meaning.ordered) text += R"(,"ordered":true)";
  if (meaning.has_time()) {
    text += fmt::format(R"(,"unit":"{}","zone":{})", name(meaning.unit), json_string(meaning.zone));
  }
  if (meaning.missing) text += R"(,"missing":true)";
  return text;
}

/// JSON keys for the vector that a column is a slot of.
std::string group_json(const Column& column) {
  if (column.group == nullptr) return "";
  std::string text = fmt::format(R"(,"group":{})", json_string(column.group->name));
  const std::string_view slot = column.group->slot_name(column.slot);
  if (!slot.empty()) text += fmt::format(R"(,"slot":{})", json_string(slot));
  return text;
}

/// JSON keys for what the columns of a matrix are called.
void print_names_json(const Matrix& matrix, Output& out) {
  const ColumnGroup* const group = matrix.group();
  if (group == nullptr) return;
  out.print(R"(,"group":{})", json_string(group->name));
  if (group->slot_names == nullptr) return;
  for (std::uint64_t slot = 0; slot < group->size; ++slot) {
    out.print("{}{}", slot == 0 ? R"(,"slots":[)" : ",", json_string(group->slot_name(slot)));
  }
  out.write("]");
}

/// Keys that only some files have: several objects, text columns, attributes, a note, details.
void print_more_json(const BlockedObject& object, std::span<const Detail> details,
                     const std::string& attributes, Output& out) {
  if (object.contents().size() > 1) {
    out.print(R"(,"{}":)", title_of_contents(object));
    std::string_view before = "[";
    for (const std::string& one : object.contents()) {
      out.print("{}{}", before, json_string(one));
      before = ",";
    }
    out.write("]");
  }
  if (!object.text_columns().empty()) {
    std::string_view before = R"(,"text_columns":[)";
    for (const TextColumn& column : object.text_columns()) {
      out.print(R"({}{{"label":{},"type":{}}})", before, json_string(column.label),
                json_string(column.type));
      before = ",";
    }
    out.write("]");
  }
  if (attributes != "{}") out.print(R"(,"attributes":{})", on_one_line(attributes));
  if (!object.note().empty()) out.print(R"(,"note":{})", json_string(object.note()));
  if (!details.empty()) {
    std::string_view before = R"(,"details":[)";
    for (const Detail& detail : details) {
      out.print(R"({}{{"title":{},"text":{}}})", before, json_string(detail.title),
                json_string(detail.text));
      before = ",";
    }
    out.write("]");
  }
}

}  // namespace

std::string_view copy_state(const std::variant<Matrix, Frame>& object) {
  const auto* const matrix = std::get_if<Matrix>(&object);
  switch (matrix != nullptr ? column_copy_state(*matrix) : SidecarState::none) {
    case SidecarState::fresh:
      return "fresh";
    case SidecarState::stale:
      return "stale";
    case SidecarState::damaged:
      return "damaged";
    case SidecarState::none:
      break;
  }
  return "";
}

std::optional<std::uint64_t> count_words(const Meaning& meaning) {
  try {
    return meaning.words->size();
  } catch (const Error& error) {
    if (error.code() != Errc::corrupt) throw;
    return std::nullopt;
  }
}

std::string_view title_of_contents(const BlockedObject& object) {
  return object.format() == "futhark" ? "values" : "arrays";
}

void print_info_json(const std::variant<Matrix, Frame>& object, std::uint64_t bytes, Output& out) {
  const BlockedObject& o = base(object);
  const BlockCounts counts = o.counts();
  const std::vector<Detail> details = o.details();  // before printing, because these may throw
  const std::string attributes = o.attributes();
  out.print(R"({{"format":{})", json_string(o.format()));
  if (const auto* matrix = std::get_if<Matrix>(&object)) {
    out.print(R"(,"kind":"matrix","storage":"{}","rows":{},"cols":{},"value_type":"{}")",
              matrix->storage() == Storage::csr ? "csr" : "dense", o.rows(), o.cols(),
              name(matrix->value_type()));
    print_names_json(*matrix, out);
  } else {
    const Frame& frame = std::get<Frame>(object);
    out.print(R"(,"kind":"frame","rows":{},"cols":{},"columns":[)", o.rows(), o.cols());
    for (std::uint64_t col = 0; col < frame.cols(); ++col) {
      const Column& column = frame.column_info(col);
      out.print(R"({}{{"label":{},"value_type":"{}"{}{}}})", col == 0 ? "" : ",",
                json_string(column.label), name(column.value_type), meaning_json(column.meaning),
                group_json(column));
    }
    out.write("]");
  }
  out.print(R"(,"blocks":{{"total":{},"empty":{},"dense":{},"csr":{},"coo":{}}})", counts.total,
            counts.empty, counts.dense, counts.csr, counts.coo);
  if (const auto grid = o.grid()) {
    out.print(R"(,"grid":{{"rows":{},"cols":{},"tile_rows":{},"tile_cols":{}}})", grid->rows,
              grid->cols, grid->tile.rows, grid->tile.cols);
  } else {
    out.write(R"(,"grid":null)");
  }
  out.print(R"(,"stored":{},"bytes":{},"index":"{}")", counts.stored, bytes,
            name(o.index_origin()));
  if (const auto packed = o.packed(); packed.blocks > 0) {
    out.print(R"(,"packed":{{"blocks":{},"bytes":{},"plain_bytes":{}}})", packed.blocks,
              packed.bytes, packed.plain_bytes);
  }
  const std::string_view copy = copy_state(object);
  if (!copy.empty()) out.print(R"(,"column_copy":"{}")", copy);
  out.write(names_json(object));
  print_more_json(o, details, attributes, out);
  out.write("}\n");
}

}  // namespace dapple::cli
