#include "lib/foreign/npz/scipy_matrix.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/foreign/arrays/sparse_arrays.h"
#include "lib/foreign/npy/npy_values.h"

namespace dapple::detail::npz {

namespace {

const Member* find(std::span<const Member> members, std::string_view name) {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.name == name; });
  return found == members.end() ? nullptr : &*found;
}

const Member& require(const ByteSource& archive, std::span<const Member> members,
                      std::string_view name) {
  if (const Member* member = find(members, name)) return *member;
  throw Error(Errc::corrupt, archive.name(), std::nullopt,
              "the sparse matrix has no " + std::string(name));
}

/// The members that a matrix needs, opened one by one.
class Parts {
 public:
  /// Throws corrupt when one of these is missing. The first is the shape.
  Parts(const std::shared_ptr<ByteSource>& archive, std::span<const Member> members,
        std::vector<std::string_view> names)
      : names_(std::move(names)) {
    std::vector<const Member*> found;
    for (const std::string_view name : names_) {
      found.push_back(&require(*archive, members, name));
    }
    contents_ = contents_of(archive, found);
  }
  const std::shared_ptr<ByteSource>& file() const noexcept { return contents_.file; }
  arrays::Items integers(std::size_t i) const {
    return open_integers(file(), contents_.members[i], names_[i]);
  }
  Numbers numbers(std::size_t i, std::size_t dimensions) const {
    return open_numbers(file(), contents_.members[i], names_[i], dimensions);
  }
  std::size_t size() const noexcept { return names_.size(); }
  /// How many extents the shape has.
  std::uint64_t dimensions() const { return integers(0).size; }
  Schema schema() const;

 private:
  std::vector<std::string_view> names_;
  Contents contents_;
};

/// A schema of the shape that is stored.
Schema Parts::schema() const {
  arrays::Items items = integers(0);
  const auto memory = arrays::load_all(items);
  const auto extent = [&](std::uint64_t i) -> std::uint64_t {
    const std::int64_t n = signed_item(items, i);
    if (n < 0) {
      throw Error(Errc::corrupt, file()->name(), items.byte_of(i), "an extent is negative");
    }
    return static_cast<std::uint64_t>(n);
  };
  if (items.size != 1 && items.size != 2) {
    throw Error(Errc::unsupported, file()->name(), items.offset,
                "a sparse array of " + counted(items.size, "dimension") +
                    " is no matrix; save it after .reshape() to two");
  }
  Schema schema;
  schema.storage = Storage::csr;
  schema.rows = extent(0);
  schema.cols = items.size == 2 ? extent(1) : 1;  // as of other arrays of one dimension
  return schema;
}

/// The arrays of a matrix in one of SciPy's formats.
using Arrays = std::unique_ptr<arrays::SparseArrays>;

/// Rows and columns: two arrays or, in arrays of another rank than two, one for all dimensions.
std::pair<arrays::Items, arrays::Items> places(const Parts& parts, std::uint64_t dimensions) {
  if (parts.size() == 4) return {parts.integers(1), parts.integers(2)};
  const Numbers all = parts.numbers(1, 2);
  if (all.shape[0] != dimensions || all.fortran) {
    throw Error(Errc::unsupported, parts.file()->name(), all.offset,
                "coords should be " + counted(dimensions, "line") + " in C order");
  }
  arrays::Items rows = integers_of(line_of(all, 0), "coords");
  if (dimensions == 2) return {std::move(rows), integers_of(line_of(all, 1), "coords")};
  arrays::Items zeros{rows.size, sizeof(std::uint32_t)};
  zeros.load = [](Range which, std::byte* out) {
    std::fill_n(out, which.size() * sizeof(std::uint32_t), std::byte{});
  };
  return {std::move(rows), std::move(zeros)};
}

Arrays coordinates(const Parts& parts, Schema& schema) {
  const Numbers values = parts.numbers(parts.size() - 1, 1);
  schema.value_type = values.field.type;
  auto [rows, cols] = places(parts, parts.dimensions());
  arrays::Coordinates from{std::move(rows), std::move(cols), items_of(values)};
  std::vector<std::shared_ptr<const void>> memory;
  for (arrays::Items* items : {&from.rows, &from.cols, &from.values}) {
    memory.push_back(arrays::load_all(*items));
  }
  auto matrix = std::make_unique<arrays::SparseArrays>(
      arrays::rows_of_coordinates(from, schema, *parts.file()));
  matrix->owners.insert(matrix->owners.end(), memory.begin(), memory.end());
  return matrix;
}

Arrays diagonals(const Parts& parts, Schema& schema) {
  Numbers values = parts.numbers(2, 2);
  schema.value_type = values.field.type;
  return rows_of_diagonals(*parts.file(), schema, parts.integers(1), std::move(values));
}

Arrays small_blocks(const Parts& parts, Schema& schema) {
  Numbers values = parts.numbers(3, 3);
  schema.value_type = values.field.type;
  return rows_of_blocks(*parts.file(), schema, parts.integers(1), parts.integers(2),
                        std::move(values));
}

Arrays lines(const Parts& parts, const std::string& kind, Schema& schema) {
  const Numbers values = parts.numbers(3, 1);
  schema.value_type = values.field.type;
  auto matrix = std::make_unique<arrays::SparseArrays>();
  // The one row of an array of one dimension is our column.
  matrix->by_columns = kind == "csc" || (kind == "csr" && parts.dimensions() == 1);
  matrix->pointers = parts.integers(1);
  matrix->indices = parts.integers(2);
  matrix->values = items_of(values);
  return matrix;
}

}  // namespace

bool is_scipy_matrix(std::span<const Member> members) {
  return find(members, "format.npy") != nullptr && find(members, "shape.npy") != nullptr &&
         find(members, "data.npy") != nullptr;
}

std::shared_ptr<const Store> open_scipy_matrix(std::shared_ptr<ByteSource> archive,
                                               std::span<const Member> members) {
  static constexpr arrays::Drivers kDrivers("npz");
  const Member* const format = find(members, "format.npy");
  const Contents word = contents_of(archive, std::array{format});
  const std::string kind = npy::read_word(*word.file, word.members[0]);
  const bool coo = kind == "coo", dia = kind == "dia", bsr = kind == "bsr";
  if (!coo && !dia && !bsr && kind != "csr" && kind != "csc") {
    throw Error(Errc::unsupported, archive->name(), std::nullopt,
                "the sparse matrix has SciPy's format '" + kind +
                    "'; csr, csc, coo, bsr and dia are read: save it after .tocsr()");
  }
  std::vector<std::string_view> names{"shape.npy", "indptr.npy", "indices.npy", "data.npy"};
  if (dia) names = {"shape.npy", "offsets.npy", "data.npy"};
  if (coo) names = {"shape.npy", "row.npy", "col.npy", "data.npy"};
  if (coo && find(members, "coords.npy") != nullptr)
    names = {"shape.npy", "coords.npy", "data.npy"};
  const Parts parts(archive, members, std::move(names));
  Schema schema = parts.schema();
  Arrays matrix = coo   ? coordinates(parts, schema)
                  : dia ? diagonals(parts, schema)
                  : bsr ? small_blocks(parts, schema)
                        : lines(parts, kind, schema);
  matrix->shown.insert(matrix->shown.begin(), {"encoding", "SciPy's " + kind});
  return arrays::make_store(parts.file(), std::move(schema), std::move(matrix), kDrivers);
}

}  // namespace dapple::detail::npz
