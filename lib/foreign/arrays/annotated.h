// What anndata makes of several arrays, in whatever file they are: sparse matrices and tables. What
// an object is, attributes tell, which are beside the user's own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/error.h"
#include "lib/base/json.h"
#include "lib/foreign/arrays/sparse_arrays.h"
#include "lib/object/store.h"

namespace dapple::detail::arrays {

/// An array or a group of arrays.
struct Object {
  bool is_array = false;
  /// One of its attributes; nothing when there is none. Any thread, as long as the file is open.
  std::function<std::optional<Json>(const char* name)> attribute;

  /// One that is a string; "" for none.
  std::string text(const char* name) const;
};

/// Takes the words of an array one after the other.
using TakeWord = std::function<void(std::string_view)>;

/// An array of one dimension. Any thread.
struct Vector {
  std::string path;
  Items items{};  // of strings only their number
  ValueType type = ValueType::f64;
  bool boolean = false;  // of u8: they are truth values
  /// Of strings, hands them out in order. Null: they are numbers. Throws corrupt, io.
  std::function<void(const TakeWord&)> read_words{};
  std::vector<Detail> shown{};  // how it is stored
};

/// The objects in one file, by paths such as "obs/cell_type". Any thread.
class Objects {
 public:
  virtual ~Objects() = default;
  /// Nothing where there is none. Throws corrupt, io; invalid_argument for what is no path.
  virtual std::optional<Object> find(const std::string& path) const = 0;
  /// Throws corrupt where there is none, or one of another rank; unsupported.
  virtual Vector open_vector(const std::string& path) const = 0;
  /// An error that blames the object at this path.
  virtual Error fault(Errc code, const std::string& path, const std::string& what) const = 0;
};

/// What a group is opened as.
enum class Encoding : std::uint8_t {
  none,
  csr,
  csc,
  table,
  cell_ranger,  // of 10x Genomics: csc, with its shape and the names of its columns in arrays
};

/// What a group says it is, by anndata's attributes, or those of its first versions.
Encoding encoding_of(const Object& group);

/// Takes out what tells how an object of anndata is stored, which need not be true of a copy of it.
void drop_encoding(Json& attributes);

/// Gives the objects of a file when they are needed.
using FindObjects = std::function<std::shared_ptr<const Objects>()>;

/// Names of rows and columns from the tables beside a matrix at this path: their indexes, where
/// these have as many words. They are read when they are asked for. REQUIRES the shape.
void give_names(const FindObjects& objects, std::string_view path, Schema& schema);

void read_table(const Store& store, const Entry& entry, const Part& part, const Target& out);

/// The drivers of a format's groups.
struct GroupDrivers {
  explicit constexpr GroupDrivers(std::string_view format)
      : sparse(format), table{.format = format, .read = read_table} {}

  Drivers sparse;
  Driver table;
};

/// A group as what it is: a table, or the sparse matrix of `indptr`, `indices` and `data`. REQUIRES
/// an encoding, drivers that outlive the store, and a schema with nothing but attributes; of
/// `cell_ranger` also with a shape. `later` is for names. Throws corrupt, unsupported.
std::shared_ptr<Store> open_group(std::shared_ptr<ByteSource> file, const Objects& objects,
                                  const FindObjects& later, const std::string& path,
                                  Encoding encoding, Schema schema, const GroupDrivers& drivers);

/// A table: a group of columns, each an array, or a group of arrays for categories and for what may
/// be missing. Columns that cannot be read are left out, which the store's note tells. Throws
/// corrupt. REQUIRES a driver that outlives the store, and a schema with nothing but attributes.
std::shared_ptr<Store> open_table(std::shared_ptr<ByteSource> file, const Objects& objects,
                                  const std::string& path, Schema schema, const Driver& driver);

}  // namespace dapple::detail::arrays
