#include "lib/dbdf/care/verify_dbdf.h"

#include <optional>
#include <string>

#include "lib/dbdf/care/inspect.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/sidecar.h"

namespace dapple::detail::dbdf {

namespace {

// Compares an index with the blocks that the walk found. One finding tells enough: the cure is
// the same for all.
void check_index(const BlockIndex& index, const BlockIndex& truth, const std::string& file,
                 std::uint64_t at, std::vector<Error>& findings) {
  const auto report = [&](std::uint64_t byte, const std::string& detail) {
    findings.emplace_back(Errc::corrupt, file, byte, detail);
  };
  if (index.size() != truth.size()) {
    report(at, "expected an index of " + std::to_string(truth.size()) + " blocks, got " +
                   std::to_string(index.size()));
    return;
  }
  for (std::uint64_t i = 0; i < truth.size(); ++i) {
    const Entry said = index.entry(i), real = truth.entry(i);
    const bool same_type = real.kind == BlockKind::empty || said.value_type == real.value_type;
    BlockInfo said_info = said.info(), real_info = real.info();
    said_info.value_type = real_info.value_type;
    if (said_info != real_info || !same_type) {
      report(at + i * Entry::kBytes, "expected an entry for block " + text(real.pos) +
                                         " as its header has it, got one that differs");
      return;
    }
    const auto found = index.find(real.pos);
    if (!found || *found != i) {
      report(at, "expected the index to find block " + text(real.pos) + ", got another or none");
      return;
    }
    if (index.in_file_order(i) != truth.in_file_order(i)) {
      report(at, "expected the index to list the blocks in file order, got another order");
      return;
    }
  }
  const BlockCounts said = index.counts(), real = truth.counts();
  if (said.empty != real.empty || said.dense != real.dense || said.csr != real.csr ||
      said.coo != real.coo || said.stored != real.stored) {
    report(at,
           "expected the index's counts of blocks by kind to be those of the blocks, got "
           "others");
  }
}

void check_absent(const Inspection& found, const Schema& schema, const std::string& file,
                  std::vector<Error>& findings) {
  __extension__ using Area = unsigned __int128;
  Area covered = 0;
  for (std::uint64_t i = 0; i < found.sound.size(); ++i) {
    const Entry e = found.sound[i];
    covered += Area{e.rows} * e.cols;
  }
  const Area all = Area{schema.rows} * schema.cols;
  if (covered >= all) return;
  const Area missing = all - covered;
  const bool few = missing <= ~std::uint64_t{0};
  findings.emplace_back(
      Errc::absent, file, std::nullopt,
      "expected blocks that cover all " + std::to_string(schema.rows) + " x " +
          std::to_string(schema.cols) + " cells (R7), got none for " +
          (few ? std::to_string(static_cast<std::uint64_t>(missing)) : "more than 2^64") +
          " of them");
}

// The trailer's own bytes are damaged, or the index is another one than it was made for.
void check_trailer(const MappedFile& file, const std::optional<Trailer>& trailer, bool expected,
                   std::vector<Error>& findings) {
  if (trailer && !is_whole(file, *trailer)) {
    findings.emplace_back(Errc::corrupt, file.name(), trailer->payload,
                          "expected an index that fits its hash, got another");
  } else if (!trailer && expected) {
    findings.emplace_back(Errc::corrupt, file.name(), file.size() - kLine,
                          "expected an index trailer whose fields fit its hash and the file, "
                          "got one that does not; the file reads without its index");
  }
}

// What the trailer points to is damaged, or lies.
void check_entries(const std::shared_ptr<MappedFile>& file, const Trailer& trailer,
                   const BlockIndex& truth, std::vector<Error>& findings) {
  BlockIndex::Place place = trailer.place;
  if (place.grid && truth.grid() && place.grid->tile == truth.grid()->tile) {
    place.grid = truth.grid();
  } else if (place.grid) {
    findings.emplace_back(Errc::corrupt, file->name(), file->size() - kLine,
                          "expected the tile shape of the blocks in the index, got another");
    return;
  }
  if (trailer.even && !truth.lies_evenly()) {
    findings.emplace_back(Errc::corrupt, file->name(), file->size() - kLine,
                          "expected tiles that lie evenly, as the index has it, got others");
  }
  check_index(BlockIndex::in_place(file, place), truth, file->name(), place.entries, findings);
}

}  // namespace

VerifyReport verify_dbdf(const std::shared_ptr<MappedFile>& file, Level level,
                         const TakeProgress& progress) {
  VerifyReport report;
  std::uint64_t body = 0;
  Schema schema;
  try {
    schema = read_header(*file, body);
  } catch (const Error& e) {
    if (e.code() == Errc::io) throw;
    report.findings.push_back(e);
    return report;
  }
  Inspection found = inspect(file, body, schema, level, progress);
  report.blocks = found.blocks;
  report.findings = std::move(found.findings);
  if (report.findings.empty()) check_absent(found, schema, file->name(), report.findings);
  const auto trailer = find_trailer(*file, body + kPosition + kDenseHeader);
  check_trailer(*file, trailer, found.had_index, report.findings);
  if (found.index_lies && found.blocks != found.sound.size()) {
    report.findings.emplace_back(Errc::corrupt, file->name(), trailer->place.entries,
                                 "expected an index that names the blocks of the file, got others");
  } else if (trailer && found.blocks == found.sound.size() && found.lost == 0) {
    const BlockIndex truth =
        BlockIndex::from_entries(std::move(found.sound), schema.rows, schema.cols, file->name());
    try {
      check_entries(file, *trailer, truth, report.findings);
    } catch (const Error& e) {
      if (e.code() == Errc::io) throw;
      report.findings.push_back(e);
    }
  }
  if (find_sidecar(*file, body).state == SidecarState::stale) {
    report.findings.emplace_back(Errc::stale_index, sidecar_path(file->name()).string(),
                                 std::nullopt,
                                 "expected the index of this state of " + file->name() +
                                     ", got another's; 'dapple index' renews it");
  }
  return report;
}

}  // namespace dapple::detail::dbdf
