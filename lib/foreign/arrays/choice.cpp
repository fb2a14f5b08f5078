#include "lib/foreign/arrays/choice.h"

#include <algorithm>

#include "lib/object/store.h"

namespace dapple::detail::arrays {

const std::string* Choices::only() const {
  const Choice* matrix = nullptr;
  std::size_t matrices = 0;
  for (const Choice& one : found) {
    if (one.path == "X" || one.path.empty()) return &one.path;
    if (!one.matrix) continue;
    matrix = &one;
    ++matrices;
  }
  if (matrices == 1) return &matrix->path;
  return matrices == 0 && found.size() == 1 ? &found[0].path : nullptr;
}

std::string Choices::listed() const {
  constexpr std::size_t kMost = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(found.size(), kMost); ++i) {
    text.append(i == 0 ? "" : ", ").append(found[i].path);
  }
  return found.size() > kMost ? text + ", ..." : text;
}

std::string Choices::shown_others() const {
  std::string text;
  for (const std::string& other : others)
    text.append(text.empty() ? ", only " : ", ").append(other);
  return text;
}

std::vector<std::string> Choices::contents() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(found.size(), Store::kMostContents); ++i) {
    names.push_back(found[i].path);
  }
  return names;
}

void Choices::add_other(const std::string& path, const std::string& why) {
  constexpr std::size_t kMost = 5;
  if (others.size() < kMost) others.push_back(path + " (" + why + ")");
}

}  // namespace dapple::detail::arrays
