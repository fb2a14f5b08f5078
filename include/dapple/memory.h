// Memory that open files take.
#pragma once

#include "dapple/blocked_object.h"

namespace dapple {

/// Gives back the pages of the object's file that were read, which count as this process's memory.
/// What is read again comes from the system's cache, if it is still there. Views stay valid.
void let_go(const BlockedObject& object) noexcept;

}  // namespace dapple
