#include <algorithm>
#include <cerrno>
#include <optional>

#include "dapple/error.h"
#include "lib/io/http/http.h"

namespace dapple::detail::http {

namespace {

bool has_scheme(std::string_view text, std::string_view scheme) noexcept {
  const auto is_same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a | 0x20 : a) == b; };
  return text.size() > scheme.size() &&
         std::equal(scheme.begin(), scheme.end(), text.begin(),
                    [&](char wanted, char got) { return is_same(got, wanted); });
}

}  // namespace

bool is_secure(std::string_view address) noexcept { return has_scheme(address, "https://"); }

bool is_address(std::string_view name) noexcept {
  return has_scheme(name, "http://") || is_secure(name);
}

std::string address_beside(const std::string& address, std::string_view name) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  constexpr char kDigits[] = "0123456789ABCDEF";
  const std::size_t path = std::min(address.find_first_of("?#"), address.size());
  std::string made = address.substr(0, address.rfind('/', path) + 1);
  for (const char c : name) {
    if (kPlain.find(c) != kPlain.npos) {
      made += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      made.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
    }
  }
  return made.append(address, path, address.find('#', path) - path);
}

std::string shown(std::string_view address) {
  address = address.substr(0, address.find_first_of("?#"));
  const std::size_t host = std::min(address.find("://"), address.size() - 3) + 3;
  const std::size_t path = std::min(address.find('/', host), address.size());
  const std::size_t user = address.substr(0, path).rfind('@');
  if (user == std::string_view::npos) return std::string(address);
  return std::string(address.substr(0, host)).append(address.substr(user + 1));
}

std::shared_ptr<ByteSource> open_address(const std::string& address, const CacheFolder& folder) {
  if (auto source = find_address(address, folder)) return source;
  throw Error(Errc::io, shown(address), std::nullopt,
              "there is nothing at this address: the server answers with status 404", {}, ENOENT);
}

}  // namespace dapple::detail::http
