#include "lib/dbdf/care/verify_dbdf.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/dbdf/care/inspect.h"
#include "lib/dbdf/care/values.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/head_copy.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/object_hints.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/dbdf/row_directory.h"
#include "lib/dbdf/sidecar.h"
#include "lib/dbdf/statistics.h"
#include "lib/index/entry_summary.h"
#include "lib/object/dictionary.h"

namespace dapple::detail::dbdf {

namespace {

// Checks an index, that of the file itself or of a sidecar, against the blocks that the walk found.
class IndexCheck {
 public:
  IndexCheck(std::shared_ptr<const ByteSource> file, Trailer trailer, std::vector<Error>& findings)
      : file_(std::move(file)), trailer_(std::move(trailer)), findings_(findings) {}

  // Reports an entry that does not match its block, or else a hash that does not match. One finding
  // is enough, since the option is to rebuild the index.
  void run(const Inspection& found, const Schema& schema) {
    const std::size_t before = findings_.size();
    if (found.all_sound()) entries(found, schema);
    if (findings_.size() == before && !is_whole(*file_, trailer_)) {
      report(trailer_.payload, "the index does not match its hash");
    }
  }

 private:
  void entries(const Inspection& truth, const Schema& schema) try {
    EntrySummary summary(schema.rows, schema.cols);
    for (std::uint64_t i = 0; i < truth.sound.size(); ++i) summary.see(truth.by_position(i));
    BlockIndex::Place& place = trailer_.place;
    const auto grid = summary.grid();
    if (place.grid && !(grid && grid->tile == place.grid->tile)) {
      return report(file_->size() - kLine, "the blocks are not tiles of the shape in the index");
    }
    place.grid = place.grid ? grid : std::nullopt;
    place.object = summary.object();
    compare(BlockIndex::in_place(file_, place), truth, summary.counts());
  } catch (const Error& e) {
    if (e.code() == Errc::io) throw;
    findings_.push_back(e);
  }

  void report(std::uint64_t byte, std::string detail) {
    findings_.emplace_back(Errc::corrupt, file_->name(), byte, std::move(detail));
  }

  void compare(const BlockIndex& index, const Inspection& truth, const BlockCounts& real_counts) {
    const std::uint64_t at = trailer_.place.entries, n = truth.sound.size();
    if (index.size() != n) {
      return report(at, "the index has " + counted(index.size(), "block") + ", the file " +
                            std::to_string(n));
    }
    for (std::uint64_t i = 0; i < n; ++i) {
      const Entry said = index.entry(i), real = truth.by_position(i);
      BlockInfo said_info = said.info();
      if (real.kind == BlockKind::empty) said_info.value_type = real.value_type;
      if (said_info != real.info() || said.codec != real.codec) {
        return report(at + i * Entry::kBytes,
                      "the index entry of block " + text(real.pos) + " does not match the block");
      }
      const auto found = index.find(real.pos);
      if (!found || *found != i) {
        return report(at, "the index does not find block " + text(real.pos));
      }
      const std::uint64_t place_in_file = truth.order.empty() ? i : truth.order[i];
      if (index.in_file_order(place_in_file) != i) {
        return report(at, "the index lists the blocks in another order than the file");
      }
    }
    const BlockCounts said = index.counts();
    if (said.empty != real_counts.empty || said.dense != real_counts.dense ||
        said.csr != real_counts.csr || said.coo != real_counts.coo ||
        said.stored != real_counts.stored) {
      report(at, "the index counts other blocks by kind, or stored values, than there are");
    }
  }

  std::shared_ptr<const ByteSource> file_;
  Trailer trailer_;
  std::vector<Error>& findings_;
};

/// Reports whatever is wrong with the sidecar. True when it has hints.
bool check_sidecar(const ByteSource& file, std::uint64_t body, const Schema& schema,
                   const Inspection& found, std::vector<Error>& findings) {
  const Sidecar sidecar = find_sidecar(file, body);
  const auto report = [&](Errc code, std::uint64_t byte, const std::string& what) {
    findings.emplace_back(code, sidecar_path(file.name()).string(), byte,
                          what + "; index " + file.name() + " again to renew it");
  };
  switch (sidecar.state) {
    case SidecarState::none:
      return false;
    case SidecarState::stale:
      report(Errc::stale_index, sidecar.fault, "the sidecar belongs to another state of the file");
      return false;
    case SidecarState::damaged:
      report(Errc::corrupt, sidecar.fault, "the sidecar is damaged");
      return false;
    case SidecarState::fresh:
      break;
  }
  IndexCheck(sidecar.file, sidecar.trailer, findings).run(found, schema);
  try {
    for_each_hint(*sidecar.file, kLine, sidecar.trailer,
                  [&](std::string_view tag, const Hint& hint) {
                    if (is_whole(*sidecar.file, hint)) return;
                    report(Errc::corrupt, hint.offset,
                           "the hint " + std::string(tag) + " does not match its hash");
                  });
    if (const auto stray = find_stray_byte(sidecar)) {
      report(Errc::corrupt, *stray,
             "a byte that belongs neither to a hint nor to the index was changed");
    }
  } catch (const Error& e) {
    if (e.code() != Errc::corrupt) throw;
    report(e.code(), e.offset().value_or(0), "the hints before the index are damaged");
  }
  return sidecar.trailer.hints;
}

/// Calls `check`; what it throws is a finding.
template <class Check>
void collect(std::vector<Error>& findings, const Check& check) {
  try {
    check();
  } catch (const Error& e) {
    if (e.code() == Errc::io) throw;
    findings.push_back(e);
  }
}

/// Reports damaged hints; at Level::payload also damaged contents, impossible meanings, and words
/// that are not UTF-8.
class HintCheck {
 public:
  HintCheck(const std::shared_ptr<ByteSource>& file, const Schema& schema, Level level,
            std::vector<Error>& findings)
      : file_(file), schema_(schema), level_(level), findings_(findings) {}

  void all(std::uint64_t body, const Trailer& trailer) {
    bool names = false;
    std::set<std::string> seen;
    collect(findings_, [&] {
      for_each_hint(*file_, body, trailer, [&](std::string_view tag, const Hint& hint) {
        names |= tag == kColumnsTag && schema_.kind == ObjectKind::matrix;
        if (!seen.emplace(tag).second) {
          findings_.emplace_back(
              Errc::corrupt, file_->name(), hint.offset,
              "the file has the hint " + std::string(tag) + " twice; readers take the last");
        }
        one(tag, hint);
      });
      if (names == trailer.names) return;
      findings_.emplace_back(Errc::corrupt, file_->name(), file_->size() - kLine,
                             "the index is wrong about whether the columns of a matrix have names");
    });
  }
  /// A hint with this tag in a block that a walk found, if it did.
  void found(const char* tag, const std::optional<Entry>& block) {
    if (block) collect(findings_, [&] { one(tag, hint_in(*file_, *block)); });
  }

 private:
  void one(std::string_view tag, const Hint& hint) {
    if (level_ == Level::structure) return;
    if (!is_whole(*file_, hint)) {
      findings_.emplace_back(Errc::corrupt, file_->name(), hint.offset,
                             "the hint " + std::string(tag) + " does not match its hash");
    } else if (tag == kColumnsTag) {
      Schema described = schema_;
      dbdf::read_columns(file_, hint.offset, hint.bytes, described);
      const std::vector<Error> words = words_not_utf8(described, file_->name());
      findings_.insert(findings_.end(), words.begin(), words.end());
    } else if (tag == kAttributesTag) {
      collect(findings_, [&] { dbdf::read_attributes(*file_, hint); });
    } else if (tag == kRowNamesTag) {
      collect(findings_, [&] { read_names(file_, hint, kRowNamesTag, schema_.rows)->verify(); });
    } else if (tag == kColNamesTag) {
      collect(findings_, [&] { read_names(file_, hint, kColNamesTag, schema_.cols)->verify(); });
    }
  }

  const std::shared_ptr<ByteSource>& file_;
  const Schema& schema_;
  Level level_;
  std::vector<Error>& findings_;
};

bool holds_corruption(const std::vector<Error>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Error& e) { return e.code() == Errc::corrupt; });
}

}  // namespace

void verify_hints(const std::shared_ptr<ByteSource>& file, std::uint64_t body, const Schema& schema,
                  std::vector<Error>& findings) {
  const auto trailer = find_trailer(*file, body);
  if (trailer) HintCheck(file, schema, Level::payload, findings).all(body, *trailer);
}

VerifyReport verify_dbdf(const std::shared_ptr<ByteSource>& file, Level level,
                         const TakeProgress& progress) {
  VerifyReport report;
  std::vector<Error>& findings = report.findings;
  std::uint64_t body = 0;
  Schema schema;
  try {
    schema = read_header(*file, body);
  } catch (const Error& e) {
    if (e.code() == Errc::io) throw;
    findings.push_back(e);
    return report;
  }
  Inspection found = inspect(file, body, schema, level, progress);
  report.blocks = found.blocks;
  findings = std::move(found.findings);
  if (findings.empty()) {
    if (const auto absent = absent_cells(found, schema, file->name())) findings.push_back(*absent);
  }
  bool hints = false;
  const auto trailer = find_trailer(*file, body + kPosition + kDenseHeader);
  if (trailer) {
    if (found.index_lies && !found.all_sound()) {
      findings.emplace_back(Errc::corrupt, file->name(), trailer->place.entries,
                            "the index names other blocks than those of the file");
    } else {
      IndexCheck(file, *trailer, findings).run(found, schema);
    }
    HintCheck(file, schema, level, findings).all(body, *trailer);
    if (findings.empty()) {
      collect(findings, [&] { check_head_copy(*file, body, *trailer); });
    }
    hints = trailer->hints;
  } else if (found.had_index) {
    findings.emplace_back(Errc::corrupt, file->name(), file->size() - kLine,
                          "the index trailer does not match its hash or the file, which is read "
                          "without its index; repair the file to rebuild it");
  }
  if (!trailer) {
    HintCheck check(file, schema, level, findings);
    check.found(kColumnsTag, found.hints.columns);
    check.found(kAttributesTag, found.hints.attributes);
    check.found(kRowNamesTag, found.hints.row_names);
    check.found(kColNamesTag, found.hints.col_names);
  }
  hints |= check_sidecar(*file, body, schema, found, findings);
  // Only blocks that are sound have values to compare with.
  const bool codes =
      schema.kind == ObjectKind::frame && found.hints.columns && !holds_corruption(findings);
  hints = hints && findings.empty();
  if (level == Level::payload && (codes || hints)) {
    found = Inspection();  // frees its memory for the index
    const auto store = open_dbdf(file, {});
    if (codes) check_codes(*store, findings);
    if (hints) {
      check_statistics(*store, findings);
      check_row_directory(*store, findings);
    }
  }
  return report;
}

}  // namespace dapple::detail::dbdf
