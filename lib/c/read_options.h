// How cells are read, from what a C program says.
#pragma once

#include <limits>
#include <string>

#include "dapple/blocked_object.h"
#include "lib/c/handles.h"

namespace dapple::detail::c {

inline ReadOptions read_options(const dapple_read_options* given) {
  if (given == nullptr) return {};
  if (given->absent < DAPPLE_ABSENT_ERROR || given->absent > DAPPLE_ABSENT_NAN) {
    fail_argument("there is no way " + std::to_string(given->absent) + " to read absent cells");
  }
  const bool all = given->threads == DAPPLE_EVERY_PROCESSOR;
  return {static_cast<Absent>(given->absent), all ? 0 : std::max(1u, given->threads)};
}

}  // namespace dapple::detail::c
