// The table of verbs; main.cpp runs them.
#pragma once

#include "cli.h"

namespace dapple::cli {

extern const Verb kInfoVerb, kBlocksVerb, kGetVerb, kConvertVerb, kConcatVerb, kIndexVerb,
    kVerifyVerb, kRepairVerb, kShowVerb, kStatsVerb, kViewVerb, kWhereVerb, kAttributesVerb,
    kPackVerb, kServeVerb, kDatasetVerb, kCollectionVerb;

}  // namespace dapple::cli
