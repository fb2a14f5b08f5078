// Which machine this is: without it, a figure says nothing.
#pragma once

#include <map>
#include <string>

namespace dapple::bench {

/// Processor, memory, kernel, compiler, date: each a line for people.
std::map<std::string, std::string> describe_machine();

}  // namespace dapple::bench
