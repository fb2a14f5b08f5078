// Frames with words, dates and truth values in W14.
#pragma once

#include "harness/session.h"

namespace dapple::bench {

/// Imports CSV files with such columns, and reads a category column of the result.
void measure_text_columns(Session& session);

}  // namespace dapple::bench
