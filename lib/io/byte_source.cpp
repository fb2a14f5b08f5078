#include "lib/io/byte_source.h"

#include <cerrno>
#include <optional>
#include <system_error>

#include "lib/base/serial_number.h"

namespace dapple::detail {

ByteSource::ByteSource(std::string name, const Identity& identity, bool guarded)
    : name_(std::move(name)), identity_(identity), number_(serial_number()), guarded_(guarded) {}

ByteSource::~ByteSource() = default;

std::vector<std::string> ByteSource::folders_beside(const std::string& folder) const {
  throw Error(Errc::unsupported, folder_prefix(name_) + folder, std::nullopt,
              "nothing can be listed here; name what is to be opened");
}

Error ByteSource::changed(const std::string& reading) const {
  return Error(Errc::io, name_, std::nullopt, "it was changed while " + reading + " was read");
}

void throw_io(const std::string& file, std::string_view action, int errno_value) {
  throw Error(Errc::io, file, std::nullopt,
              std::string("cannot ")
                  .append(action)
                  .append(file.empty() ? " a file whose name is empty: " : ": ")
                  .append(std::generic_category().message(errno_value))
                  .append(errno_value == EMFILE ? "; ulimit -n tells how many, and raises it" : ""),
              {}, errno_value);
}

}  // namespace dapple::detail
