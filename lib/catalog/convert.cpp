#include "dapple/convert.h"

#include <utility>

#include "lib/base/text.h"
#include "lib/catalog/formats.h"
#include "lib/compute/source.h"
#include "lib/compute/used_words.h"
#include "lib/foreign/meta/daphne_meta.h"
#include "lib/io/output_file.h"
#include "lib/io/piece_buffer.h"
#include "lib/object/make_object.h"

namespace dapple {

namespace detail {

namespace {

/// Passes its bytes on in large pieces.
class BufferedSink final : public ByteSink {
 public:
  explicit BufferedSink(TakePiece take) : take_(std::move(take)) { buffer_.start(0, take_); }

  void write(std::span<const std::byte> bytes) override { buffer_.put(bytes); }
  std::uint64_t size() const noexcept override { return buffer_.offset(); }
  void flush() { buffer_.flush(); }

 private:
  TakePiece take_;
  PieceBuffer buffer_;
};

Source source_of(const std::variant<Matrix, Frame>& in, const Selection& part,
                 const ConvertOptions& options, const Format& format) {
  auto store = store_of(in);
  Source source(store, part, options);
  if (options.transpose && (source.kind() == ObjectKind::frame || &format != &native_format())) {
    throw Error(Errc::unsupported, source.store().known_as(), std::nullopt,
                "only a matrix can be written with its rows as columns, and only to dbdf");
  }
  if (options.write.col_names != nullptr && source.kind() == ObjectKind::frame) {
    throw Error(Errc::invalid_argument, source.store().known_as(), std::nullopt,
                "the columns of a frame have labels, and no other names");
  }
  judge_losses(source, format, options);
  if (&format != &native_format() || options.write.plain) return source;
  return {with_used_words(std::move(store), part, options.threads), part, options};
}

/// Throws absent for absent cells now, before a writer meets them after any number of rows. Only
/// files whose blocks may be anywhere can have them. O(blocks).
void require_covered(const Source& source, const Selection& part, const ConvertOptions& options) {
  const Store& store = source.store();
  const BlockIndex& index = store.index();
  const bool anywhere = index.is_in_place() || index.origin() == IndexOrigin::scanned;
  if (options.absent != Absent::error || index.grid() || !anywhere) return;
  Region run{part.rows.value_or(Range{0, store.schema().rows}), {0, 0}};
  const auto require_run = [&] {
    if (!run.empty()) store.require_covered(run);
  };
  if (!part.cols) {
    run.cols = {0, store.schema().cols};
    return require_run();
  }
  for (const std::uint64_t col : *part.cols) {
    if (!run.cols.empty() && run.cols.end == col) {
      ++run.cols.end;
    } else {
      require_run();
      run.cols = {col, col + 1};
    }
  }
  require_run();
}

/// Throws invalid_argument when there is a .meta file beside the file to be written, which readers
/// would apply to it, unless `overwrite` permits to remove it.
void require_no_meta(const Source& source, const std::filesystem::path& out, bool overwrite) {
  if (!has_daphne_meta(out)) return;
  require_meta_unread(out, source.store().file());
  if (overwrite) return;
  throw Error(Errc::invalid_argument, daphne_meta_path(out).string(), std::nullopt,
              "it would be taken for the labels and types of the new file beside it", "overwrite");
}

/// Gives `file` its name, without a .meta file of DAPHNE's beside it. REQUIRES `require_no_meta`.
void publish_without_meta(OutputFile& file, const std::filesystem::path& out, bool sync) {
  if (has_daphne_meta(out)) {
    const std::filesystem::path meta = daphne_meta_path(out);
    std::error_code reason;
    // Sync, which is slow and may fail, before an old file loses its labels and types.
    if (sync) file.sync();
    std::filesystem::remove(meta, reason);
    if (reason) throw_io(meta.string(), "remove", reason.value());
  }
  file.publish(sync);
}

/// Throws invalid_argument for a name that promises what is not written.
void require_compressible(const Format& format, const std::filesystem::path& out, Compression how) {
  if (how == Compression::none || format.write != nullptr) return;
  const std::string name(format.info.name);
  throw Error(Errc::invalid_argument, out.string(), std::nullopt,
              name + " is not written compressed as a whole; leave the " +
                  out.extension().string() + " out" +
                  (&format == &native_format() ? ", and pack its tiles" : ""));
}

/// Writes the whole file from front to back, and returns how many bytes it has.
std::uint64_t write_to(OutputFile& file, Compression how, const Source& source,
                       const Format& format, const ConvertOptions& options) {
  if (how == Compression::none) {
    BufferedSink sink([&](std::uint64_t offset, auto piece) { file.write_at(offset, piece); });
    format.write(source, sink, options);
    sink.flush();
    return sink.size();
  }
  Compressor compressor(how, [&](auto compressed) { file.append(compressed); });
  BufferedSink sink([&](std::uint64_t, auto piece) { compressor.put(piece); });
  format.write(source, sink, options);
  sink.flush();
  compressor.finish();
  return file.appended();
}

/// Runs `write`, and makes its unsupported errors name the file of the source.
template <class Write>
auto naming_source(const Source& source, const Write& write) {
  try {
    return write();
  } catch (const Error& e) {
    if (e.code() != Errc::unsupported || !e.file().empty()) throw;
    throw e.retold(source.store().file().name(), e.offset(), e.detail());
  }
}

}  // namespace

}  // namespace detail

WriteSummary convert(const std::variant<Matrix, Frame>& in, const Selection& part,
                     const std::filesystem::path& out, const ConvertOptions& options) {
  check_format_options(options.format_options, true);
  const detail::Format& format = detail::format_to_write(options.to, out);
  const detail::Compression how = detail::compression_of(out);
  detail::require_compressible(format, out, how);
  const detail::Source source = detail::source_of(in, part, options, format);
  if (format.write_file != nullptr) {
    detail::require_covered(source, part, options);
    return detail::naming_source(source, [&] { return format.write_file(source, out, options); });
  }
  if (format.reads_meta) detail::require_no_meta(source, out, options.write.overwrite);
  detail::OutputFile file(out, options.write.overwrite);
  if (options.write.sync) file.expect_sync();
  detail::require_covered(source, part, options);
  const std::uint64_t bytes = detail::naming_source(
      source, [&] { return detail::write_to(file, how, source, format, options); });
  if (format.reads_meta) {
    detail::publish_without_meta(file, out, options.write.sync);
  } else {
    file.publish(options.write.sync);
  }
  return {{}, bytes};
}

void convert(const std::variant<Matrix, Frame>& in, const Selection& part,
             const std::function<void(std::span<const std::byte>)>& sink,
             const ConvertOptions& options) {
  if (options.to.empty()) {
    throw Error(Errc::invalid_argument,
                "a stream has no extension to tell the format from; name the format");
  }
  check_format_options(options.format_options, true);
  const detail::Format& format = detail::format_to_write(options.to, {});
  if (!format.info.streams) {
    throw Error(Errc::invalid_argument,
                std::string(format.info.name) + " cannot be written to a stream, only to a file");
  }
  const detail::Source source = detail::source_of(in, part, options, format);
  detail::require_covered(source, part, options);
  detail::BufferedSink buffered([&](std::uint64_t, auto piece) { sink(piece); });
  detail::naming_source(source, [&] { format.write(source, buffered, options); });
  buffered.flush();
}

}  // namespace dapple
