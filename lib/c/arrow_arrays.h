// Arrow schemas and arrays that own what they point to, whoever holds them. Consumers
// release them in any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/array.h"
#include "dapple/arrow_abi.h"

namespace dapple::detail::c {

/// Appends `text`, with U+FFFD for each byte that is not UTF-8: Arrow's strings have no place for
/// it.
void append_text(std::string& out, std::string_view text);

/// Text as Arrow has it: the bytes of all, and where each ends.
struct Texts {
  Array<std::int64_t> offsets;
  std::string bytes;
};

/// Children of a schema or an array, which end with it but for those that were moved elsewhere.
template <class Arrow>
struct Children {
  std::vector<Arrow> children;
  std::vector<Arrow*> pointers;

  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() {
    for (Arrow& child : children) {
      if (child.release != nullptr) child.release(&child);
    }
  }
};

/// The memory of a schema.
struct SchemaData : Children<ArrowSchema> {
  std::string name, format;
  std::string metadata;  // packed as Arrow has them; empty: none
};

/// A schema that owns `data`, in which the name and the children are set. Values may be missing.
ArrowSchema make_schema(std::string format, std::unique_ptr<SchemaData> data);

/// The memory of an array.
struct ArrayData : Children<ArrowArray> {
  Array<std::byte> values;
  Array<std::uint8_t> valid;  // bits; none where nothing is missing
  std::int64_t nulls = 0;
  std::shared_ptr<const Texts> texts;
  std::shared_ptr<const Texts> words;  // its dictionary, which any number of batches share
  std::vector<const void*> buffers;
};

/// An array that owns `data`, with a dictionary where `words` is set.
ArrowArray make_array(std::uint64_t rows, std::unique_ptr<ArrayData> data);

}  // namespace dapple::detail::c
