#include "lib/io/byte_source.h"

#include <optional>
#include <system_error>

namespace dapple::detail {

void ByteSource::fail_changed(const std::string& reading) const {
  throw Error(Errc::io, name_, std::nullopt, "it was changed while " + reading + " was read");
}

void throw_io(const std::string& file, std::string_view action, int errno_value) {
  throw Error(Errc::io, file, std::nullopt,
              std::string("cannot ").append(action).append(": ").append(
                  std::generic_category().message(errno_value)));
}

}  // namespace dapple::detail
