// What the command line advises beyond what an error says. The library knows nothing of flags: it
// names a Remedy, and this is the one place that says which flag asks for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dapple/error.h"

namespace dapple::cli {

/// "--force overwrites it", or nothing.
std::string_view advice(Remedy remedy) noexcept;

/// The same error with its advice in the message.
Error with_advice(const Error& error);

/// The one of `names` that `wanted` is most likely a slip of the pen for; empty when none is close.
std::string closest(std::string_view wanted, const std::vector<std::string_view>& names);

}  // namespace dapple::cli
