// The table of formats, listed by hand in formats.cpp. A new format is one folder with an `open`
// and a `write`, and one row there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "dapple/convert.h"
#include "dapple/open.h"
#include "lib/compute/source.h"
#include "lib/io/byte_sink.h"
#include "lib/object/probe.h"
#include "lib/object/store.h"

namespace dapple::detail {

struct Format {
  FormatInfo info;
  /// Null: never told from a file alone. Files that begin like dapple's own format are shown to it
  /// and its dialect only.
  Match (*recognise)(const Probe&) = nullptr;
  /// Null: not read.
  std::shared_ptr<const Store> (*open)(std::shared_ptr<MappedFile>, const OpenOptions&) = nullptr;
  /// Writes a whole file in order, front to back. Null: not written, or only by `write_file`.
  void (*write)(const Source&, ByteSink&, const ConvertOptions&) = nullptr;
  /// Publishes the file at a path, for formats that are not written in order or are more than one
  /// file. Null: `write` does it.
  WriteSummary (*write_file)(const Source&, const std::filesystem::path&,
                             const ConvertOptions&) = nullptr;
  /// Text columns are written, too (`BlockedObject::text_columns`); otherwise they are an error.
  bool holds_text = false;
  /// Labels of frames have a place; otherwise they are an error, or left out if that is asked for.
  bool holds_labels = true;
  /// FILE.meta, where there is one beside a FILE, says what is in it (daphne_meta.h), though
  /// `write` makes none.
  bool reads_meta = false;
  /// Throws corrupt for values of a block that can be read, but that the format does not allow.
  /// Null: there are none.
  void (*check_values)(const Store&, const Entry&) = nullptr;
  /// Words, times, truth values and missing cells are written as such; otherwise they are an error,
  /// or the stored numbers where those are asked for.
  bool holds_meanings = false;
};

/// One row per format. Formats are asked in this order: files of the DAPHNE runtime start like
/// dapple's own, and only the runtime's recogniser tells them apart, so it comes first.
std::span<const Format> format_table() noexcept;

/// The format of that name. Throws invalid_argument with the list of names.
const Format& format_named(std::string_view name);

/// The format to write: the one named `to`, or, when that is empty, the first that has the
/// extension of `path`. Throws invalid_argument with the choices.
const Format& format_to_write(const std::string& to, const std::filesystem::path& path);

/// The format that `options.format` names, or the first that recognises the file's content, or
/// else its name. A compressed file is replaced by its content first. Throws not_recognised,
/// invalid_argument; corrupt for a damaged compressed file, io.
const Format& format_to_read(std::shared_ptr<MappedFile>& file, const OpenOptions& options);

/// Opens `file` as `options.format`, or as the first format that recognises its content, or else
/// its name. Throws not_recognised, and what the format's `open` throws.
std::shared_ptr<const Store> open_store(std::shared_ptr<MappedFile> file,
                                        const OpenOptions& options);

}  // namespace dapple::detail
