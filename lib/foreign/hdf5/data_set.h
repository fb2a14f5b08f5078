// One data set of an open file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dapple/array.h"
#include "dapple/region.h"
#include "lib/base/serial_number.h"
#include "lib/foreign/hdf5/h5_api.h"
#include "lib/foreign/hdf5/open_file.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::hdf5 {

/// Whether a type is an enumeration of 0 and 1 in a byte, as h5py stores Booleans.
bool is_boolean(const Session& session, hid_t type);

/// The type of its numbers: of an enumeration, its integers.
Handle numbers_of(const Session& session, hid_t type);

/// The value type that cells of a data set are read as: of a Boolean u8, of another enumeration
/// that of its integers, of half floats f32. Nothing when they are not numbers. `type` is one of
/// the library's.
std::optional<ValueType> value_type_of(const Session& session, hid_t type);

/// Has the library put cells into memory as `type`.
using ReadCells = std::function<herr_t(hid_t type, void* out)>;

/// Puts `count` numbers of `type`, for which value_type_of gave `as`, into `out`. False when the
/// library cannot.
bool read_numbers(const Session& session, hid_t type, ValueType as, std::size_t count,
                  std::byte* out, const ReadCells& read);

/// Whether a data set keeps its values in other files. Also true where that cannot be known.
bool is_elsewhere(const Session& session, hid_t data_set);

/// Whether a file is large enough for this many cells, even compressed: a damaged extent may be any
/// number.
bool is_plausible(const ByteSource& file, std::uint64_t rows, std::uint64_t cols, std::size_t size);

/// What cells without a value type are, and what to do: "strings".
std::string what_it_holds(const Session& session, hid_t type);

/// Numbers of one or two dimensions. All functions may be called by any thread.
class DataSet {
 public:
  /// Throws unsupported when the object is not a data set of numbers, is in other files, or
  /// compressed in a way that the library lacks; corrupt.
  DataSet(std::shared_ptr<const OpenFile> file, std::string path);
  ~DataSet();
  DataSet(const DataSet&) = delete;
  DataSet& operator=(const DataSet&) = delete;

  const ByteSource& file() const noexcept { return file_->file(); }
  const std::shared_ptr<const OpenFile>& opened() const noexcept { return file_; }
  const std::string& path() const noexcept { return path_; }
  /// One or two extents.
  const std::vector<std::uint64_t>& shape() const noexcept { return shape_; }
  std::uint64_t rows() const noexcept { return shape_[0]; }
  std::uint64_t cols() const noexcept { return shape_.size() == 2 ? shape_[1] : 1; }
  ValueType type() const noexcept { return type_; }
  bool is_boolean() const noexcept { return boolean_; }
  /// As many extents as the shape has, each at least 1; empty when it is not chunked.
  const std::vector<std::uint64_t>& chunk() const noexcept { return chunk_; }
  /// For people: "gzip 4, shuffle".
  const std::string& compression() const noexcept { return compression_; }
  /// Byte of the file where all cells are, row by row as `type`, when they are. They are inside the
  /// file.
  std::optional<std::uint64_t> place() const noexcept { return place_; }

  /// Copies cells, row by row without gaps. Throws corrupt, naming the data set.
  void read(Range rows, Range cols, std::byte* out) const;
  void read(Range items, std::byte* out) const { read(items, {0, 1}, out); }

  /// Throws corrupt unless these items can be in the file.
  void require_plausible() const;

 private:
  /// What is known of chunks that need not be read through the library's own filters.
  struct Filters {
    bool known = true;  // no others than these, in this order
    bool shuffle = false, deflate = false;
  };
  void read_slab(Range rows, Range cols, std::byte* out) const;
  bool read_chunks(Range rows, Range cols, std::byte* out) const;
  using Chunk = std::shared_ptr<const Array<std::byte>>;
  Chunk read_chunk(const BlockPos& at) const;
  Chunk chunk(const BlockPos& at, bool whole) const;

  void inspect(const Session& session);
  void take_shape(const Session& session);
  void take_layout(const Session& session, hid_t created);
  void take_filters(const Session& session, hid_t created);
  [[noreturn]] void fail(Errc code, const std::string& wrong) const;
  /// After a call of the library that failed.
  [[noreturn]] void fail_call(const Session& session, const std::string& wrong) const;

  std::shared_ptr<const OpenFile> file_;
  std::string path_;
  Handle id_;
  std::vector<std::uint64_t> shape_, chunk_;
  ValueType type_ = ValueType::f64;
  bool boolean_ = false;
  std::string compression_;
  Filters filters_;
  const std::uint64_t number_ = serial_number();  // in keys of the cache
  std::optional<std::uint64_t> place_;
};

}  // namespace dapple::detail::hdf5
