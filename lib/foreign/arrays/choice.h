// What can be opened in a file that holds several objects, and which one is.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dapple::detail {
class Store;
}

namespace dapple::detail::arrays {

struct Choice {
  std::string path;     // "": the file as a whole
  bool matrix = false;  // of two dimensions
};

/// One of several objects of a file, whose list was read once for all of them.
struct Listed {
  std::string name;  // for `OpenOptions::array`
  std::function<std::shared_ptr<const Store>()> open;
};

struct Choices {
  std::vector<Choice> found;
  std::vector<std::string> others;  // some of what cannot be opened, and why: "x (strings)"

  /// X, or the only matrix, or the only one; null where the caller has to say.
  const std::string* only() const;
  /// Their paths, or the first of them: "a, b, c".
  std::string listed() const;
  /// ", only x (strings), y (strings)"; "" for none.
  std::string shown_others() const;
  /// What an object lists of its file.
  std::vector<std::string> contents() const;
  void add_other(const std::string& path, const std::string& why);
};

}  // namespace dapple::detail::arrays
