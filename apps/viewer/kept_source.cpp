#include "kept_source.h"

#include <sys/stat.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace dapple::viewer {

namespace {

using nlohmann::json;

/// Each byte as the character of that number: JSON has no other text than UTF-8.
json json_of(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) text += static_cast<char>(0xC0 | byte >> 6);
    text += static_cast<char>(byte < 0x80 ? byte : 0x80 | (byte & 0x3F));
  }
  return text;
}

json json_of(const std::vector<std::string>& list) {
  json array = json::array();
  for (const std::string& bytes : list) array.push_back(json_of(std::string_view(bytes)));
  return array;
}

/// Pairs of a key and the name of what it means.
template <class Kind>
json json_of(const std::map<std::string, Kind>& kinds) {
  json array = json::array();
  for (const auto& [key, kind] : kinds) {
    array.push_back({json_of(std::string_view(key)), dapple::name(kind)});
  }
  return array;
}

// Each of these names every member, so that a new option does not compile before somebody decides
// whether it changes what is read.

json json_of(const CsvOptions& csv) {
  const auto& [header, delimiter, missing_as_nan, missing_words, types, meanings] = csv;
  return json::array({header ? json(*header) : json(), delimiter ? json(int{*delimiter}) : json(),
                      missing_as_nan, json_of(missing_words), json_of(types), json_of(meanings)});
}

json json_of(const FutharkOptions& futhark) {
  const auto& [types, value, frame, first] = futhark;
  return json::array({json_of(types), value ? json(*value) : json(), frame, first});
}

json json_of(const IdvOptions& idv) {
  const auto& [columns, drop_unsupported, keep_hidden] = idv;
  return json::array({json_of(columns), drop_unsupported, keep_hidden});
}

/// `check`, `guard`, `read_ahead` and `threads` change only how.
json json_of(const OpenOptions& options) {
  const auto& [format, array, check, guard, read_ahead, threads, csv, futhark, idv] = options;
  return json::array({json_of(std::string_view(format)), json_of(std::string_view(array)),
                      json_of(csv), json_of(futhark), json_of(idv)});
}

/// What tells whether a file changed.
struct FileState {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;
};

std::optional<FileState> state_of(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return std::nullopt;
  const auto nanoseconds = [](const timespec& t) {
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  };
  return FileState{static_cast<std::uint64_t>(s.st_size), nanoseconds(s.st_mtim),
                   nanoseconds(s.st_ctim)};
}

}  // namespace

std::optional<KeptSource> kept_source(const std::string& path, const OpenOptions& options) {
  const auto file = state_of(path);
  if (!file) return std::nullopt;
  json described;  // by what DAPHNE keeps beside a file
  if (const auto meta = state_of(path + ".meta")) {
    described = json::array({meta->size, meta->modified_ns, meta->changed_ns});
  }
  return KeptSource{file->size, file->modified_ns, file->changed_ns,
                    json::array({json_of(options), described}).dump()};
}

}  // namespace dapple::viewer
