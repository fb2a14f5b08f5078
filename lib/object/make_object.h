// The objects of the API from stores.
#pragma once

#include <memory>
#include <utility>
#include <variant>

#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "lib/object/store.h"

namespace dapple::detail {

inline bool holds_frame(const Store& store) noexcept {
  return store.schema().kind == ObjectKind::frame;
}

/// The only one who may make them.
struct ObjectMaker {
  /// REQUIRES that the store holds a matrix, or a frame.
  static Matrix matrix(std::shared_ptr<const Store> store) { return Matrix(std::move(store)); }
  static Frame frame(std::shared_ptr<const Store> store) { return Frame(std::move(store)); }
};

inline std::variant<Matrix, Frame> make_object(std::shared_ptr<const Store> store) {
  if (holds_frame(*store)) return ObjectMaker::frame(std::move(store));
  return ObjectMaker::matrix(std::move(store));
}

inline std::shared_ptr<const Store> store_of(const std::variant<Matrix, Frame>& object) {
  return std::visit([](const BlockedObject& o) { return o.share(); }, object);
}

}  // namespace dapple::detail
