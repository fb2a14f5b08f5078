// Text is parsed once, into a file of dapple's own format: an unnamed one, or one that is kept
// beside the text as FILE.dpx and bound to its state, so that it need not be parsed again. What
// was parsed is read as any other file of that format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/open.h"
#include "lib/dbdf/write/block_writer.h"
#include "lib/io/byte_source.h"
#include "lib/object/store.h"

namespace dapple::detail::texts {

/// Of an object whose rows are counted while they are put: more than there ever are.
inline constexpr std::uint64_t kUnknownRows = std::uint64_t{1} << 62;

/// What a parser of text gives its cells to.
class Import {
 public:
  /// To an unnamed file: where the options say; otherwise in memory if the text has at most 64 MiB,
  /// and in $TMPDIR if it has more. Or, if the options want no cells, nowhere. Or to the sidecar of
  /// the text at the path `sidecar_of`.
  Import(std::shared_ptr<ByteSource> text, std::string_view format, const OpenOptions& options,
         std::optional<std::filesystem::path> sidecar_of = {});

  /// Starts the object, whose rows may be `kUnknownRows`. What was put before is forgotten. The
  /// writer is there until the next start.
  BlockWriter& start(Schema schema, TileShape tile);
  /// Ends it; REQUIRES a start, and see `BlockWriter::finish_as`. Throws io; stale_index if the
  /// text has changed while a sidecar was made of it.
  void finish(Schema schema, std::string note);
  /// What the file lists of itself.
  void set_contents(std::vector<std::string> contents) { contents_ = std::move(contents); }
  /// What is said of a sidecar that was not used, before any other note.
  void set_unused(std::string note) { unused_ = std::move(note); }

  /// The object; null if it went to a sidecar. REQUIRES `finish`.
  std::shared_ptr<const Store> store() const { return store_; }
  /// How often it was started: each time, the text was parsed.
  unsigned starts() const noexcept { return starts_; }
  /// The blocks. REQUIRES `finish`, and no sidecar.
  const BlockIndex& index() const { return store_->index(); }

 private:
  OutputFile create() const;

  const std::shared_ptr<ByteSource> text_;
  const std::string_view format_;
  const OpenOptions& options_;
  const std::optional<std::filesystem::path> sidecar_of_;
  std::unique_ptr<BlockWriter> writer_;
  unsigned starts_ = 0;
  std::vector<std::string> contents_;
  std::string unused_;
  std::shared_ptr<const Store> store_;
};

/// Parses the text, and gives the cells to `import`. Throws as `open` of the format.
using Parse = void (*)(const std::shared_ptr<ByteSource>& text, const OpenOptions&, Import& import);

/// Opens the text: what its sidecar holds, if there is one of this state of it and of this way of
/// reading it, or what is parsed now.
std::shared_ptr<const Store> open_text(const std::shared_ptr<ByteSource>& text,
                                       std::string_view format, Parse parse,
                                       const OpenOptions& options);

/// As `open_text`, but parses the text whether there is a sidecar or not, and keeps no cells. Adds
/// what is wrong with the sidecar: it is damaged, stale, or does not hold what is in the text. With
/// `payload`, all of its bytes are looked at.
std::shared_ptr<const Store> verify_text(const std::shared_ptr<ByteSource>& text,
                                         std::string_view format, Parse parse,
                                         const OpenOptions& options, bool payload,
                                         std::vector<Error>& findings);

}  // namespace dapple::detail::texts
