#include "lib/object/own_columns.h"

#include <algorithm>

#include "lib/base/text.h"

namespace dapple::detail {

void note_named(const std::string& noun, const std::vector<std::string_view>& names,
                const std::string& what, const TakeNote& note) {
  constexpr std::size_t kNamed = 3;
  if (names.empty()) return;
  std::string text = noun + (names.size() == 1 ? " " : "s ");
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i) {
    text += (i == 0 ? "" : ", ") + shown(names[i]);
  }
  if (names.size() > kNamed) text += " and " + std::to_string(names.size() - kNamed) + " more";
  note(text + ": " + what);
}

}  // namespace dapple::detail
