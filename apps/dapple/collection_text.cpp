#include "collection_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dapple/collection.h"
#include "dapple/error.h"
#include "dapple/open.h"
#include "report.h"
#include "text.h"

namespace dapple::cli {

namespace {

std::string kind_of(const std::variant<Matrix, Frame>& object) {
  return std::holds_alternative<Matrix>(object) ? "matrix" : "frame";
}

std::string type_of(const std::variant<Matrix, Frame>& object) {
  const auto* const matrix = std::get_if<Matrix>(&object);
  return matrix != nullptr ? std::string(name(matrix->value_type())) : "";
}

std::string member_json(const std::string& member, const std::variant<Matrix, Frame>& object) {
  const BlockedObject& o = base(object);
  const std::string type = type_of(object);
  return fmt::format(R"({{"name":{},"kind":"{}","rows":{},"cols":{}{},"bytes":{}}})",
                     json_string(member), kind_of(object), o.rows(), o.cols(),
                     type.empty() ? "" : fmt::format(R"(,"value_type":"{}")", type), o.bytes());
}

std::string member_line(const std::string& member, std::size_t width,
                        const std::variant<Matrix, Frame>& object) {
  const BlockedObject& o = base(object);
  const std::string type = type_of(object);
  return fmt::format("{:<{}}  {}, {} x {}{}{}, {}", printable(member), width, kind_of(object),
                     o.rows(), o.cols(), type.empty() ? "" : ", ", type, human_size(o.bytes()));
}

}  // namespace

bool print_collection(const Input& input, Console& console) {
  if (!input.options.array.empty() || input.is_stream()) return false;
  const auto collection = Collection::find(input.file, input.options);
  if (!collection) return false;
  std::size_t width = 0;
  for (const std::string& member : collection->members()) {
    width = std::max(width, printable(member).size());
  }
  for (const std::string& member : collection->json_members()) {
    width = std::max(width, printable(member).size());
  }
  std::string text = console.json ? R"({"format":"collection","members":[)" : "";
  std::optional<Error> fault;  // the first; it keeps none of the others from being listed
  for (const std::string& member : collection->members()) {
    if (console.json && !text.ends_with('[')) text += ',';
    try {
      const auto object = collection->open(member);
      text +=
          console.json ? member_json(member, object) : member_line(member, width, object) + '\n';
    } catch (const Error& e) {
      text += console.json
                  ? fmt::format(R"({{"name":{},"error":{}}})", json_string(member), error_json(e))
                  : fmt::format("{:<{}}  cannot be opened\n", printable(member), width);
      if (!fault) fault = e;
    }
  }
  for (const std::string& member : collection->json_members()) {
    text += console.json ? fmt::format(R"({}{{"name":{},"kind":"json"}})",
                                       text.ends_with('[') ? "" : ",", json_string(member))
                         : fmt::format("{:<{}}  JSON\n", printable(member), width);
  }
  if (text.empty()) text = "no members\n";
  console.out.write(text + (console.json ? "]}\n" : ""));
  if (fault) throw *fault;
  collection->require_axes();
  return true;
}

bool print_json_member(const Input& input, const Error& failed, Console& console) {
  if (failed.option() != "array" || input.is_stream()) return false;
  OpenOptions options = input.options;
  std::string member = std::exchange(options.array, {});
  if (const std::string folder = failed.file() + '/'; input.file.starts_with(folder)) {
    member = input.file.substr(folder.size());
  }
  const auto collection = Collection::find(failed.file(), options);
  if (!collection || !std::ranges::binary_search(collection->json_members(), member)) return false;
  std::string text = collection->json(member);
  if (!text.ends_with('\n')) text += '\n';
  if (!console.out.is_terminal()) {
    console.out.write(text);
    return true;
  }
  for (std::size_t at = 0; at < text.size();) {  // nobody has looked what it is
    const std::size_t end = text.find('\n', at);
    console.out.write(printable(text.substr(at, end - at)) + '\n');
    at = end + 1;
  }
  return true;
}

}  // namespace dapple::cli
