// Door: Zarr. The input is the metadata of one array, and after a NUL the bytes that every chunk
// and shard has. They are cells, or an error.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/error.h"
#include "lib/foreign/zarr/array_data.h"
#include "lib/foreign/zarr/hierarchy.h"
#include "lib/io/memory/memory_source.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::zarr_target {

namespace {

using namespace dapple::detail;

class OneArray final : public zarr::Keys {
 public:
  OneArray(std::string_view metadata, std::string_view chunk)
      : Keys("fuzz"), metadata_(metadata), chunk_(chunk) {}
  std::shared_ptr<ByteSource> open(const std::string& key, std::uint64_t) const override {
    const bool meta = key == "zarr.json" || key == ".zarray" || key == ".zmetadata";
    if (key == "zarr.json" && metadata_.find("\"chunk_grid\"") == metadata_.npos) return nullptr;
    if (key.starts_with(".z") && !meta) return nullptr;
    return memory_source(std::as_bytes(std::span(meta ? metadata_ : chunk_)), shown(key));
  }
  bool fetches() const noexcept override { return false; }
  std::vector<std::string> children(const std::string&) const override { return {}; }

 private:
  std::string_view metadata_, chunk_;
};

void read_array(const zarr::Hierarchy& hierarchy, const zarr::Node& node) {
  constexpr std::uint64_t kMost = 1 << 20;
  zarr::ArrayMetadata metadata = zarr::parse_array(node.metadata, node.key);
  if (metadata.shape.empty() || metadata.items() > kMost) return;
  const bool words = metadata.type.words;
  const bool empty = std::count(metadata.shape.begin(), metadata.shape.end(), 0) > 0;
  const bool one = metadata.shape.size() == 1;
  zarr::Slice slice{zarr::Extents(metadata.shape.size()), 0, one ? zarr::Slice::kNone : 1};
  const zarr::ArrayData data(hierarchy.keys(), node.path, std::move(metadata), std::move(slice));
  if (empty) return;
  if (!words) {
    data.chunk(0, 0, true);
    data.chunk((data.rows() - 1) / data.chunk_rows(), (data.cols() - 1) / data.chunk_cols(), false);
  } else if (one && data.rows() < kMost) {
    data.read_words([](std::string_view) {});
  }
}

}  // namespace

FUZZ_TARGET(zarr) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\0'), input.size());
  const auto keys = std::make_shared<const OneArray>(input.substr(0, end),
                                                     input.substr(std::min(end + 1, input.size())));
  try {
    const zarr::Hierarchy hierarchy(keys);
    const auto node = hierarchy.find("");
    if (node && node->is_array) read_array(hierarchy, *node);
    if (node) node->for_schema();
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace dapple::fuzz::zarr_target
