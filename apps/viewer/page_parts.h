// The files that the page is made of, put into the program by embed.py.
#pragma once

#include <string_view>

namespace dapple::viewer {

extern const std::string_view kPageHtml, kPageStyle, kPageScript;

}  // namespace dapple::viewer
