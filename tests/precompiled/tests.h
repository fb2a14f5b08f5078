// See lib/precompiled/standard.h.
#include <cmath>
#include <cstdlib>
#include <ranges>
#include <shared_mutex>

#include "dapple/dapple.h"
#include "lib/precompiled/standard.h"
#include "tests/check.h"
