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
#include "lib/object/source.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// What a format is recognised by.
struct Probe {
  const MappedFile& file;
  std::span<const std::byte> head;  // the first bytes, at most 4096
  std::string extension;            // of the path, lower case, with its dot
};

/// How sure a format is that a file is its own.
enum class Match : std::uint8_t { no, by_name, by_content };

/// Where a foreign writer's bytes go, in order.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
};

struct Format {
  FormatInfo info;
  Match (*recognise)(const Probe&);  // null: never told from a file alone
  std::shared_ptr<const Store> (*open)(std::shared_ptr<MappedFile>, const OpenOptions&);
  /// Writes a whole file in order; null where the format needs a file (`write_file`).
  void (*write)(const Source&, ByteSink&, const ConvertOptions&);
};

std::span<const Format> format_table() noexcept;

/// The format of that name. Throws invalid_argument with the list of names.
const Format& format_named(std::string_view name);

/// Opens `file` as `options.format`, or as the format that recognises it.
std::shared_ptr<const Store> open_store(std::shared_ptr<MappedFile> file,
                                        const OpenOptions& options);

}  // namespace dapple::detail
