#include "workloads/workloads.h"

#include <fmt/format.h>

#include "workloads/tiles.h"

namespace dapple::bench {

namespace {

constexpr Workload kWorkloads[] = {
    {"W1", "What does it cost to reach one cell of a random tile that is in memory?", run_w1},
    {"W2", "Are the cells of a tile as fast to use as plain memory?", run_w2},
    {"W3", "And when the tiles are small, so that finding them is most of the work?", run_w3},
    {"W4", "What does it cost to copy out a region that lies across tiles?", run_w4},
    {"W5", "What does opening a file cost, and does it grow with the number of blocks?", run_w5},
    {"W6", "What does opening cost when the file has no index?", run_w6},
    {"W7", "Are sparse blocks as fast to decode as their bytes are to copy?", run_w7},
    {"W8", "Does reading narrow cells as wide ones keep up with memory?", run_w8},
    {"W9", "Does a cold random access read only what was asked for?", run_w9},
    {"W10", "Do processes share one copy of the file, at full speed?", run_w10},
    {"W11", "Does writing keep up with the plain write of the same cells?", run_w11},
    {"W12", "Is a block found quickly when the partition is irregular?", run_w12},
    {"W13", "Is dapple a good home for BTables, on the table that their authors measure?", run_w13},
    {"W14", "Do other formats go in and out as fast as their bytes can be copied?", run_w14},
    {"W15", "Are rows, columns and cells at random as fast as from arrays in memory?", run_w15},
    {"W16", "Are products with narrow blocks faster than with wide arrays in memory?", run_w16},
    {"W17", "Do statistics of rows and columns keep up with memory?", run_w17},
    {"W18", "Does a search read only the blocks that can hold what is looked for?", run_w18},
    {"W19", "Is a picture there before one has to wait for it?", run_w19},
};

TileFiles tiles_of(Session& session, std::uint32_t tile, std::uint32_t small_tile) {
  const TileShapeOf shape =
      session.quick() ? TileShapeOf{512, small_tile} : TileShapeOf{16384, tile};
  session.describe(fmt::format("{0} x {0} f64 in tiles of {1} x {1}", shape.side, shape.tile));
  return make_tile_files(session, shape);
}

}  // namespace

std::span<const Workload> workloads() { return kWorkloads; }

void run_w1(Session& session) {
  const TileFiles files = tiles_of(session, 256, 64);
  const auto pins = pin(files);
  touch_tiles(session, files);
}

void run_w2(Session& session) {
  const TileFiles files = tiles_of(session, 256, 64);
  const auto pins = pin(files);
  sum_tiles(session, files, 0.97);
}

void run_w3(Session& session) {
  const TileFiles files = tiles_of(session, 32, 32);
  const auto pins = pin(files);
  touch_tiles(session, files);
  sum_tiles(session, files, 0.97);
}

}  // namespace dapple::bench
