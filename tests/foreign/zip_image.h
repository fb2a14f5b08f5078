// ZIP archives built byte by byte, and the .npy files inside them.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dapple::test {

inline std::string number(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

inline std::string raw_deflate(const std::string& content) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, content.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

struct ZipMember {
  std::string name, content;
  bool deflated = false;
  bool zip64 = false;  // sizes and place in a ZIP64 field of the directory
};

/// An archive of these members; with `zip64` its directory is found through a ZIP64 record.
inline std::string zip_archive(const std::vector<ZipMember>& members, bool zip64 = false,
                               const std::string& comment = {}) {
  std::string out, directory;
  for (const ZipMember& m : members) {
    const std::string data = m.deflated ? raw_deflate(m.content) : m.content;
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(m.content.data()), m.content.size());
    const std::uint64_t at = out.size();
    const std::string about = number(m.deflated ? 8 : 0, 2) + number(0, 4) + number(crc, 4);
    const std::string sizes = number(data.size(), 4) + number(m.content.size(), 4);
    out += "PK\x03\x04" + number(20, 2) + number(0, 2) + about + sizes + number(m.name.size(), 2) +
           number(0, 2) + m.name + data;
    std::string extra;
    if (m.zip64) {
      extra = number(0x9999, 2) + number(1, 2) + "x" + number(1, 2) + number(24, 2) +
              number(m.content.size(), 8) + number(data.size(), 8) + number(at, 8);
    }
    const std::uint64_t wide = 0xFFFFFFFF;
    directory += "PK\x01\x02" + number(20, 2) + number(20, 2) + number(0, 2) + about;
    directory += m.zip64 ? number(wide, 4) + number(wide, 4) : sizes;
    directory += number(m.name.size(), 2) + number(extra.size(), 2) + number(0, 2) + number(0, 8) +
                 number(m.zip64 ? wide : at, 4) + m.name + extra;
  }
  const std::uint64_t at = out.size();
  out += directory;
  if (zip64) {
    const std::uint64_t record = out.size();
    out += "PK\x06\x06" + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 8) +
           number(members.size(), 8) + number(members.size(), 8) + number(directory.size(), 8) +
           number(at, 8);
    out += "PK\x06\x07" + number(0, 4) + number(record, 8) + number(1, 4);
  }
  const std::uint64_t count = zip64 ? 0xFFFF : members.size();
  out += "PK\x05\x06" + number(0, 4) + number(count, 2) + number(count, 2) +
         number(zip64 ? 0xFFFFFFFF : directory.size(), 4) + number(zip64 ? 0xFFFFFFFF : at, 4) +
         number(comment.size(), 2) + comment;
  return out;
}

/// A .npy file of this dtype and shape.
inline std::string npy_image(const std::string& dtype, const std::string& shape,
                             const std::string& data) {
  std::string header =
      "{'descr': '" + dtype + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(117, ' ');
  return "\x93NUMPY" + number(1, 2) + number(header.size() + 1, 2) + header + "\n" + data;
}

/// The same for integers of one dimension.
inline std::string npy_integers(const std::vector<std::int64_t>& values, int width = 8) {
  std::string data;
  for (const std::int64_t value : values) data += number(static_cast<std::uint64_t>(value), width);
  return npy_image("<i" + std::to_string(width), std::to_string(values.size()) + ",", data);
}

}  // namespace dapple::test
