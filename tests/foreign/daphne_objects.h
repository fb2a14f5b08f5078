// Files of the DAPHNE runtime as the library opens, refuses and writes them.
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "dapple/dapple.h"
#include "tests/foreign/cells_text.h"
#include "tests/foreign/daphne_image.h"
#include "tests/support.h"

namespace dapple::test {

using Object = std::variant<Matrix, Frame>;

/// What is said of a file that could be of either format.
inline const std::string kEither =
    "this could be the published DAPHNE format (dbdf) as well as the DAPHNE runtime's (daphne)";

inline Object open_as(const std::filesystem::path& path, const std::string& format) {
  OpenOptions options;
  options.format = format;
  return open(path, options);
}

inline Object open_runtime(const TempDir& dir, const Bytes& bytes) {
  return open_as(dir.write("t.dbdf", bytes), "daphne");
}

/// The error that opening and reading these bytes gives.
inline Error refusal(const TempDir& dir, const Bytes& bytes) {
  return required_error(error_of([&] { cell_lines(open_runtime(dir, bytes)); }));
}

inline void to_runtime(const Object& object, const std::filesystem::path& out,
                       KindChoice kind = KindChoice::automatic) {
  ConvertOptions options;
  options.to = "daphne";
  options.write.overwrite = true;
  options.write.sync = false;
  options.write.kind = kind;
  convert(object, {}, out, options);
}

}  // namespace dapple::test
