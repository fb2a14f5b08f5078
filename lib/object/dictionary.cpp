#include "lib/object/dictionary.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <mutex>
#include <utility>

#include "dapple/error.h"
#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/io/hash.h"

namespace dapple::detail {

namespace {

[[noreturn]] void fail_code(std::uint64_t i, std::uint64_t size) {
  throw Error(Errc::out_of_range,
              "word " + std::to_string(i) + " of a dictionary of " + std::to_string(size));
}

class StoredDictionary final : public Dictionary {
 public:
  StoredDictionary(std::shared_ptr<const void> owner, std::span<const std::byte> offsets,
                   std::span<const std::byte> bytes, std::uint64_t hash, std::string file,
                   std::uint64_t at)
      : owner_(std::move(owner)),
        offsets_(offsets),
        bytes_(bytes),
        hash_(hash),
        file_(std::move(file)),
        at_(at) {}

  std::uint64_t size() const noexcept override { return offsets_.size() / 8 - 1; }
  std::string_view file() const noexcept override { return file_; }

  std::string_view operator[](std::uint64_t i) const override {
    if (!checked_.load(std::memory_order_relaxed)) check();
    if (i >= size()) fail_code(i, size());
    const auto begin = load_le<std::uint64_t>(offsets_.data() + 8 * i);
    const auto end = load_le<std::uint64_t>(offsets_.data() + 8 * i + 8);
    // A forged file may have the right hash.
    if (begin > end || end > bytes_.size()) fail("holds a word outside its bytes");
    return {reinterpret_cast<const char*>(bytes_.data()) + begin, end - begin};
  }

 private:
  void check() const {
    if (dictionary_hash(offsets_, bytes_) != hash_) fail("does not match its hash");
    checked_.store(true, std::memory_order_relaxed);
  }
  [[noreturn]] void fail(const char* what) const {
    throw Error(Errc::corrupt, file_, at_, std::string("the dictionary of a column ") + what);
  }

  std::shared_ptr<const void> owner_;
  std::span<const std::byte> offsets_, bytes_;
  std::uint64_t hash_;
  std::string file_;
  std::uint64_t at_;  // byte of the file where the offsets start
  mutable std::atomic<bool> checked_{false};
};

class LateDictionary final : public Dictionary {
 public:
  LateDictionary(std::uint64_t size, std::string file, MakeDictionary make)
      : size_(size), file_(std::move(file)), make_(std::move(make)) {}

  std::uint64_t size() const noexcept override { return size_; }
  std::string_view file() const noexcept override { return file_; }
  std::string_view operator[](std::uint64_t i) const override { return made()[i]; }

 private:
  const Dictionary& made() const {
    const Dictionary* words = made_.load(std::memory_order_acquire);
    if (words != nullptr) return *words;
    const std::lock_guard lock(mutex_);
    if (kept_ == nullptr) kept_ = make_();
    made_.store(kept_.get(), std::memory_order_release);
    return *kept_;
  }

  std::uint64_t size_;
  std::string file_;
  MakeDictionary make_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Dictionary> kept_;
  mutable std::atomic<const Dictionary*> made_{nullptr};
};

class ListedDictionary final : public Dictionary {
 public:
  explicit ListedDictionary(std::vector<std::string> words) : words_(std::move(words)) {}

  std::uint64_t size() const noexcept override { return words_.size(); }
  std::string_view operator[](std::uint64_t i) const override {
    if (i >= size()) fail_code(i, size());
    return words_[i];
  }

 private:
  std::vector<std::string> words_;
};

}  // namespace

std::uint32_t word_tag(std::string_view word) noexcept {
  return static_cast<std::uint32_t>(xxh3(std::as_bytes(std::span(word.data(), word.size()))));
}

std::string_view WordTable::word(std::uint32_t code) const noexcept {
  const std::uint64_t begin = code == 1 ? 0 : ends_[code - 2];
  return {bytes_.data() + begin, ends_[code - 1] - begin};
}

std::string_view WordTable::operator[](std::uint64_t i) const {
  if (i >= size()) fail_code(i, size());
  return word(static_cast<std::uint32_t>(i + 1));
}

/// The slot that holds the word, or the free one where it belongs.
std::size_t WordTable::slot_of(std::string_view wanted, std::uint32_t tag) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = tag & mask;
  while (slots_[slot].code != 0 &&
         !(slots_[slot].tag == tag && word(slots_[slot].code) == wanted)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

/// Goes through the old table in order, so that the new one is written in two streams.
void WordTable::grow(std::size_t slots) {
  Array<WordSlot> old(slots);
  std::fill(old.begin(), old.end(), WordSlot{});
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const WordSlot& taken : old) {
    if (taken.code == 0) continue;
    std::size_t slot = taken.tag & mask;
    while (slots_[slot].code != 0) slot = (slot + 1) & mask;
    slots_[slot] = taken;
  }
}

namespace {

/// Lets an array hold `more` values after its first `used`.
template <class T>
void make_room(Array<T>& array, std::size_t used, std::size_t more) {
  if (more <= array.size() - used) return;
  Array<T> larger(std::max(used + more, 2 * array.size()));
  std::copy_n(array.data(), used, larger.data());
  larger.swap(array);
}

}  // namespace

std::uint32_t WordTable::add(std::string_view word, std::uint32_t tag) {
  if (slots_.size() < 2 * (size_ + 1)) grow(std::max<std::size_t>(8, 2 * slots_.size()));
  WordSlot& slot = slots_[slot_of(word, tag)];
  if (slot.code == 0) {
    if (size_ >= std::numeric_limits<std::uint32_t>::max() - 1) {
      throw Error(Errc::invalid_argument, "a column has more than 4294967294 different words");
    }
    const std::size_t used = bytes().size();
    make_room(bytes_, used, word.size());
    make_room(ends_, size_, 1);
    std::copy(word.begin(), word.end(), bytes_.data() + used);
    ends_[size_++] = used + word.size();
    slot = {static_cast<std::uint32_t>(size_), tag};
  }
  return slot.code;
}

void WordTable::add(const Dictionary& words, std::vector<std::uint32_t>* codes) {
  constexpr std::size_t kTogether = 32;
  struct {
    std::string_view word;
    std::uint32_t tag;
  } some[kTogether];
  const std::uint64_t n = words.size();
  if (n > 0) static_cast<void>(words[0]);  // a damaged one says so before memory is taken for it
  if (slots_.size() < 2 * (size_ + n)) grow(std::bit_ceil(2 * (size_ + n)));
  if (codes != nullptr) codes->reserve(codes->size() + n);
  for (std::uint64_t i = 0; i < n;) {
    std::size_t waiting = 0;
    for (; waiting < kTogether && i < n; ++waiting, ++i) {
      const std::string_view word = words[i];
      some[waiting] = {word, word_tag(word)};
      prefetch(some[waiting].tag);
    }
    for (std::size_t k = 0; k < waiting; ++k) {
      const std::uint32_t code = add(some[k].word, some[k].tag);
      if (codes != nullptr) codes->push_back(code);
    }
  }
}

std::shared_ptr<const Dictionary> stored_dictionary(std::shared_ptr<const void> owner,
                                                    std::span<const std::byte> offsets,
                                                    std::span<const std::byte> bytes,
                                                    std::uint64_t hash, std::string file,
                                                    std::uint64_t at) {
  return std::make_shared<StoredDictionary>(std::move(owner), offsets, bytes, hash, std::move(file),
                                            at);
}

std::shared_ptr<const Dictionary> late_dictionary(std::uint64_t size, std::string file,
                                                  MakeDictionary make) {
  return std::make_shared<LateDictionary>(size, std::move(file), std::move(make));
}

std::shared_ptr<const Dictionary> listed_dictionary(std::vector<std::string> words) {
  return std::make_shared<ListedDictionary>(std::move(words));
}

std::uint64_t dictionary_hash(std::span<const std::byte> offsets,
                              std::span<const std::byte> bytes) noexcept {
  return xxh3(offsets) ^ (xxh3(bytes) * 0x9e3779b97f4a7c15U);
}

std::optional<std::uint64_t> find_not_utf8(const Dictionary& words) {
  // Most words are ASCII, which is seen faster in all of them at once.
  const auto* const table = dynamic_cast<const WordTable*>(&words);
  if (table != nullptr && is_ascii(table->bytes())) return std::nullopt;
  for (std::uint64_t i = 0; i < words.size(); ++i) {
    if (!is_utf8(words[i])) return i;
  }
  return std::nullopt;
}

Error not_utf8(const std::string& file, const std::string& holder, std::string_view word) {
  return Error(Errc::unsupported, file, std::nullopt,
               holder + shown(word) + ", which is not UTF-8; convert the text to UTF-8 first",
               "utf-8");
}

std::uint64_t missing_mark(MeaningKind kind) noexcept {
  switch (kind) {
    case MeaningKind::number:
      return kMissingF64;
    case MeaningKind::boolean:
      return kMissingBoolean;
    case MeaningKind::timestamp:
    case MeaningKind::duration:
      return kMissingTick;
    case MeaningKind::category:
    case MeaningKind::text:
      break;
  }
  return kMissingCode;
}

ValueType code_type(std::uint64_t words) noexcept {
  if (words <= 0xff) return ValueType::u8;
  return words <= 0xffff ? ValueType::u16 : ValueType::u32;
}

}  // namespace dapple::detail

namespace dapple {

DictionaryBuilder::DictionaryBuilder() : table_(std::make_shared<detail::WordTable>()) {}

std::uint32_t DictionaryBuilder::add(std::string_view word) { return table_->add(word); }

std::uint64_t DictionaryBuilder::size() const noexcept { return table_->size(); }

ValueType DictionaryBuilder::code_type() const noexcept { return detail::code_type(size()); }

std::shared_ptr<const Dictionary> DictionaryBuilder::finish() {
  return std::exchange(table_, std::make_shared<detail::WordTable>());
}

}  // namespace dapple
