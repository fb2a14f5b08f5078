// Objects on web servers and object stores, by their address.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lib/io/byte_source.h"
#include "lib/io/piece_cache.h"

namespace dapple::detail::http {

/// True for what starts with http:// or https://.
bool is_address(std::string_view name) noexcept;
/// True for what starts with https://.
bool is_secure(std::string_view address) noexcept;
/// An address for messages: without user and password, and without the query, which in signed
/// addresses is as good as a password.
std::string shown(std::string_view address);

/// The address of a name in the folder that `address` is in, or is itself if its path ends in a
/// slash. A query is kept: it may be a key to the whole folder.
std::string address_beside(const std::string& address, std::string_view name);

/// Opens what a server has at an address, with a request for its end, or for its first `front`
/// bytes if that is not 0; with none if a cache in `folder` (piece_cache.h), which may have no
/// path, has seen it within a minute and kept its end. Servers that refuse to count from the end
/// are asked once more. Returns nullptr when there is nothing at that address. Throws io, and
/// unsupported for a server that does not answer requests for ranges, or without libcurl.
std::shared_ptr<ByteSource> find_address(const std::string& address, const CacheFolder& folder,
                                         std::uint64_t front = 0);
/// The same. Throws io when there is nothing.
std::shared_ptr<ByteSource> open_address(const std::string& address, const CacheFolder& folder);

}  // namespace dapple::detail::http
