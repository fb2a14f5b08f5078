#include "lib/foreign/idv/idv_origin.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "lib/compute/concat_driver.h"
#include "lib/foreign/idv/idv.h"
#include "lib/foreign/idv/idv_meaning.h"
#include "lib/foreign/idv/idv_values.h"
#include "lib/object/groups.h"

namespace dapple::detail::idv {

namespace {

void collect(const Store& store, std::uint64_t col, Origins& origins) {
  const std::string_view format = store.driver().format;
  if (format == kDriver.format) {
    origins.files.push_back({&store, col, &strip_of(store.state<State>().contents(), col)});
  } else if (format == kConcatFormat) {
    const auto& whole = store.state<ConcatState>();
    if (whole.axis == Axis::columns) {
      const Piece& piece = whole.at(0, col);
      return collect(*piece.store, col - piece.first_col, origins);
    }
    for (const Piece& piece : whole.pieces) collect(*piece.store, col, origins);
  } else {
    origins.others = true;
  }
}

bool is_key(const ValueCodec& codec) noexcept { return codec.key_count > 0; }

/// True when a writer can make one column of both.
bool are_alike(const Origin& a, const Origin& b, ObjectKind kind) {
  const ValueCodec &x = a.column().codec, &y = b.column().codec;
  if (x.vector != y.vector || x.size != y.size || is_key(x) != is_key(y)) return false;
  if (!is_key(x)) return &current_item(*x.item) == &current_item(*y.item);
  // The codes of a matrix are never changed for those of other words.
  return kind == ObjectKind::frame || same_words(a.key_words().get(), b.key_words().get());
}

/// Losses, of each column's name once.
class LossList {
 public:
  void add(std::string_view what, bool of_meaning, std::string_view name) {
    if (!seen_.insert({what, name}).second) return;
    const auto at = std::find_if(losses_.begin(), losses_.end(),
                                 [&](const OwnLoss& loss) { return loss.what == what; });
    OwnLoss& loss = at != losses_.end() ? *at : losses_.emplace_back(OwnLoss{what, of_meaning, {}});
    loss.names.push_back(name);
  }
  std::vector<OwnLoss> take() { return std::move(losses_); }

 private:
  std::set<std::pair<std::string_view, std::string_view>> seen_;
  std::vector<OwnLoss> losses_;
};

constexpr std::string_view kFlat = "keeps the vectors, but not that they have several dimensions";
constexpr std::string_view kWords = "keeps the values of the keys as words";

/// What another format does not keep of a column.
void judge(const Origin& from, LossList& losses) {
  const TocColumn& column = from.column();
  const ValueCodec& codec = column.codec;
  if (parts_of(*codec.item).size() > 1) {
    losses.add("keeps the two parts of each cell as two columns", false, column.name);
  }
  if (from.strip->part == 0 && is_ticks(from.store->schema(), from.col, *codec.item)) {
    losses.add("keeps the times as plain numbers, ticks of 100 ns", true, column.name);
  }
  if (codec.dims.size() > 1) losses.add(kFlat, false, column.name);
  if (!is_key(codec)) return;
  const std::vector<MetadataEntry> metadata = from.metadata();
  const MetadataEntry* const values = find_key_values(column, metadata);
  if (values == nullptr) {
    losses.add("does not keep how many keys there are", true, column.name);
  } else if (!values->codec.text()) {
    losses.add(kWords, true, column.name);
  }
}

/// What a file of this format does not keep of columns that are one again.
void judge_merged(const Source& source, std::uint64_t col, LossList& losses) {
  const Origins origins = origins_of(source, col);
  const ValueCodec codec = merged_codec(origins);
  const bool words = is_key(codec) && source.kind() == ObjectKind::frame;
  for (const Origin& from : origins.files) {
    const TocColumn& column = from.column();
    if (column.codec.dims.size() > 1 && codec.dims.empty()) losses.add(kFlat, false, column.name);
    if (!words) continue;
    const std::vector<MetadataEntry> metadata = from.metadata();
    const MetadataEntry* const values = find_key_values(column, metadata);
    if (values == nullptr || values->codec.text()) continue;
    if (!merged_key_values(origins, source.schema().columns[col].meaning.words.get())) {
      losses.add(kWords, true, column.name);
    }
  }
}

}  // namespace

std::vector<MetadataEntry> Origin::metadata() const {
  MetadataRoom room(contents().header);
  return read_metadata_table(store->file(), contents().header, column(), room);
}

std::shared_ptr<const Dictionary> Origin::key_words() const {
  const Schema& schema = store->schema();
  if (schema.kind == ObjectKind::frame) return schema.columns[col].meaning.words;
  const Contents& file = contents();
  return cells_of(store->shared_file(), file.header, column(), metadata(), 0).meaning.words;
}

Origins origins_of(const Source& source, std::uint64_t col) {
  Origins origins;
  collect(source.store(), source.object_col(col), origins);
  return origins;
}

std::uint64_t whole_column(const Source& source, std::uint64_t col) {
  const Origins first = origins_of(source, col);
  if (!first.own()) return 0;
  for (const Origin& from : first.files) {
    if (!are_alike(first.files.front(), from, source.kind())) return 0;
  }
  const ValueCodec& codec = first.files.front().column().codec;
  const std::uint64_t slots = codec.vector ? codec.size : 1;
  const std::uint64_t n = slots * parts_of(*codec.item).size();
  if (n > source.cols() - col) return 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const Origins here = origins_of(source, col + i);
    if (!here.own() || here.files.size() != first.files.size()) return 0;
    for (std::size_t k = 0; k < here.files.size(); ++k) {
      const Origin &from = here.files[k], &begin = first.files[k];
      const Strip& strip = *from.strip;
      const std::uint64_t slot = strip.first_slot + (from.col - strip.begin);
      const bool same = from.store == begin.store && strip.column == begin.strip->column;
      if (!same || strip.part != i / slots || slot != i % slots) return 0;
    }
  }
  return n;
}

ValueCodec merged_codec(const Origins& origins) {
  ValueCodec codec = origins.files.front().column().codec;
  codec.item = &current_item(*codec.item);
  for (const Origin& from : origins.files) {
    const ValueCodec& next = from.column().codec;
    if (next.dims != codec.dims) codec.dims.clear();
    if (!is_key(codec) || !is_key(next)) {
      codec.key_count = 0;
      continue;
    }
    codec.key_count = std::max(codec.key_count, next.key_count);
    if (size_of(next.item->value_type) > size_of(codec.item->value_type)) codec.item = next.item;
  }
  return codec;
}

std::optional<MetadataBlock> merged_key_values(const Origins& origins, const Dictionary* words) {
  std::optional<MetadataEntry> first;
  for (const Origin& from : origins.files) {
    const std::vector<MetadataEntry> metadata = from.metadata();
    const MetadataEntry* const values = find_key_values(from.column(), metadata);
    if (values == nullptr || values->codec.text()) return std::nullopt;
    if (!first) first = *values;
    if (values->codec.item->title != first->codec.item->title) return std::nullopt;
  }
  const Origin& from = origins.files.front();
  if (!first || !same_words(words, from.key_words().get())) return std::nullopt;
  return copy_metadata(from.store->file(), *first);
}

std::vector<OwnLoss> own_losses(const Source& source, bool back) {
  LossList losses;
  std::set<std::tuple<const Store*, std::uint32_t, std::uint32_t>> judged;
  // A matrix is of one column of each file.
  const std::uint64_t most = source.kind() == ObjectKind::matrix ? 1 : source.cols();
  for (std::uint64_t col = 0; col < std::min(most, source.cols()); ++col) {
    const std::uint64_t whole = back ? whole_column(source, col) : 0;
    if (whole > 0) judge_merged(source, col, losses);
    if (whole > 0) {
      col += whole - 1;
      continue;
    }
    for (const Origin& from : origins_of(source, col).files) {
      if (judged.insert({from.store, from.strip->column, from.strip->part}).second) {
        judge(from, losses);
      }
    }
  }
  return losses.take();
}

}  // namespace dapple::detail::idv
