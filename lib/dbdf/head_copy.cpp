#include "lib/dbdf/head_copy.h"

#include <algorithm>
#include <cstring>

#include "lib/base/bytes.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/columns_table.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/io/hash.h"

namespace dapple::detail::dbdf {

namespace {

constexpr char kHeadTag[kTag + 1] = "DPL-HEAD";
constexpr std::uint32_t kHeadVersion = 2;
constexpr std::uint64_t kMostCopied = 48 << 10;

/// Bytes of the head, of a listed hint and of the place of a piece, and positions in them.
constexpr std::size_t kFixed = 48, kListed = 24, kPlace = 16;
namespace copy_at {
constexpr std::size_t version = 8, hints = 12, pieces = 16, packed = 24;
}

template <class F>
PackedCounts count_packed_of(std::uint64_t blocks, const F& entry) {
  PackedCounts found;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const Entry e = entry(i);
    std::uint64_t plain = 0;
    if (e.codec == 0 || !block_size(e.kind, e.rows, e.cols, e.value_type, e.stored, plain)) {
      continue;
    }
    ++found.blocks;
    found.bytes += e.bytes;
    found.plain_bytes += plain;
  }
  return found;
}

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void append(std::vector<std::byte>& to, std::uint64_t number) {
  std::byte bytes[8];
  store_le(bytes, number);
  append(to, bytes);
}

std::vector<std::byte> emit(const HeadCopy& copy) {
  const auto& [hints, pieces, packed] = copy;
  std::vector<std::byte> out(kFixed);
  std::memcpy(out.data(), kHeadTag, kTag);
  store_le(out.data() + copy_at::version, kHeadVersion);
  store_le(out.data() + copy_at::hints, static_cast<std::uint32_t>(hints.size()));
  store_le(out.data() + copy_at::pieces, static_cast<std::uint32_t>(pieces.size()));
  store_le(out.data() + copy_at::packed, packed.blocks);
  store_le(out.data() + copy_at::packed + 8, packed.bytes);
  store_le(out.data() + copy_at::packed + 16, packed.plain_bytes);
  for (const HeadCopy::Listed& hint : hints) {
    append(out, std::as_bytes(std::span(hint.tag)));
    append(out, hint.offset);
    append(out, hint.bytes);
  }
  for (const HeadCopy::Piece& piece : pieces) {
    append(out, piece.offset);
    append(out, std::uint64_t{piece.bytes.size()});
  }
  for (const HeadCopy::Piece& piece : pieces) append(out, piece.bytes);
  return out;
}

}  // namespace

PackedCounts count_packed(const BlockIndex& index) {
  return count_packed_of(index.size(), [&](std::uint64_t i) { return index.entry(i); });
}

std::vector<std::byte> emit_head_copy(const BlockIndex& index, std::span<const std::byte> header,
                                      const HintWriter& hints, std::uint64_t hints_at) {
  const std::uint64_t payload = hints_at + hints.bytes() + kHintHeader;
  const std::uint64_t size = payload + index_bytes(index);
  if (size <= kEndFetched || header.size() > kMostCopied) return {};
  const std::uint64_t near = size - kEndFetched;
  const bool frame = header[1] == static_cast<std::byte>(DataType::frame);
  const bool described = frame || hints.kind() == Hints::with_names;
  const bool told = !frame && index.grid() && payload >= near;  // see `header_from_index`
  if (told && (!described || hints_at >= near)) return {};

  HeadCopy copy{{}, {{0, header}}, count_packed(index)};
  std::vector<std::byte> end;
  std::uint64_t at = hints_at;
  for (const std::vector<std::byte>& content : hints.contents()) {
    const std::uint64_t offset = at + kHintHeader;
    const std::string_view tag(reinterpret_cast<const char*>(content.data()), kTag);
    at = offset + hint_payload(content.size());
    if (described && tag == kColumnsTag) {
      end = hint_end(content, offset, !copy.hints.empty());
      const auto table = load_le<std::uint64_t>(content.data() + table_at::table);
      copy.pieces.push_back({offset, std::span(content).first(table)});
      copy.pieces.push_back({at - kHintTrailer, std::span(end).last(kHintTrailer)});
    }
    copy.hints.insert(copy.hints.begin(), {tag, offset, content.size()});
  }
  const auto head = index_head(index, xxh3(header));
  copy.pieces.push_back({payload, head});
  std::uint64_t bytes = kFixed + kListed * copy.hints.size();
  for (const HeadCopy::Piece& piece : copy.pieces) bytes += kPlace + piece.bytes.size();
  if (bytes > kMostCopied) return {};
  std::vector<std::byte> lines = emit(copy);
  append(lines, hint_end(lines, payload + index_bytes(index) - kLine, false));
  return lines;
}

std::optional<HeadCopy> find_head_copy(const ByteSource& file, const Trailer& trailer) {
  const std::uint64_t end = file.size() - kLine;
  const auto hint = hint_ending_at(file, end, 8 * trailer.place.tree_words, kHeadTag);
  if (!hint || hint->bytes > kMostCopied || hint->bytes < kFixed || !is_whole(file, *hint)) {
    return std::nullopt;
  }
  const std::byte* p = file.at(hint->offset, hint->bytes);
  const auto hints = load_le<std::uint32_t>(p + copy_at::hints);
  const auto pieces = load_le<std::uint32_t>(p + copy_at::pieces);
  std::uint64_t left = hint->bytes - kFixed;
  if (load_le<std::uint32_t>(p + copy_at::version) != kHeadVersion || hints > left / kListed ||
      pieces > (left - hints * kListed) / kPlace) {
    return std::nullopt;
  }
  HeadCopy copy;
  copy.packed = {load_le<std::uint64_t>(p + copy_at::packed),
                 load_le<std::uint64_t>(p + copy_at::packed + 8),
                 load_le<std::uint64_t>(p + copy_at::packed + 16)};
  const std::byte* const bytes = p + hint->bytes;
  left -= hints * kListed + pieces * kPlace;
  p += kFixed;
  for (std::uint32_t i = 0; i < hints; ++i, p += kListed) {
    const HeadCopy::Listed listed{{reinterpret_cast<const char*>(p), kTag},
                                  load_le<std::uint64_t>(p + 8),
                                  load_le<std::uint64_t>(p + 16)};
    if (listed.offset > file.size() || listed.bytes > file.size() - listed.offset ||
        file.size() - listed.offset - listed.bytes < kHintTrailer + kLine) {
      return std::nullopt;
    }
    copy.hints.push_back(listed);
  }
  for (std::uint32_t i = 0; i < pieces; ++i, p += kPlace) {
    const auto offset = load_le<std::uint64_t>(p), n = load_le<std::uint64_t>(p + 8);
    if (n > left || offset > file.size() || n > file.size() - offset) return std::nullopt;
    copy.pieces.push_back({offset, {bytes - left, static_cast<std::size_t>(n)}});
    left -= n;
  }
  if (left != 0 || copy.pieces.empty() || copy.pieces[0].offset != 0 ||
      copy.pieces[0].bytes.size() < kMatrixHeader) {
    return std::nullopt;
  }
  return copy;
}

void check_head_copy(const ByteSource& file, std::uint64_t first, const Trailer& trailer) {
  const auto copy = find_head_copy(file, trailer);
  if (!copy) return;
  const auto require = [&](bool same) {
    if (same) return;
    throw Error(Errc::corrupt, file.name(), file.size() - kLine,
                "the copy of the head before the trailer differs from the file, which readers far "
                "away would see; repair the file to write it anew");
  };
  for (const auto& [offset, bytes] : copy->pieces) {
    const auto there = file.bytes(offset, bytes.size());
    require(std::equal(bytes.begin(), bytes.end(), there.begin()));
  }
  const auto entry = [&](std::uint64_t i) {
    return load_entry(file.at(trailer.place.entries + i * Entry::kBytes, Entry::kBytes));
  };
  require(copy->packed == count_packed_of(trailer.place.count, entry));
  std::size_t number = 0;
  for_each_hint(file, first, trailer, [&](std::string_view tag, const Hint& hint) {
    require(number < copy->hints.size());
    const HeadCopy::Listed& listed = copy->hints[number++];
    require(listed.tag == tag && listed.offset == hint.offset && listed.bytes == hint.bytes);
  });
  require(number == copy->hints.size() && copy->pieces[0].bytes.size() == first);
}

}  // namespace dapple::detail::dbdf
