#include "dapple/open.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "lib/catalog/formats.h"
#include "lib/catalog/sources.h"
#include "lib/io/local/local_file.h"
#include "lib/io/memory/memory_source.h"
#include "lib/io/reader/reader_source.h"
#include "lib/object/make_object.h"
#include "lib/object/store.h"

namespace dapple {

namespace {

using SharedStore = std::shared_ptr<const detail::Store>;

SharedStore open_bytes(std::span<const std::byte> bytes, std::string name,
                       const OpenOptions& options) {
  return detail::open_store(detail::memory_source(bytes, std::move(name)), options);
}

SharedStore open_reader(std::shared_ptr<const RangeReader> reader, std::string name,
                        const OpenOptions& options) {
  return detail::open_store(
      detail::reader_source(std::move(reader), std::move(name), detail::cache_of(options)),
      options);
}

SharedStore open_object(const std::shared_ptr<const ObjectStore>& store, const std::string& name,
                        const OpenOptions& options) {
  return detail::open_store(detail::open_in_store(store, name, options), options);
}

SharedStore open_path(const std::filesystem::path& path, const OpenOptions& options) {
  const auto file = detail::open_source(path.string(), options);
  auto store = detail::watched(*file, [&] { return detail::open_store(file, options); });
  if (!options.read_ahead) file->read_nothing_ahead();
  return store;
}

SharedStore require(detail::Wanted wanted, SharedStore store) {
  const bool frame = detail::holds_frame(*store);
  if (frame == (wanted == detail::Wanted::frame)) return store;
  throw Error(
      Errc::type_mismatch, store->known_as(), std::nullopt,
      frame ? "the file holds a frame, not a matrix" : "the file holds a matrix, not a frame");
}

}  // namespace

std::variant<Matrix, Frame> open(const std::filesystem::path& path, OpenOptions options) {
  return detail::make_object(open_path(path, options));
}

std::variant<Matrix, Frame> open(std::span<const std::byte> bytes, std::string name,
                                 OpenOptions options) {
  return detail::make_object(open_bytes(bytes, std::move(name), options));
}

std::variant<Matrix, Frame> open(std::shared_ptr<const RangeReader> reader, std::string name,
                                 OpenOptions options) {
  return detail::make_object(open_reader(std::move(reader), std::move(name), options));
}

std::variant<Matrix, Frame> open(std::shared_ptr<const ObjectStore> store, const std::string& name,
                                 OpenOptions options) {
  return detail::make_object(open_object(store, name, options));
}

std::variant<Matrix, Frame> open_stream(int fd, std::string name, OpenOptions options) {
  return detail::make_object(
      detail::open_store(detail::LocalFile::spool(fd, std::move(name)), options));
}

SharedStore detail::open_only(Wanted wanted, const std::filesystem::path& path,
                              const OpenOptions& options) {
  return require(wanted, open_path(path, options));
}

SharedStore detail::open_only(Wanted wanted, std::span<const std::byte> bytes, std::string name,
                              const OpenOptions& options) {
  return require(wanted, open_bytes(bytes, std::move(name), options));
}

SharedStore detail::open_only(Wanted wanted, std::shared_ptr<const RangeReader> reader,
                              std::string name, const OpenOptions& options) {
  return require(wanted, open_reader(std::move(reader), std::move(name), options));
}

}  // namespace dapple
