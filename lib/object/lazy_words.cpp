#include "lib/object/lazy_words.h"

#include <utility>

#include "lib/cells/convert_cells.h"
#include "lib/object/misfit.h"

namespace dapple::detail {

void LazyWords::load() const {
  std::call_once(once_, [&] {
    try {
      read_all(words_, codes_);
    } catch (...) {
      error_ = std::current_exception();
    }
  });
  if (error_) std::rethrow_exception(error_);
}

std::uint64_t LazyWords::size() const noexcept {
  try {
    load();
  } catch (...) {
    return 0;  // the error is that of reading a cell
  }
  return words_.size();
}

std::string_view LazyWords::operator[](std::uint64_t i) const {
  load();
  return words_[i];
}

std::span<const std::uint32_t> LazyWords::codes() const {
  load();
  return codes_;
}

void read_codes(const Store& store, const Entry& entry, const LazyWords& words, const Part& part,
                const Target& out) {
  const auto codes = words.codes().subspan(entry.pos.rx + part.rows.begin, part.rows.size());
  const auto* const bytes = reinterpret_cast<const std::byte*>(codes.data());
  const std::size_t done = convert_cells(ValueType::u32, bytes, sizeof codes[0], out.type, out.data,
                                         out.row_step, codes.size());
  if (done < codes.size()) {
    fail_misfit(store, entry, {part.rows.begin + done, part.cols.begin},
                bytes + done * sizeof codes[0], out.type);
  }
}

Meaning meaning_of_text(std::shared_ptr<const LazyWords> words) {
  Meaning meaning;
  meaning.kind = MeaningKind::text;
  meaning.missing = kMissingCode;
  meaning.words = std::move(words);
  return meaning;
}

}  // namespace dapple::detail
