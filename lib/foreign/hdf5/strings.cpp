#include "lib/foreign/hdf5/strings.h"

#include <limits>
#include <string_view>

namespace dapple::detail::hdf5 {

namespace {

std::optional<std::vector<std::string>> read_pointers(const Session& session, hid_t type,
                                                      std::uint64_t count, const ReadCells& read) {
  std::vector<char*> texts(count, nullptr);
  const bool done = read(type, texts.data()) >= 0;
  std::vector<std::string> strings;
  for (char* const text : texts) {
    if (done) strings.emplace_back(text == nullptr ? "" : text);
    if (text != nullptr) session.api().H5free_memory(text);
  }
  return done ? std::optional(std::move(strings)) : std::nullopt;
}

}  // namespace

std::optional<std::vector<std::string>> read_strings(const Session& session, hid_t type,
                                                     std::uint64_t count, const ReadCells& read) {
  constexpr std::size_t longest = std::size_t{1} << 16;
  const Api& h5 = session.api();
  if (h5.H5Tget_class(type) != H5T_STRING) return std::nullopt;
  if (h5.H5Tis_variable_str(type) > 0) return read_pointers(session, type, count, read);
  const std::size_t length = h5.H5Tget_size(type);
  if (length == 0 || length > longest ||
      count > std::numeric_limits<std::size_t>::max() / longest) {
    return std::nullopt;
  }
  std::vector<char> text(count * length);
  if (read(type, text.data()) < 0) return std::nullopt;
  std::vector<std::string> strings;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view padded(text.data() + i * length, length);
    strings.emplace_back(padded.substr(0, padded.find('\0')));
  }
  return strings;
}

}  // namespace dapple::detail::hdf5
