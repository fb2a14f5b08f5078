#include "lib/foreign/npz/npz.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/foreign/arrays/choice.h"
#include "lib/foreign/npy/npy.h"
#include "lib/foreign/npz/scipy_matrix.h"
#include "lib/foreign/zip/zip.h"

namespace dapple::detail::npz {

namespace {

constexpr std::string_view kEnding = ".npy";

bool is_array(const Member& member) { return member.name.ends_with(kEnding); }

std::string_view array_name(const Member& member) {
  return std::string_view(member.name).substr(0, member.name.size() - kEnding.size());
}

/// The name of the first member, as far as the head of the file shows it.
std::string_view first_name(const Probe& probe) {
  constexpr std::size_t name_length = 26, name = 30;
  const std::string_view head(reinterpret_cast<const char*>(probe.head.data()), probe.head.size());
  if (head.size() < name) return {};
  return head.substr(name, load_le<std::uint16_t>(probe.head.data() + name_length));
}

}  // namespace

Match recognise_npz(const Probe& probe) {
  const std::string_view head(reinterpret_cast<const char*>(probe.head.data()), probe.head.size());
  const bool named = probe.extension == ".npz";
  if (head.starts_with("PK\x03\x04") && (named || first_name(probe).ends_with(kEnding))) {
    return Match::by_content;
  }
  return named ? Match::by_name : Match::no;
}

std::shared_ptr<const Store> open_npz(std::shared_ptr<ByteSource> file,
                                      const OpenOptions& options) {
  const std::vector<Member> members = read_directory(*file);
  if (options.array.empty() && is_scipy_matrix(members)) {
    return open_scipy_matrix(std::move(file), members);
  }
  std::vector<const Member*> found;
  for (const Member& member : members) {
    if (is_array(member)) found.push_back(&member);
  }
  if (found.empty()) {
    throw Error(Errc::unsupported, file->name(), std::nullopt, "the archive holds no arrays");
  }
  const auto chosen = std::find_if(found.begin(), found.end(), [&](const Member* member) {
    return options.array.empty()
               ? found.size() == 1
               : array_name(*member) == options.array || member->name == options.array;
  });
  arrays::Choices names;
  for (const Member* member : found) names.found.push_back({std::string(array_name(*member))});
  if (chosen == found.end()) {
    throw Error(Errc::invalid_argument, file->name(), std::nullopt,
                options.array.empty()
                    ? "the archive holds " + counted(found.size(), "array") + ": " + names.listed()
                    : "the archive has no array '" + options.array + "', only " + names.listed(),
                "array");
  }
  const Contents contents = contents_of(file, std::array{*chosen});
  const auto store = npy::open_member(contents.file, contents.members[0]);
  store->set_format("npz");
  store->set_contents(names.contents());
  return store;
}

std::vector<arrays::Listed> list_npz(const std::shared_ptr<ByteSource>& file) {
  const std::vector<Member> members = read_directory(*file);
  std::vector<arrays::Listed> all;
  if (is_scipy_matrix(members)) return all;
  for (const Member& member : members) {
    if (!is_array(member)) continue;
    all.push_back({std::string(array_name(member)), [file, member] {
                     const Contents contents = contents_of(file, std::array{&member});
                     return npy::open_member(contents.file, contents.members[0]);
                   }});
  }
  return all;
}

void check_sums(const ByteSource& file, std::vector<Error>& findings) {
  for (const Member& member : read_directory(file)) {
    if (!is_array(member)) continue;
    try {
      zip::require_sum(file, member);
    } catch (const Error& e) {
      if (e.code() == Errc::io) throw;
      findings.push_back(e);
    }
  }
}

}  // namespace dapple::detail::npz
