#include "lib/object/lazy_words.h"

#include <utility>

#include "lib/cells/convert_cells.h"
#include "lib/object/misfit.h"

namespace dapple::detail {

const LazyWords::Loaded& LazyWords::loaded() const {
  const Loaded* const known = loaded_.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  const std::lock_guard lock(mutex_);
  if (damage_) std::rethrow_exception(damage_);
  if (kept_ == nullptr) {
    auto made = std::make_unique<Loaded>();
    try {
      read_all(made->words, made->codes);
    } catch (const Error& e) {
      if (e.code() == Errc::corrupt) damage_ = std::current_exception();
      throw;
    }
    kept_ = std::move(made);
    loaded_.store(kept_.get(), std::memory_order_release);
  }
  return *kept_;
}

std::uint64_t LazyWords::size() const { return loaded().words.size(); }

std::string_view LazyWords::operator[](std::uint64_t i) const { return loaded().words[i]; }

std::span<const std::uint32_t> LazyWords::codes() const { return loaded().codes; }

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
