// The table of workloads, and the parts that several of them share.
#pragma once

#include <span>

#include "harness/session.h"

namespace dapple::bench {

struct TileFiles;

/// Every workload, W1 first.
std::span<const Workload> workloads();

void run_w1(Session& session);
void run_w2(Session& session);
void run_w3(Session& session);
void run_w4(Session& session);
void run_w5(Session& session);
void run_w6(Session& session);
void run_w7(Session& session);
void run_w8(Session& session);
void run_w9(Session& session);
void run_w10(Session& session);
void run_w11(Session& session);
void run_w12(Session& session);
void run_w13(Session& session);
void run_w14(Session& session);
void run_w15(Session& session);
void run_w16(Session& session);
void run_w17(Session& session);
void run_w18(Session& session);
void run_w19(Session& session);

// W1 to W3: one cell of random tiles, and all cells of random tiles.
void touch_tiles(Session& session, const TileFiles& files);
void sum_tiles(Session& session, const TileFiles& files, double least_of_limit);

}  // namespace dapple::bench
