#include "dapple/block.h"

#include <limits>

#include "lib/object/store.h"
#include "lib/object/target.h"

namespace dapple {

using detail::Entry;

namespace {

[[noreturn]] void fail_kind(const detail::Store& store, const Entry& e, const std::string& wanted) {
  store.fail(Errc::type_mismatch, e.offset,
             "expected " + wanted + ", got a block that is " + std::string(name(e.kind)) +
                 (e.kind == BlockKind::empty ? "" : " of " + std::string(name(e.value_type))));
}

std::span<const std::byte> payload_of(const detail::Store& store, const Entry& e) {
  const auto header_size = store.codec().header_size;
  const std::uint64_t header = header_size != nullptr ? header_size(e) : 0;
  return store.file().bytes(e.offset + header, e.bytes - header);
}

}  // namespace

const detail::Store& Block::store() const noexcept {
  return static_cast<const detail::Store&>(*hot_);
}

BlockInfo Block::info() const { return store().fetched_entry(number_).info(); }

std::span<const std::byte> Block::payload() const {
  return payload_of(store(), store().fetched_entry(number_));
}

Block::DenseBytes Block::dense_bytes(const detail::HotStore& hot, std::uint64_t number,
                                     ValueType wanted) {
  const auto& store = static_cast<const detail::Store&>(hot);
  const Entry e = store.fetched_entry(number);
  if (e.kind != BlockKind::dense || e.value_type != wanted) {
    fail_kind(store, e, "a dense block of " + std::string(name(wanted)));
  }
  if (store.codec().in_place != nullptr) {
    if (const auto place = store.codec().in_place(store, e)) {
      return {place->data, e.rows, e.cols, place->row_step};
    }
  }
  store.fail(Errc::type_mismatch, e.offset,
             "expected values that can be viewed in place, got the format " +
                 std::string(store.codec().format) + ", which must be decoded");
}

Block::SparseBytes Block::sparse_bytes(BlockKind wanted_kind, ValueType wanted) const {
  const Entry e = store().fetched_entry(number_);
  if (e.kind != wanted_kind || e.value_type != wanted || !store().codec().sparse_in_place) {
    fail_kind(store(), e,
              "a " + std::string(name(wanted_kind)) + " block of " + std::string(name(wanted)));
  }
  const auto bytes = payload_of(store(), e);
  return {bytes.data(), bytes.size(), e.rows, e.cols, e.stored};
}

void Block::decode_to(void* out, std::size_t size, std::size_t row_stride, ValueType type) const {
  const Entry e = store().fetched_entry(number_);
  const detail::Target target = detail::target_for(out, size, row_stride, type, e.rows, e.cols)
                                    .streamed_if_large(e.rows, e.cols);
  store().watched([&] { store().read_block(e, {{0, e.rows}, {0, e.cols}}, target); }, &e);
}

}  // namespace dapple
