// Words of a column: dictionaries of the library's as Python sees them, and new ones.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <tsl/robin_map.h>

#include "core.h"
#include "dapple/column.h"

namespace pydapple {

/// A dictionary that grows. Codes count from 1, as those of cells do: 0 is a missing word.
/// Thread-safe: a writer may publish its file while a column still takes words.
class GrowingWords final : public dapple::Dictionary {
 public:
  /// Puts the code of each word; those that are new are added.
  void add(std::span<const std::string_view> words, std::uint32_t* codes);

  std::uint64_t size() const noexcept override;
  std::string_view operator[](std::uint64_t i) const override;

 private:
  mutable std::mutex mutex_;                  // guards what follows
  std::deque<std::string> words_;             // which stay where they are
  static constexpr bool kKeepsHashes = true;  // which tell words apart without reading them
  tsl::robin_map<std::string_view, std::uint32_t, std::hash<std::string_view>,
                 std::equal_to<std::string_view>,
                 std::allocator<std::pair<std::string_view, std::uint32_t>>, kKeepsHashes>
      codes_;
};

/// What Python holds: `pydapple._core.Words`.
struct Words {
  std::shared_ptr<const dapple::Dictionary> dictionary;
  std::shared_ptr<GrowingWords> growing{};  // the same, where it can grow
};

/// As `surrogateescape` reads bytes that are not UTF-8.
nb::object to_str(std::string_view text);

/// The slots' own names, "" where one has none.
nb::list slot_names(const dapple::ColumnGroup& group);
/// The bytes of a str, surrogates as `surrogateescape` writes them. Valid as long as both `text`
/// and `keep`, which may be set.
std::string_view bytes_of(nb::handle text, nb::object& keep);

/// (kind, unit, ordered, zone, missing, Words), as `Meaning` of meanings.py.
nb::tuple to_tuple(const dapple::Meaning& meaning);
dapple::Meaning to_meaning(nb::handle tuple);

}  // namespace pydapple
