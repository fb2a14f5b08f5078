#include "tests/encoded.h"

#include <cstring>

#include "lib/codec/codecs.h"
#include "lib/codec/packed/packed_block.h"
#include "lib/dbdf/header.h"
#include "lib/io/memory/memory_source.h"

namespace dapple::test {

std::vector<std::byte> encoded_item(const EncodedBlock& block) {
  std::vector<std::byte> item;
  const auto put = [&](auto number) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&number);
    item.insert(item.end(), bytes, bytes + sizeof number);
  };
  const detail::Entry& e = block.entry;
  put(e.pos.rx);
  put(e.pos.cx);
  put(e.rows);
  put(e.cols);
  put(std::uint8_t{128});
  put(static_cast<std::uint8_t>(e.kind));
  put(static_cast<std::uint8_t>(e.value_type));
  put(e.codec);
  put(std::uint8_t{0});
  put(e.stored);
  put(static_cast<std::uint64_t>(block.payload.size()));
  item.insert(item.end(), block.payload.begin(), block.payload.end());
  return item;
}

std::vector<std::byte> with_packed_blocks(std::span<const std::byte> file, std::uint64_t& packed,
                                          detail::packed::Effort effort) {
  const auto source = detail::memory_source(file, "plain");
  std::uint64_t at = 0;
  const detail::Schema schema = detail::dbdf::read_header(*source, at);
  std::vector<std::byte> out(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(at));
  while (at < file.size()) {
    detail::dbdf::Item item;
    detail::dbdf::read_item_header(file.subspan(at), at, schema.rows, schema.cols, file.size() - at,
                                   "plain", item);
    detail::Entry e = item.entry;
    const std::uint64_t end = e.offset + e.bytes;
    const auto payload = file.subspan(e.offset + detail::dbdf::header_size(e),
                                      end - e.offset - detail::dbdf::header_size(e));
    std::vector<std::byte> bytes;
    if (item.holds_cells() && e.kind != BlockKind::empty) {
      const auto small =
          detail::packed::encode({e.kind, e.value_type, e.rows, e.cols, e.stored}, payload, effort);
      bytes.assign(small.begin(), small.end());
    }
    if (bytes.empty()) {
      const auto whole = file.subspan(at, end - at);
      out.insert(out.end(), whole.begin(), whole.end());
    } else {
      ++packed;
      e.codec = detail::kPackedCodec;
      const auto block = encoded_item({e, std::move(bytes)});
      out.insert(out.end(), block.begin(), block.end());
    }
    at = end;
  }
  return out;
}

}  // namespace dapple::test
