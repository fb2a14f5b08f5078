// Names of the rows of an object, or of the columns of a matrix.
//
//   dapple::NamesBuilder names;
//   for (const std::string& barcode : barcodes) names.add(barcode);
//   options.row_names = names.finish();                       // WriteOptions
//   ...
//   const auto row = matrix.row_names()->find("AAACCTG");     // a hash table in the file
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dapple {

/// An immutable list of UTF-8 strings, one for each row or column; "" for one without a name. Any
/// thread. The strings stay valid as long as the list.
class Names {
 public:
  virtual ~Names() = default;
  virtual std::uint64_t size() const noexcept = 0;
  /// Name `i`, counted from 0. Throws out_of_range; corrupt. O(1).
  virtual std::string_view operator[](std::uint64_t i) const = 0;
  /// Which row or column has this name, or nothing. Throws invalid_argument when several have it;
  /// corrupt. O(1): three looks at the file. In a file of this machine, the first name that is not
  /// found costs O(bytes), for all names are compared with their hash then.
  virtual std::optional<std::uint64_t> find(std::string_view name) const = 0;
  /// True when no two have the same name, other than "".
  virtual bool unique() const noexcept = 0;
};

/// Makes a list. Memory: what the names take, and about 20 bytes for each.
class NamesBuilder {
 public:
  /// Throws invalid_argument for more than 65535 bytes, bytes that are not UTF-8, and more than
  /// 2^32 - 2 names.
  void add(std::string_view name);
  std::uint64_t size() const noexcept { return ends_.size(); }
  /// The list; the builder is empty afterwards. O(names).
  std::shared_ptr<const Names> finish();

 private:
  std::string text_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace dapple
