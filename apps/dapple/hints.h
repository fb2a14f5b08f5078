// The command line's advice for errors. The library does not know flags: it names an option,
// and this is the only place that maps it to a flag.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dapple/error.h"

namespace dapple::cli {

/// "--force overwrites it", or nothing.
std::string_view advice(std::string_view option) noexcept;

/// The same error with the advice appended to its message.
Error with_advice(const Error& error);

/// The name that is closest to a misspelled one; empty when none is close.
std::string closest(std::string_view wanted, const std::vector<std::string_view>& names);

}  // namespace dapple::cli
