#include "lib/foreign/npz/scipy_matrix.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/foreign/arrays/coordinates.h"
#include "lib/foreign/arrays/sparse_arrays.h"
#include "lib/foreign/npy/npy_header.h"

namespace dapple::detail::npz {

namespace {

const Member* find(std::span<const Member> members, std::string_view name) {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.name == name; });
  return found == members.end() ? nullptr : &*found;
}

const Member& require(const MappedFile& archive, std::span<const Member> members,
                      std::string_view name) {
  if (const Member* member = find(members, name)) return *member;
  throw Error(Errc::corrupt, archive.name(), std::nullopt,
              "the sparse matrix has no " + std::string(name));
}

/// An array of one dimension, in place.
struct Vector {
  arrays::Items items;
  ValueType type;
};

Vector open_vector(const MappedFile& file, Range within, std::string_view name) {
  const npy::Header header = npy::parse_header(file, within);
  const auto fail = [&](Errc code, const std::string& wrong) {
    throw Error(code, file.name(), within.begin, std::string(name) + wrong);
  };
  if (header.records || header.shape.size() != 1) {
    fail(Errc::corrupt, " should be an array of one dimension");
  }
  const npy::Field& field = header.fields[0];
  if (!field.in_place()) {
    fail(Errc::unsupported,
         field.swapped ? " is big-endian; save the matrix in the byte order of this machine"
                       : " does not hold numbers of a C type");
  }
  const std::uint64_t bytes = npy::array_bytes(header, header.shape[0], file, within);
  return {{header.shape[0], size_of(field.type), file.at(header.data, bytes), header.data},
          field.type};
}

arrays::Items open_integers(const MappedFile& file, Range within, std::string_view name) {
  const Vector vector = open_vector(file, within, name);
  if (is_float(vector.type) || vector.items.width < 4) {
    throw Error(Errc::corrupt, file.name(), within.begin,
                std::string(name) + " should hold integers of 4 or 8 bytes, not " +
                    std::string(dapple::name(vector.type)));
  }
  return vector.items;
}

void read_shape(const MappedFile& file, Range within, Schema& schema) {
  const arrays::Items items = open_integers(file, within, "shape.npy");
  const auto extent = [&](std::uint64_t i) -> std::uint64_t {
    const std::byte* const p = items.data + i * items.width;
    const std::int64_t n = items.width == 4 ? load_le<std::int32_t>(p) : load_le<std::int64_t>(p);
    if (n < 0) {
      throw Error(Errc::corrupt, file.name(), items.byte_of(i), "an extent is negative");
    }
    return static_cast<std::uint64_t>(n);
  };
  if (items.size != 2) {
    throw Error(Errc::corrupt, file.name(), items.offset,
                "a matrix has 2 extents, not " + std::to_string(items.size));
  }
  schema.rows = extent(0);
  schema.cols = extent(1);
}

}  // namespace

bool is_scipy_matrix(std::span<const Member> members) {
  return find(members, "format.npy") != nullptr && find(members, "shape.npy") != nullptr &&
         find(members, "data.npy") != nullptr;
}

std::shared_ptr<const Store> open_scipy_matrix(std::shared_ptr<MappedFile> archive,
                                               std::span<const Member> members) {
  static constexpr Codec kRows = arrays::row_codec("npz"), kColumns = arrays::column_codec("npz");
  const Member* const format = find(members, "format.npy");
  const Contents word = contents_of(archive, std::array{format});
  const std::string kind = npy::parse_word(*word.file, word.members[0]);
  if (kind != "csr" && kind != "csc" && kind != "coo") {
    throw Error(Errc::unsupported, archive->name(), std::nullopt,
                "the sparse matrix has SciPy's format '" + kind +
                    "'; csr, csc and coo are read: save it after .tocsr()");
  }
  const bool coo = kind == "coo";
  const std::string_view first = coo ? "row.npy" : "indptr.npy",
                         second = coo ? "col.npy" : "indices.npy";
  const std::array parts{&require(*archive, members, "shape.npy"),
                         &require(*archive, members, first), &require(*archive, members, second),
                         &require(*archive, members, "data.npy")};
  const Contents contents = contents_of(archive, parts);
  const MappedFile& file = *contents.file;
  Schema schema;
  schema.storage = Storage::csr;
  read_shape(file, contents.members[0], schema);
  const arrays::Items lines = open_integers(file, contents.members[1], first);
  const arrays::Items indices = open_integers(file, contents.members[2], second);
  const Vector values = open_vector(file, contents.members[3], "data.npy");
  schema.value_type = values.type;

  auto matrix = std::make_unique<arrays::SparseArrays>();
  if (coo) {
    *matrix = arrays::rows_of_coordinates({lines, indices, values.items}, schema, file);
  } else {
    matrix->pointers = lines;
    matrix->indices = indices;
    matrix->values = values.items;
    matrix->by_columns = kind == "csc";
  }
  arrays::require_consistent(*matrix, schema, file);
  matrix->shown.push_back({"encoding", "SciPy's " + kind});
  const Codec& codec = matrix->by_columns ? kColumns : kRows;
  BlockIndex index = BlockIndex::from_entries(arrays::strips_of(*matrix, schema, file), schema.rows,
                                              schema.cols, file.name());
  return std::make_shared<Store>(contents.file, std::move(schema), std::move(index), codec,
                                 std::move(matrix));
}

}  // namespace dapple::detail::npz
