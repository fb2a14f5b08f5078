// Bytes as text.
#pragma once

#include <string>
#include <string_view>

namespace dapple::picture {

std::string base64(std::string_view bytes);

}  // namespace dapple::picture
