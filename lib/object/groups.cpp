#include "lib/object/groups.h"

#include <algorithm>

#include "lib/object/dictionary.h"

namespace dapple::detail {

Range whole_group(std::span<const Column> columns, std::uint64_t col) noexcept {
  const ColumnGroup* const group = columns[col].group.get();
  const Range none{col, col};
  if (group == nullptr || group->size > columns.size() - col) return none;
  for (std::uint64_t slot = 0; slot < group->size; ++slot) {
    const Column& column = columns[col + slot];
    if (column.group.get() != group || column.slot != slot) return none;
  }
  return {col, col + group->size};
}

std::vector<Range> all_groups(std::span<const Column> columns) {
  std::vector<Range> groups;
  for (std::uint64_t col = 0; col < columns.size();) {
    const Range group = whole_group(columns, col);
    if (!group.empty()) groups.push_back(group);
    col = std::max(col + 1, group.end);
  }
  return groups;
}

bool same_slot(const Column& a, const Column& b) {
  if (a.group == b.group) return a.group == nullptr || a.slot == b.slot;
  return a.group != nullptr && b.group != nullptr && a.slot == b.slot &&
         a.group->name == b.group->name && a.group->size == b.group->size &&
         a.group->slot_name(a.slot) == b.group->slot_name(b.slot);
}

bool same_words(const Dictionary* a, const Dictionary* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->size() != b->size()) return false;
  for (std::uint64_t i = 0; i < a->size(); ++i) {
    if ((*a)[i] != (*b)[i]) return false;
  }
  return true;
}

}  // namespace dapple::detail
