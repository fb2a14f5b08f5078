#include "dapple/items.h"

#include "lib/dbdf/read/open_dbdf.h"
#include "lib/dbdf/walk.h"
#include "lib/object/store.h"

namespace dapple {

namespace {

using namespace detail;

ItemRole role_of(const ByteSource& file, const dbdf::Item& item) {
  if (item.holds_cells()) return ItemRole::cells;
  if (!item.auxiliary) return ItemRole::no_cells;
  if (dbdf::has_tag(file, item.entry, dbdf::kPaddingTag)) return ItemRole::padding;
  if (dbdf::has_tag(file, item.entry, dbdf::kIndexTag)) return ItemRole::index;
  return ItemRole::auxiliary;
}

}  // namespace

std::string_view name(ItemRole role) noexcept {
  switch (role) {
    case ItemRole::cells:
      return "cells";
    case ItemRole::no_cells:
      return "no cells";
    case ItemRole::padding:
      return "padding";
    case ItemRole::index:
      return "index";
    case ItemRole::auxiliary:
      break;
  }
  return "auxiliary";
}

void for_each_item(const BlockedObject& object,
                   const std::function<void(const BlockInfo&, ItemRole)>& take) {
  const Store& store = object.store();
  if (&store.driver() != &dbdf::kDriver) {
    for (const BlockInfo& block : object.blocks()) take(block, ItemRole::cells);
    return;
  }
  std::uint64_t body = 0;
  const Schema schema = store.watched([&] { return dbdf::read_header(store.file(), body); });
  dbdf::Walk walk(store.file(), body, schema.rows, schema.cols);
  while (true) {
    dbdf::Item item;
    ItemRole role = ItemRole::cells;
    const bool more = store.watched([&] {
      if (!walk.next(item)) return false;
      role = role_of(store.file(), item);
      return true;
    });
    if (!more) return;
    take(item.entry.info(), role);
  }
}

}  // namespace dapple
