// The words of a column of delimited text in a sidecar, where they are used in place.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/io/byte_source.h"
#include "lib/object/dictionary.h"

namespace dapple::detail::csv {

/// Appends words: u64 n, bytes, slots; n x u64 the end of each; the bytes; slots x (u32 code, u32
/// tag), the hash table of the words.
void put_words(const WordTable& words, std::vector<std::byte>& out);

/// Reads what `put_words` wrote to `sidecar`, whose last 8 bytes are its hash. Throws corrupt. A
/// word of it throws io if the sidecar is guarded and was cut.
std::shared_ptr<const WordFinder> read_words(ByteReader& in,
                                             std::shared_ptr<const ByteSource> sidecar);

}  // namespace dapple::detail::csv
