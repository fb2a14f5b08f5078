#include "lib/foreign/hdf5/data_set.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/cache/block_cache.h"
#include "lib/codec/inflate.h"

namespace dapple::detail::hdf5 {

namespace {

constexpr std::size_t kChunkCache = std::size_t{16} << 20;

std::string filter_name(H5Z_filter_t filter, const std::string& described) {
  switch (filter) {
    case H5Z_FILTER_DEFLATE:
      return "gzip";
    case H5Z_FILTER_SHUFFLE:
      return "shuffle";
    case H5Z_FILTER_FLETCHER32:
      return "fletcher32";
    case H5Z_FILTER_SZIP:
      return "szip";
    case H5Z_FILTER_NBIT:
      return "nbit";
    case H5Z_FILTER_SCALEOFFSET:
      return "scaleoffset";
    default:
      return described.empty() ? "filter " + std::to_string(filter) : described;
  }
}

/// Bytes of the smallest type that has a float's exponents and digits.
std::size_t size_of_real(const Session& session, hid_t type) {
  std::size_t sign = 0, exponent_at = 0, exponent = 0, digits_at = 0, digits = 0;
  session.api().H5Tget_fields(type, &sign, &exponent_at, &exponent, &digits_at, &digits);
  if (exponent <= 8 && digits <= 23) return sizeof(float);
  return exponent <= 11 && digits <= 52 ? sizeof(double) : 2 * sizeof(double);
}

}  // namespace

bool is_boolean(const Session& session, hid_t type) {
  const Api& h5 = session.api();
  if (h5.H5Tget_class(type) != H5T_ENUM || h5.H5Tget_size(type) != 1) return false;
  std::array<std::uint8_t, 2> values{};
  return h5.H5Tget_nmembers(type) == 2 && h5.H5Tget_member_value(type, 0, &values[0]) >= 0 &&
         h5.H5Tget_member_value(type, 1, &values[1]) >= 0 && (values[0] | values[1]) == 1;
}

Handle numbers_of(const Session& session, hid_t type) {
  const Api& h5 = session.api();
  const bool enumerated = h5.H5Tget_class(type) == H5T_ENUM;
  return {enumerated ? h5.H5Tget_super(type) : h5.H5Tcopy(type), h5.H5Tclose};
}

std::optional<ValueType> value_type_of(const Session& session, hid_t type) {
  const Api& h5 = session.api();
  if (is_boolean(session, type)) return ValueType::u8;
  const Handle numbers = numbers_of(session, type);
  const H5T_class_t kind = h5.H5Tget_class(numbers.get());
  const bool real = kind == H5T_FLOAT;
  const std::size_t stored = h5.H5Tget_size(numbers.get());
  if ((!real && kind != H5T_INTEGER) || stored > sizeof(double)) return std::nullopt;
  // Integers of 3, 5, 6 or 7 bytes, and half floats: the next type, which holds them.
  std::size_t size = std::max<std::size_t>(std::bit_ceil(stored), real ? sizeof(float) : 1);
  if (real) size = std::max(size, size_of_real(session, numbers.get()));
  const bool is_signed = real || h5.H5Tget_sign(numbers.get()) == H5T_SGN_2;
  for (const ValueType value : kValueTypes) {
    if (size_of(value) == size && is_float(value) == real && dapple::is_signed(value) == is_signed)
      return value;
  }
  return std::nullopt;
}

bool read_numbers(const Session& session, hid_t type, ValueType as, std::size_t count,
                  std::byte* out, const ReadCells& read) {
  const Api& h5 = session.api();
  const hid_t native = h5.native_of(as);
  const Handle numbers = numbers_of(session, type);
  if (h5.H5Tget_class(numbers.get()) != H5T_INTEGER ||
      h5.H5Tget_order(numbers.get()) != H5T_ORDER_BE) {
    return read(native, out) >= 0;
  }
  // Between types of as many bytes in either order the library does no more than swap them: of
  // integers with fewer bits than their bytes have, the sign would be lost and what is beside them
  // kept. So the order alone at first.
  const Handle swapped(h5.H5Tcopy(numbers.get()), h5.H5Tclose);
  return h5.H5Tset_order(swapped.get(), H5T_ORDER_LE) >= 0 && read(swapped.get(), out) >= 0 &&
         h5.H5Tconvert(swapped.get(), native, count, out, nullptr, H5P_DEFAULT) >= 0;
}

bool is_elsewhere(const Session& session, hid_t data_set) {
  const Api& h5 = session.api();
  const Handle created(h5.H5Dget_create_plist(data_set), h5.H5Pclose);
  return !created.is_open() || h5.H5Pget_layout(created.get()) == H5D_VIRTUAL ||
         h5.H5Pget_external_count(created.get()) != 0;
}

bool is_plausible(const ByteSource& file, std::uint64_t rows, std::uint64_t cols,
                  std::size_t size) {
  std::uint64_t bytes = 0;
  return multiply(rows, cols, bytes) && multiply(bytes, size, bytes) &&
         bytes / kMostInflation <= file.size();
}

std::string what_it_holds(const Session& session, hid_t type) {
  const Api& h5 = session.api();
  switch (h5.H5Tget_class(type)) {
    case H5T_COMPOUND:
      if (h5.H5Tget_nmembers(type) == 2 && h5.H5Tget_member_index(type, "r") >= 0 &&
          h5.H5Tget_member_index(type, "i") >= 0) {
        return "complex numbers; save their real and imaginary parts";
      }
      return "a table of records; save its columns one by one";
    case H5T_STRING:
      return "strings";
    case H5T_REFERENCE:
      return "references";
    case H5T_VLEN:
    case H5T_ARRAY:
      return "arrays in each cell";
    default:
      return "no numbers of 1 to 8 bytes";
  }
}

DataSet::DataSet(std::shared_ptr<const OpenFile> file, std::string path)
    : file_(std::move(file)), path_(std::move(path)) {
  const Session session(file_->name());
  try {
    inspect(session);
  } catch (...) {
    id_.close();  // its destructor runs after the session has ended
    throw;
  }
}

DataSet::~DataSet() {
  block_cache().forget(number_);
  const Session session(file_->name());
  id_.close();
}

void DataSet::inspect(const Session& session) {
  const Api& h5 = session.api();
  // The object first, which is found without following links to other files.
  Handle object = file_->open_object(session, path_);
  if (!object.is_open() || h5.H5Iget_type(object.get()) != H5I_DATASET) {
    fail_call(session, "cannot be opened");
  }
  const Handle created(h5.H5Dget_create_plist(object.get()), h5.H5Pclose);
  if (!created.is_open()) fail_call(session, "cannot be read");
  // Before anything that would look into those files.
  if (is_elsewhere(session, object.get())) {
    fail(Errc::unsupported,
         "keeps its values in other files, which are not opened; store a copy of them in this one");
  }
  object.close();  // which would have given it a smaller cache
  id_ = file_->open_data_set(session, path_, kChunkCache);
  const Handle stored(id_.is_open() ? h5.H5Dget_type(id_.get()) : -1, h5.H5Tclose);
  if (!stored.is_open()) fail_call(session, "cannot be read");
  const auto type = value_type_of(session, stored.get());
  if (!type) fail(Errc::unsupported, "holds " + what_it_holds(session, stored.get()));
  type_ = *type;
  boolean_ = hdf5::is_boolean(session, stored.get());
  take_shape(session);
  take_filters(session, created.get());
  take_layout(session, created.get());
}

void DataSet::take_shape(const Session& session) {
  const Api& h5 = session.api();
  const Handle space(h5.H5Dget_space(id_.get()), h5.H5Sclose);
  const int rank = space.is_open() ? h5.H5Sget_simple_extent_ndims(space.get()) : -1;
  if (rank < 0) fail_call(session, "cannot be read");
  if (rank < 1 || rank > 2 || h5.H5Sget_simple_extent_type(space.get()) != H5S_SIMPLE) {
    fail(Errc::unsupported, "has " + counted(static_cast<std::uint64_t>(rank), "dimension") +
                                ", not 1 or 2" +
                                (rank > 2 ? "; save a slice of it as a matrix" : ""));
  }
  std::array<hsize_t, 2> extents{};
  h5.H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  shape_.assign(extents.begin(), extents.begin() + rank);
}

void DataSet::take_filters(const Session& session, hid_t created) {
  const Api& h5 = session.api();
  const int filters = std::max(0, h5.H5Pget_nfilters(created));
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    std::array<unsigned, 8> values{};
    std::size_t count = values.size();
    std::array<char, 64> text{};
    const H5Z_filter_t filter =
        h5.H5Pget_filter2(created, static_cast<unsigned>(i), &flags, &count, values.data(),
                          text.size() - 1, text.data(), nullptr);
    const std::string name = filter_name(filter, text.data());
    if (filter < 0 || h5.H5Zfilter_avail(filter) <= 0) {
      fail(Errc::unsupported, "is compressed with " + name +
                                  ", which the HDF5 library lacks; gzip is known everywhere");
    }
    if (!compression_.empty()) compression_ += ", ";
    compression_ += name;
    if (filter == H5Z_FILTER_DEFLATE && count > 0) {
      compression_ += ' ';
      compression_ += std::to_string(values[0]);
    }
    if (filter == H5Z_FILTER_SHUFFLE && i == 0) {
      filters_.shuffle = true;
    } else if (filter == H5Z_FILTER_DEFLATE && i == filters - 1) {
      filters_.deflate = true;
    } else {
      filters_.known = false;
    }
  }
}

void DataSet::take_layout(const Session& session, hid_t created) {
  const Api& h5 = session.api();
  const H5D_layout_t layout = h5.H5Pget_layout(created);
  if (layout == H5D_CHUNKED) {
    std::array<hsize_t, 2> extents{1, 1};
    const int rank = h5.H5Pget_chunk(created, static_cast<int>(shape_.size()), extents.data());
    if (rank != static_cast<int>(shape_.size())) fail(Errc::corrupt, "has chunks of another rank");
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      chunk_.push_back(std::max<hsize_t>(1, extents[i]));
    }
  }
  const Handle stored(h5.H5Dget_type(id_.get()), h5.H5Tclose);
  const Handle numbers = numbers_of(session, stored.get());
  const bool native = h5.H5Tequal(numbers.get(), h5.native_of(type_)) > 0 ||
                      (boolean_ && h5.H5Tequal(numbers.get(), h5.native_of(ValueType::i8)) > 0);
  filters_.known = filters_.known && native && layout == H5D_CHUNKED;
  const haddr_t offset = layout == H5D_CONTIGUOUS ? h5.H5Dget_offset(id_.get()) : HADDR_UNDEF;
  if (offset == HADDR_UNDEF || !native) return;
  std::uint64_t bytes = 0;
  const std::uint64_t size = file().size();
  if (!multiply(rows(), cols(), bytes) || !multiply(bytes, size_of(type_), bytes) ||
      offset > size || bytes > size - offset) {
    fail(Errc::corrupt, "takes more bytes than the file has");
  }
  place_ = offset;
}

void DataSet::read(Range rows, Range cols, std::byte* out) const {
  if (rows.empty() || cols.empty()) return;
  if (!read_chunks(rows, cols, out)) read_slab(rows, cols, out);
}

void DataSet::read_slab(Range rows, Range cols, std::byte* out) const {
  const Session session(file_->name());
  const Api& h5 = session.api();
  const std::array<hsize_t, 2> start{rows.begin, cols.begin}, count{rows.size(), cols.size()};
  const int rank = static_cast<int>(shape_.size());
  const Handle in_file(h5.H5Dget_space(id_.get()), h5.H5Sclose);
  const Handle in_memory(h5.H5Screate_simple(rank, count.data(), nullptr), h5.H5Sclose);
  const Handle stored(h5.H5Dget_type(id_.get()), h5.H5Tclose);
  const ReadCells read = [&](hid_t type, void* into) {
    return h5.H5Dread(id_.get(), type, in_memory.get(), in_file.get(), H5P_DEFAULT, into);
  };
  if (!in_file.is_open() || !in_memory.is_open() || !stored.is_open() ||
      h5.H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                             nullptr) < 0 ||
      !read_numbers(session, stored.get(), type_, rows.size() * cols.size(), out, read)) {
    fail_call(session, "cannot be read");
  }
}

void DataSet::require_plausible() const {
  if (!is_plausible(file(), rows(), cols(), size_of(type_))) {
    fail(Errc::corrupt, "has more items than the file can hold");
  }
}

void DataSet::fail(Errc code, const std::string& wrong) const {
  throw Error(code, file_->name(), std::nullopt, "the data set " + path_ + " " + wrong);
}

void DataSet::fail_call(const Session& session, const std::string& wrong) const {
  file_->fail(session, "the data set " + path_ + " " + wrong);
}

}  // namespace dapple::detail::hdf5
