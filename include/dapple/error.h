// The one exception type that leaves the library, and the closed list of what can go wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dapple {

enum class Errc {
  io,                // the operating system refused; the message carries its reason
  not_recognised,    // the bytes are of no format that dapple knows
  unsupported,       // a known format, but a part of it that dapple does not read or write
  corrupt,           // the bytes break a rule of their format
  out_of_range,      // a block, cell, column or index outside the object
  absent,            // no block covers the cell, or none is stored at the position
  type_mismatch,     // a value, block or column does not fit the type that was asked for
  invalid_argument,  // the call itself cannot be carried out
  stale_index,       // a sidecar index that does not belong to the file beside it
};

/// The option that would let the same call succeed; each names the member that sets it. Callers map
/// it to advice in their own words, since the library does not know whether its user has flags,
/// keyword arguments or a dialog.
enum class Remedy : std::uint8_t {
  none,
  name_format,     // OpenOptions::format
  missing_as_nan,  // CsvOptions::missing_as_nan
  column_type,     // CsvOptions::types
  one_value,       // FutharkOptions::value, or ::frame
  absent_as_zero,  // ReadOptions::absent, ConvertOptions::absent
  overwrite,       // WriteOptions::overwrite
  value_type,      // ConvertOptions::value_type
  allow_loss,      // ConvertOptions::allow_loss
  drop_labels,     // ConvertOptions::drop_labels
  stored_numbers,  // ConvertOptions::stored_numbers
  other_columns,   // IdvOptions::drop_unsupported, or ::columns
};

/// The code's name as printed in messages and in JSON, for example "not_recognised".
std::string_view name(Errc code) noexcept;

/// What every failing call throws. A plain value: copyable, no reference to the file.
///
/// `what()` is the whole line without a program name: "FILE: corrupt at byte N: DETAIL" for broken
/// files, "FILE: at byte N: DETAIL" where a byte is to blame for anything else, otherwise
/// "FILE: DETAIL". For example "m.dbdf: cannot open: No such file or directory".
class Error : public std::runtime_error {
 public:
  /// `file` may be empty when no file is to blame; `offset` is the byte to blame, counted from
  /// the start of the file; `detail` says what is wrong and what to do about it.
  Error(Errc code, std::string file, std::optional<std::uint64_t> offset, std::string detail,
        Remedy remedy = Remedy::none);
  Error(Errc code, std::string detail, Remedy remedy = Remedy::none)
      : Error(code, {}, std::nullopt, std::move(detail), remedy) {}

  Errc code() const noexcept { return code_; }
  const std::string& file() const noexcept { return file_; }
  std::optional<std::uint64_t> offset() const noexcept { return offset_; }
  /// The message without file, code and offset.
  const std::string& detail() const noexcept { return detail_; }
  Remedy remedy() const noexcept { return remedy_; }

 private:
  Errc code_;
  std::string file_;
  std::optional<std::uint64_t> offset_;
  std::string detail_;
  Remedy remedy_;
};

}  // namespace dapple
