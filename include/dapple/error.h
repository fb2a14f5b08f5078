// The only exception type of the library (beside std::bad_alloc), and the list of its codes.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dapple {

enum class Errc {
  io,                // the operating system refused; the message carries its reason
  not_recognised,    // the file is in no format that dapple knows
  unsupported,       // a known format, but a feature of it that dapple does not read or write
  corrupt,           // the bytes break a rule of their format
  out_of_range,      // a block, cell, column or index outside the object
  absent,            // no block covers the cell, or none is stored at the position
  type_mismatch,     // a value, block or column does not fit the requested type
  invalid_argument,  // the arguments contradict each other or the object
  stale_index,       // a sidecar index that belongs to another state of its file
  no_memory,         // there is no memory for the result that was asked for
};

/// The enumerator as text, for example "not_recognised".
std::string_view name(Errc code) noexcept;

/// What every failing call throws. A plain value that does not keep the file open.
///
/// `what()` is a complete message: "FILE: corrupt at byte N: DETAIL" for damaged files,
/// "FILE: at byte N: DETAIL" for other errors at a known byte, otherwise "FILE: DETAIL". For
/// example "m.dbdf: cannot open: No such file or directory".
class Error : public std::runtime_error {
 public:
  /// `file` is empty when the error is not about a file; `offset` is the offending byte of the
  /// file; `detail` says what is wrong and what to do about it; `option` is a literal;
  /// `error_number` is the system's.
  Error(Errc code, std::string file, std::optional<std::uint64_t> offset, std::string detail,
        std::string_view option = {}, int error_number = 0);
  Error(Errc code, std::string detail, std::string_view option = {})
      : Error(code, {}, std::nullopt, std::move(detail), option) {}

  Errc code() const noexcept { return code_; }
  const std::string& file() const noexcept { return file_; }
  std::optional<std::uint64_t> offset() const noexcept { return offset_; }
  /// The message without file, code and offset.
  const std::string& detail() const noexcept { return detail_; }
  /// What would make the failed call succeed, or "": an option ("absent", "overwrite"; "align"
  /// whose value is wrong), perhaps with the value that helps ("format=csv"), one of a format
  /// ("csv.missing_as_nan"), or what else there is ("repair"). Callers turn it into advice in their
  /// own words: the library does not know whether its user has flags, keyword arguments or a
  /// dialog.
  std::string_view option() const noexcept { return option_; }
  /// The system's number of the reason (ENOENT, EACCES and so on); 0 where there is none.
  int error_number() const noexcept { return error_number_; }

  /// The same failure of another file or byte, or in other words; the rest stays.
  Error retold(std::string file, std::optional<std::uint64_t> offset, std::string detail) const {
    return {code_, std::move(file), offset, std::move(detail), option_, error_number_};
  }

 private:
  Errc code_;
  std::string file_;
  std::optional<std::uint64_t> offset_;
  std::string detail_;
  std::string_view option_;
  int error_number_;
};

}  // namespace dapple
