// Columns of a frame as Arrow has them: what Arrow calls their types, and their stored values as
// what they mean.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dapple/frame.h"
#include "lib/c/arrow_arrays.h"

namespace dapple::detail::c {

/// A column of a stream: one of the frame's, or one that its format shows as text only.
struct ArrowColumn {
  bool shown = false;
  std::uint64_t number = 0;
  ValueType type = ValueType::u8;
  Meaning meaning{};
  std::string name{};
  std::shared_ptr<const Texts> words{};  // of a category

  bool is_date() const noexcept {
    return meaning.kind == MeaningKind::timestamp && meaning.unit == TimeUnit::day;
  }
};

/// What Arrow calls its type.
std::string format_of(const ArrowColumn& column);

/// The words of a category, in order.
std::shared_ptr<const Texts> texts_of(const Dictionary& words);

/// Makes `texts` the buffers of an array.
void set_texts(ArrayData& out, std::shared_ptr<const Texts> texts);

/// Turns stored values into what Arrow wants of the column's meaning. Throws corrupt for codes
/// without words, and for times that Arrow cannot hold.
void describe(const ArrowColumn& column, std::uint64_t rows, ArrayData& out);

}  // namespace dapple::detail::c
