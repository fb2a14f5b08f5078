// See lib/precompiled/standard.h.
#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

#include "../../lib/precompiled/standard.h"
#include "dapple/dapple.h"
