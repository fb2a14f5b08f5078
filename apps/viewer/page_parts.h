// The files that the page is made of, put into the program by embed.py.
#pragma once

#include <string_view>

namespace dapple::viewer {

extern const std::string_view kPageHtml, kPageStyle, kPageScript;
extern const std::string_view kTableHtml, kTableStyle, kTableScript;  // of frames only
extern const std::string_view kSumScript;                             // of pages without a server
extern const std::string_view kContentsHtml;                          // of collections

}  // namespace dapple::viewer
