#include "lib/foreign/npz/scipy_matrix.h"

#include <utility>

#include "lib/base/bytes.h"
#include "lib/foreign/npy/npy_values.h"

namespace dapple::detail::npz {

Numbers open_numbers(std::shared_ptr<const ByteSource> file, Range within, std::string_view name,
                     std::size_t dimensions) {
  npy::Header header = npy::parse_header(*file, within);
  if (header.records || header.shape.size() != dimensions) {
    throw Error(Errc::corrupt, file->name(), within.begin,
                std::string(name) + " should be an array of " + counted(dimensions, "dimension"));
  }
  std::uint64_t items = 1;
  for (const std::uint64_t extent : header.shape) {
    if (multiply(items, extent, items)) continue;
    throw Error(Errc::corrupt, file->name(), within.begin,
                std::string(name) + " has 2^64 items or more");
  }
  const std::uint64_t bytes = npy::array_bytes(header, items, *file, within);
  const std::byte* const data = file->at(header.data, bytes);
  return {std::move(file),
          std::move(header.fields[0]),
          std::move(header.shape),
          header.fortran,
          header.data,
          bytes,
          data};
}

arrays::Items items_of(const Numbers& numbers) {
  const npy::Field& field = numbers.field;
  arrays::Items items{numbers.shape[0], size_of(field.type)};
  items.offset = numbers.offset;
  if (field.in_place()) {
    items.data = numbers.data;
  } else {
    items.load = [numbers](Range which, std::byte* out) {
      const npy::Field& from = numbers.field;
      npy::copy_values(from, numbers.data + which.begin * from.size, from.size, from.type, out,
                       size_of(from.type), which.size());
    };
  }
  return items;
}

arrays::Items open_integers(std::shared_ptr<const ByteSource> file, Range within,
                            std::string_view name) {
  return integers_of(open_numbers(std::move(file), within, name, 1), name);
}

arrays::Items integers_of(const Numbers& numbers, std::string_view name) {
  return arrays::integers(items_of(numbers), numbers.field.type, numbers.file->name(),
                          std::string(name));
}

Numbers line_of(const Numbers& numbers, std::uint64_t i) {
  Numbers line = numbers;
  line.shape = {numbers.shape[1]};
  line.bytes = numbers.bytes / numbers.shape[0];
  line.offset += i * line.bytes;
  line.data += i * line.bytes;
  return line;
}

std::int64_t signed_item(const arrays::Items& items, std::uint64_t i) noexcept {
  const std::byte* const p = items.data + i * items.width;
  return items.width == 4 ? load_le<std::int32_t>(p) : load_le<std::int64_t>(p);
}

}  // namespace dapple::detail::npz
