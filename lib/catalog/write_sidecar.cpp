#include "dapple/sidecar.h"

#include <string>
#include <string_view>
#include <system_error>

#include "dapple/collection.h"
#include "dapple/dataset.h"
#include "lib/catalog/collection.h"
#include "lib/catalog/formats.h"
#include "lib/catalog/sources.h"
#include "lib/compute/source.h"
#include "lib/dataset/open_dataset.h"
#include "lib/dbdf/column_copy.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/dbdf/sidecar.h"
#include "lib/dbdf/write/transpose.h"
#include "lib/io/output_file.h"
#include "lib/object/block_stats.h"

namespace dapple {

std::filesystem::path file_to_index(const std::filesystem::path& name, const OpenOptions& options) {
  std::filesystem::path file = name;
  if (const auto place = find_member(name)) {
    if (!place->second.empty()) {
      throw Error(Errc::unsupported, name.string(), std::nullopt,
                  "a packed collection has no room for an index or a copy beside a member; unpack "
                  "it first");
    }
    file = place->first;
  } else if (detail::is_collection_folder(name.string())) {
    file = detail::member_path(name.string(), options.array);
  }
  std::error_code none;
  const bool is_dataset =
      std::filesystem::is_directory(file, none) && !detail::dataset::list_states(file).empty();
  return is_dataset ? dataset::latest(file) : file;
}

namespace {

/// Opens what something is to be written beside.
std::shared_ptr<detail::ByteSource> open_to_index(const std::filesystem::path& path,
                                                  const OpenOptions& options) {
  std::error_code none;
  if (std::filesystem::is_fifo(path, none)) {
    throw Error(Errc::unsupported, path.string(), std::nullopt,
                "what comes out of a pipe cannot have an index or a copy beside it");
  }
  detail::write_back(path);
  return detail::open_source(path.string(), options);
}

}  // namespace

bool write_sidecar(const std::filesystem::path& given, const OpenOptions& options,
                   const SidecarOptions& sidecar) {
  using namespace detail;
  const std::filesystem::path path = file_to_index(given, options);
  const auto file = open_to_index(path, options);
  return watched(*file, [&] {
    auto content = file;
    const Format& format = format_to_read(content, options);
    if (content != file) {
      throw Error(
          Errc::unsupported, path.string(), std::nullopt,
          "a compressed file is read from its start, so an index would not help; convert it first");
    }
    if (format.parse != nullptr) {
      texts::Import import(file, format.info.name, options, path);
      format.parse(file, options, import);
      return true;
    }
    const std::shared_ptr<const Store> store = open_store(file, options);
    if (store->format() != dbdf::kDriver.format) {
      const std::string_view read_as = store->format();
      const bool text = store->driver().format != read_as;  // what was parsed is dbdf
      throw Error(Errc::unsupported, path.string(), std::nullopt,
                  "a file of the format " + std::string(read_as) +
                      (text ? " is text that each opening goes over, so an index would not help; "
                              "convert it first"
                            : " needs no index"));
    }
    const BlockStatsTable* const known = sidecar.statistics ? store->block_stats() : nullptr;
    if (store->index().origin() == IndexOrigin::embedded && !sidecar.even_if_indexed &&
        (!sidecar.statistics || (known != nullptr && !known->old()))) {
      return false;
    }
    dbdf::write_sidecar_of(file, path, sidecar);
    return true;
  });
}

WriteSummary write_column_copy(const std::filesystem::path& given, const OpenOptions& options,
                               const ColumnCopyOptions& copy) {
  using namespace detail;
  const std::filesystem::path path = file_to_index(given, options);
  const auto file = open_to_index(path, options);
  return watched(*file, [&] {
    const auto refuse = [&](const char* why) {
      throw Error(Errc::unsupported, path.string(), std::nullopt, why);
    };
    auto content = file;
    const bool parsed = format_to_read(content, options).parse != nullptr;
    const std::shared_ptr<const Store> store = parsed ? nullptr : open_store(file, options);
    if (parsed || store->is_import()) {
      refuse("text has no copy by column; convert it first");
    }
    if (store->schema().kind == ObjectKind::frame) {
      refuse("a frame has no copy by column, only a matrix has");
    }
    if (store->shared_file() != file) {
      refuse("a file whose content is compressed has no copy by column; convert it first");
    }
    ConvertOptions convert;
    convert.threads = copy.threads;
    convert.progress = copy.progress;
    convert.write.overwrite = true;
    convert.write.sync = copy.sync;
    const Source source(store, {}, convert);
    return dbdf::write_transposed(source, column_copy_path(path), convert.write,
                                  dbdf::copy_hint(*store),
                                  [&] { dbdf::require_unchanged(*file, path); });
  });
}

}  // namespace dapple
