// The table of formats, in formats.cpp. A new format is a folder in lib/foreign with an `open` and
// a `write`, and a row there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dapple/convert.h"
#include "dapple/open.h"
#include "lib/codec/compress.h"
#include "lib/compute/source.h"
#include "lib/foreign/arrays/choice.h"
#include "lib/foreign/text/import.h"
#include "lib/io/byte_sink.h"
#include "lib/object/own_columns.h"
#include "lib/object/probe.h"
#include "lib/object/store.h"

namespace dapple::detail {

struct Format {
  FormatInfo info;
  /// Throws invalid_argument for a value that one of its options does not take. Null: it has none.
  void (*check_options)(const FormatOptions&) = nullptr;
  /// Null: never recognised. Files that start like dapple's own format are shown only to it and its
  /// dialect.
  Match (*recognise)(const Probe&) = nullptr;
  /// Of text, which is parsed into dapple's own format when it is opened
  /// (lib/foreign/text/import.h).
  texts::Parse parse = nullptr;
  /// Null: not read, unless there is a parser.
  std::shared_ptr<const Store> (*open)(std::shared_ptr<ByteSource>, const OpenOptions&) = nullptr;
  /// The objects in a file that may hold several (`OpenOptions::array`). Null: it holds one.
  std::vector<arrays::Listed> (*list)(const std::shared_ptr<ByteSource>&) = nullptr;
  /// Writes a whole file from front to back. Null: not written, or only by `write_file`.
  void (*write)(const Source&, ByteSink&, const ConvertOptions&) = nullptr;
  /// Publishes the file at a path, for formats that are not written in order or consist of more
  /// than one file. Null: `write` does it.
  WriteSummary (*write_file)(const Source&, const std::filesystem::path&,
                             const ConvertOptions&) = nullptr;
  /// Text columns (`BlockedObject::text_columns`) can be written; otherwise they are an error.
  bool holds_text = false;
  /// Labels of frames can be written; otherwise they are an error unless the caller drops them.
  bool holds_labels = true;
  /// A FILE.meta beside FILE describes it (daphne_meta.h), though `write` makes none.
  bool reads_meta = false;
  /// Throws corrupt for values of a block that can be read, but that the format does not allow.
  /// Null: there are none.
  void (*check_values)(const Store&, const Entry&) = nullptr;
  /// Adds what checksums tell that opening does not look at. Null: there are none.
  void (*check_sums)(const ByteSource&, std::vector<Error>& findings) = nullptr;
  /// Words, times, truth values and missing cells can be written; otherwise they are an error
  /// unless the caller wants the stored numbers.
  bool holds_meanings = false;
  /// What is lost all the same, so that `convert` tells of it.
  struct Lost {
    bool zones = false;           // names of zones other than UTC
    bool utc = false;             // that times are in UTC
    bool order = false;           // of the words of a category
    bool missing_floats = false;  // become NaN
    bool durations = false;       // are read back as words
    bool groups = false;          // of the columns of a frame
    bool matrix_names = false;    // of the columns of a matrix
  } lost{};
  /// Tells of what is read back as something else, by the name of the format. Null: nothing.
  void (*note_mistaken)(const Source&, const std::string& target, const TakeNote&) = nullptr;
  /// What other formats do not keep of columns of its files, so that `convert` tells of it. `back`:
  /// what it does not keep itself. Null: there is nothing.
  std::vector<OwnLoss> (*own_losses)(const Source&, bool back) = nullptr;
};

/// The table.
std::span<const Format> all_formats() noexcept;

/// dapple's own.
const Format& native_format() noexcept;

/// The format of that name, in capitals or not, or null.
const Format* find_format(std::string_view name);
/// The same. Throws invalid_argument, listing the names.
const Format& format_named(std::string_view name);

/// How the ending of a name, .gz or .zst, says that a file is compressed as a whole.
Compression compression_of(const std::filesystem::path& path);

/// As the public function.
const Format& format_to_write(const std::string& to, const std::filesystem::path& path);

/// The format named in `options` or, if there is none, the one that best recognises the file's
/// content, or else its name. A compressed file is replaced by its content first, which then has
/// what the options choose of it (`ByteSource::chosen`). Throws not_recognised, invalid_argument,
/// corrupt for a damaged compressed file, io.
const Format& format_to_read(std::shared_ptr<ByteSource>& file, const OpenOptions& options);

/// Opens `file` in that format. Throws what `format_to_read` and the format's `open` throw.
std::shared_ptr<const Store> open_store(std::shared_ptr<ByteSource> file,
                                        const OpenOptions& options);

// What a target has no place for, though it holds all numbers of a source.

/// Throws unsupported for words, meanings and labels that the target cannot hold, unless the
/// options leave them out. Tells `options.note`, if there is one, of what else is lost.
void judge_losses(const Source& source, const Format& format, const ConvertOptions& options);

}  // namespace dapple::detail
