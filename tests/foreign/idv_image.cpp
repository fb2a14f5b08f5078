#include "tests/foreign/idv_image.h"

#include <algorithm>

namespace dapple::test::idv {

namespace {

void append(Bytes& to, const Bytes& bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

std::uint32_t adler32(const Bytes& bytes) {
  std::uint32_t a = 1, b = 0;
  for (const std::byte x : bytes) {
    a = (a + std::to_integer<std::uint32_t>(x)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

/// `width` bits a value, lowest first, in units of `unit` bytes.
Bytes pack_bits(const std::vector<int>& values, std::size_t width, std::size_t unit) {
  const std::size_t per_unit = unit * 8 / width;
  Bytes out((values.size() + per_unit - 1) / per_unit * unit);
  for (std::size_t i = 0; i < values.size(); ++i) {
    out[i * width / 8] |= static_cast<std::byte>(values[i] << (i * width % 8));
  }
  return out;
}

}  // namespace

Bytes operator+(Bytes a, const Bytes& b) {
  append(a, b);
  return a;
}

Bytes raw(std::string_view characters) { return Image().text(characters).bytes(); }

Bytes leb(std::uint64_t value) {
  Bytes out;
  for (; value >= 128; value /= 128) out.push_back(static_cast<std::byte>(value % 128 + 128));
  out.push_back(static_cast<std::byte>(value));
  return out;
}

Bytes str(std::string_view text) { return leb(text.size()) + raw(text); }

Bytes codec(std::string_view load_name, const Bytes& parameters) {
  return str(load_name) + leb(parameters.size()) + parameters;
}

Bytes vector_codec(const Bytes& items, const std::vector<std::int32_t>& dims) {
  return codec("VBuffer", items + num(static_cast<std::int32_t>(dims.size())) + packed(dims));
}

Bytes key2_codec(std::string_view items, std::uint64_t count) {
  return codec("Key2", codec(items) + num(count));
}

Bytes old_key_codec(std::string_view items, std::int32_t count) {
  return codec("Key", codec(items) + num<std::uint8_t>(1) + num<std::uint64_t>(0) + num(count));
}

Bytes bits(const std::vector<int>& values) { return pack_bits(values, 1, 1); }
Bytes bits2(const std::vector<int>& values) { return pack_bits(values, 2, 4); }

Bytes zoned(const std::vector<std::pair<std::int64_t, std::int16_t>>& ticks_and_minutes) {
  Bytes out;
  for (const auto& [ticks, minutes] : ticks_and_minutes) append(out, num(minutes));
  for (const auto& [ticks, minutes] : ticks_and_minutes) append(out, num(ticks));
  return out;
}

Bytes texts(const std::vector<std::uint32_t>& ends, std::string_view all) {
  return num(static_cast<std::int32_t>(ends.size())) + packed(ends) + str(all);
}

Bytes vectors(const std::vector<Vector>& rows, std::int32_t common, const Bytes& items) {
  std::vector<std::int32_t> lengths, counts, indices;
  for (const Vector& row : rows) {
    lengths.push_back(row.length);
    counts.push_back(row.slots ? static_cast<std::int32_t>(row.slots->size()) : -1);
    if (row.slots) indices.insert(indices.end(), row.slots->begin(), row.slots->end());
  }
  Bytes out = num(static_cast<std::int32_t>(rows.size())) + num(common);
  if (common == 0) append(out, packed(lengths));
  return out + packed(counts) + num(static_cast<std::int32_t>(indices.size())) + packed(indices) +
         items;
}

Bytes compress(int compression, const Bytes& bytes) {
  if (compression != 1 && compression != 2) return bytes;
  Bytes out = compression == 2 ? raw("\x78\x01") : Bytes{};
  std::size_t at = 0;
  do {
    const std::size_t n = std::min<std::size_t>(bytes.size() - at, 65535);
    const bool last = at + n == bytes.size();
    append(out, num<std::uint8_t>(last ? 1 : 0) + num(static_cast<std::uint16_t>(n)) +
                    num(static_cast<std::uint16_t>(~n)));
    out.insert(out.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
               bytes.begin() + static_cast<std::ptrdiff_t>(at + n));
    at += n;
  } while (at < bytes.size());
  if (compression == 2) append(out, num(__builtin_bswap32(adler32(bytes))));
  return out;
}

namespace {

/// Blocks and table of the metadata; returns where the table is, 0 without any.
std::uint64_t put_metadata(Bytes& out, const std::vector<Metadata>& metadata) {
  if (metadata.empty()) return 0;
  Bytes table = leb(metadata.size());
  for (const Metadata& m : metadata) {
    const Bytes block = compress(m.compression, m.value);
    append(table, str(m.kind) + m.codec + num(static_cast<std::uint8_t>(m.compression)) +
                      num<std::uint64_t>(out.size()) + leb(block.size()));
    append(out, block);
  }
  const std::uint64_t at = out.size();
  append(out, table);
  return at;
}

}  // namespace

File build(int version, std::uint64_t rows, const std::vector<FileColumn>& columns) {
  File file;
  Bytes& out = file.bytes;
  out.resize(256);
  std::vector<Bytes> lookups;
  for (const FileColumn& c : columns) {
    Bytes lookup;
    file.blocks.emplace_back();
    for (const Bytes& block : c.blocks) {
      const Bytes stored = compress(c.compression, block);
      file.blocks.back().push_back(out.size());
      append(lookup, num<std::uint64_t>(out.size()) +
                         num(static_cast<std::uint32_t>(stored.size())) +
                         num(static_cast<std::uint32_t>(block.size())));
      append(out, stored);
    }
    lookups.push_back(lookup);
  }
  Bytes toc;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const FileColumn& c = columns[i];
    file.lookup.push_back(out.size());
    append(out, lookups[i]);
    append(toc, str(c.name) + c.codec + num(static_cast<std::uint8_t>(c.compression)) +
                    leb(c.block_rows) + num(file.lookup[i]));
    if (version == 3) {
      Bytes names;
      for (const auto& [slot, name] : c.slots) append(names, num(slot) + str(name));
      append(toc, num<std::uint64_t>(names.empty() ? 0 : out.size()));
      if (names.empty()) continue;
      append(toc,
             num<std::uint64_t>(names.size()) + num(static_cast<std::int32_t>(c.slots.size())));
      append(out, names);
    }
    if (version >= 4) append(toc, num(put_metadata(out, c.metadata)));
  }
  file.toc = out.size();
  append(out, toc);
  file.tail = out.size();
  append(out, num<std::uint64_t>(0x434D4C0044564200));
  const std::uint64_t number = 0x0001000100010000 + static_cast<std::uint64_t>(version);
  const Bytes header = num<std::uint64_t>(0x00425644004C4D43) + num(number) + num(number) +
                       num(file.toc) + num(file.tail) + num(rows) +
                       num(static_cast<std::int32_t>(columns.size()));
  std::copy(header.begin(), header.end(), out.begin());
  return file;
}

}  // namespace dapple::test::idv
