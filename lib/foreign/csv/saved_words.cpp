#include "lib/foreign/csv/saved_words.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

namespace dapple::detail::csv {

namespace {

class SavedWords final : public WordFinder {
 public:
  SavedWords(std::shared_ptr<const ByteSource> sidecar, std::span<const std::byte> ends,
             std::span<const std::byte> bytes, std::span<const std::byte> slots)
      : sidecar_(std::move(sidecar)),
        last_(sidecar_->at(sidecar_->size() - kHashBytes, kHashBytes)),
        hash_(load_le<std::uint64_t>(last_)),
        ends_(ends),
        bytes_(bytes),
        slots_(slots) {}

  std::uint64_t size() const noexcept override { return ends_.size() / 8; }

  std::string_view operator[](std::uint64_t i) const override {
    if (i >= size()) {
      throw Error(Errc::out_of_range,
                  "word " + std::to_string(i) + " of a dictionary of " + std::to_string(size()));
    }
    const std::string_view found = word(i);
    // What a cut file has lost reads as zeros, and the hash at its end is lost with anything else.
    if (sidecar_->guarded() && load_le<std::uint64_t>(last_) != hash_) {
      sidecar_->fail_changed("a word");
    }
    return found;
  }

  std::optional<std::uint32_t> find(std::string_view wanted,
                                    std::uint32_t& next) const noexcept override {
    std::uint32_t code = next;
    if (code == 0 || code > size() || word(code - 1) != wanted) code = look_up(wanted);
    if (code == 0) return std::nullopt;
    next = std::max(next, code + 1);
    return code;
  }

 private:
  std::uint32_t look_up(std::string_view wanted) const noexcept {
    const std::uint64_t n = slots_.size() / 8;
    const std::uint32_t tag = word_tag(wanted);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::byte* const p = slots_.data() + ((tag + i) & (n - 1)) * 8;
      const WordSlot slot{load_le<std::uint32_t>(p), load_le<std::uint32_t>(p + 4)};
      if (slot.code == 0 || slot.code > size()) return 0;
      if (slot.tag == tag && word(slot.code - 1) == wanted) return slot.code;
    }
    return 0;
  }
  /// "" where a forged sidecar has a word outside of its bytes.
  std::string_view word(std::uint64_t i) const noexcept {
    const std::uint64_t begin = i == 0 ? 0 : load_le<std::uint64_t>(ends_.data() + 8 * (i - 1));
    const auto end = load_le<std::uint64_t>(ends_.data() + 8 * i);
    if (begin > end || end > bytes_.size()) return {};
    return {reinterpret_cast<const char*>(bytes_.data()) + begin, end - begin};
  }

  static constexpr std::uint64_t kHashBytes = 8;

  std::shared_ptr<const ByteSource> sidecar_;
  const std::byte* last_;  // bytes of the sidecar, which are its hash
  std::uint64_t hash_;
  std::span<const std::byte> ends_, bytes_, slots_;
};

template <Number T>
void put(std::vector<std::byte>& out, T value) {
  out.resize(out.size() + sizeof value);
  store_le(out.data() + out.size() - sizeof value, value);
}

}  // namespace

void put_words(const WordTable& words, std::vector<std::byte>& out) {
  put(out, std::uint64_t{words.ends().size()});
  put(out, std::uint64_t{words.bytes().size()});
  put(out, std::uint64_t{words.slots().size()});
  for (const std::uint64_t end : words.ends()) put(out, end);
  const auto bytes = std::as_bytes(std::span(words.bytes()));
  out.insert(out.end(), bytes.begin(), bytes.end());
  for (const WordSlot& slot : words.slots()) {
    put(out, slot.code);
    put(out, slot.tag);
  }
}

std::shared_ptr<const WordFinder> read_words(ByteReader& in,
                                             std::shared_ptr<const ByteSource> sidecar) {
  const auto n = in.le<std::uint64_t>("words");
  const auto bytes = in.le<std::uint64_t>("bytes of words");
  const auto slots = in.le<std::uint64_t>("places of words");
  constexpr std::uint64_t kEach = 8;  // bytes of an end, and of a place
  const std::uint64_t at = in.offset();
  if (n > in.remaining() / kEach || slots > in.remaining() / kEach) {
    in.fail(at, "there are fewer words than this");
  }
  if ((slots != 0 && !std::has_single_bit(slots)) || n > slots / 2) {
    in.fail(at, "the hash table of words has a wrong size");
  }
  const auto ends = in.take(n * kEach, "ends of words");
  const auto text = in.take(bytes, "words");
  return std::make_shared<SavedWords>(std::move(sidecar), ends, text,
                                      in.take(slots * kEach, "places of words"));
}

}  // namespace dapple::detail::csv
