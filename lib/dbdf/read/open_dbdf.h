// Opening files of the published DAPHNE binary format.
#pragma once

#include <memory>

#include "dapple/convert.h"
#include "dapple/open.h"
#include "lib/compute/source.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/object_hints.h"
#include "lib/io/byte_sink.h"
#include "lib/object/probe.h"
#include "lib/object/store.h"

namespace dapple::detail::dbdf {

Match recognise_dbdf(const Probe& probe);

/// True for the first bytes of a file of this format or its dialect (lib/foreign/daphne).
bool starts_like_dbdf(std::span<const std::byte> head) noexcept;

/// Spares a file that is fetched in ranges the request for its header, if its index tells that.
void presume_header(ByteSource& file);

/// True for a file that starts like this format and ends like dapple's index. No other format does.
bool has_own_index(const ByteSource& file);

/// Reads the header, then the index at the end of the file, or a fresh sidecar, or walks over the
/// body. Throws corrupt (R1 to R4), io.
std::shared_ptr<const Store> open_dbdf(std::shared_ptr<ByteSource> file,
                                       const OpenOptions& options);

/// Gives the columns their meanings, groups and names from the hints before an index, and the
/// object its attributes and names. Hints may start at byte `first`.
void read_meanings(const std::shared_ptr<const ByteSource>& file, std::uint64_t first,
                   const Trailer& trailer, Schema& schema);

/// A file that dapple wrote in place of another object, whose index this is. Throws corrupt when
/// there is no whole index.
std::shared_ptr<Store> open_import(std::shared_ptr<ByteSource> file, IndexOrigin origin);

/// What a walk over the body finds, whatever index the file has.
struct Scan {
  BlockIndex index;
  FoundHints hints{};
};
Scan scan(const ByteSource& file, std::uint64_t body, const Schema& schema,
          const TakeProgress& progress = {});

/// The file that an entry is of, and how its object is placed in a larger one.
struct Origin {
  const ByteSource& file;
  std::uint64_t first = 0;  // what `Entry::offset` says of byte 0 of the file
  std::uint64_t rows, cols;
  BlockPos at{0, 0};     // its first cell in the larger object
  bool widened = false;  // values are stored in a narrower type than the entry says
};
/// `Driver::confirm` for a block of that file.
void confirm_block(const Store& store, std::uint64_t number, const Entry& entry,
                   const Origin& origin);
/// The entry as the file itself has it, from the block's header. Throws corrupt.
Entry entry_in_file(const Entry& entry, const Origin& origin);

/// How dbdf blocks are confirmed and decoded (decode.cpp).
extern const Driver kDriver;

}  // namespace dapple::detail::dbdf
