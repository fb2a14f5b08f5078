// Objects on web servers and object stores, by their address.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lib/io/byte_source.h"
#include "lib/io/http/piece_cache.h"

namespace dapple::detail::http {

/// True for what starts with http:// or https://.
bool is_address(std::string_view name) noexcept;
/// True for what starts with https://.
bool is_secure(std::string_view address) noexcept;
/// An address for messages: without user and password, and without the query, which in signed
/// addresses is as good as a password.
std::string shown(std::string_view address);

/// Opens what a server has at an address, with two requests, or one if it is small; with none if a
/// cache in `folder` (piece_cache.h), which may have no path, has seen it within a minute and kept
/// its ends. Throws io, and unsupported for a server that does not answer requests for ranges, or
/// without libcurl.
std::shared_ptr<ByteSource> open_address(const std::string& address, const CacheFolder& folder);

}  // namespace dapple::detail::http
