// Opening files of the published DAPHNE binary format.
#pragma once

#include <memory>

#include "dapple/convert.h"
#include "dapple/open.h"
#include "lib/compute/source.h"
#include "lib/dbdf/object_hints.h"
#include "lib/io/byte_sink.h"
#include "lib/object/probe.h"
#include "lib/object/store.h"

namespace dapple::detail::dbdf {

Match recognise_dbdf(const Probe& probe);

/// True for the first bytes of a file of this format or its dialect (lib/foreign/daphne).
bool starts_like_dbdf(std::span<const std::byte> head) noexcept;

/// True for a file that starts like this format and ends like dapple's index. No other format does.
bool has_own_index(const ByteSource& file);

/// Reads the header, then the index at the end of the file, or a fresh sidecar, or walks over the
/// body. Throws corrupt (R1 to R4), io.
std::shared_ptr<const Store> open_dbdf(std::shared_ptr<ByteSource> file,
                                       const OpenOptions& options);

/// What a walk over the body finds, whatever index the file has.
struct Scan {
  BlockIndex index;
  FoundHints hints{};
};
Scan scan(const ByteSource& file, std::uint64_t body, const Schema& schema,
          const TakeProgress& progress = {});

/// How dbdf blocks are confirmed and decoded (decode.cpp).
extern const Driver kDriver;

}  // namespace dapple::detail::dbdf
