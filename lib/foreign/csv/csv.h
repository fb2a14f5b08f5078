// Delimited text (CSV, TSV) as a matrix or a frame; FORMAT.md in this folder says what is
// accepted, what is written and which types come out.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "dapple/convert.h"
#include "dapple/open.h"
#include "lib/compute/source.h"
#include "lib/foreign/text/import.h"
#include "lib/io/byte_sink.h"
#include "lib/object/probe.h"

namespace dapple::detail::csv {

/// By name only: `.csv`, `.tsv`, and `.txt` if its first line has tabs.
Match recognise_csv(const Probe& probe);

/// True when a file that starts with these bytes might be delimited text, whatever its name.
bool may_be_csv(std::span<const std::byte> head) noexcept;

/// Parses the text once; once more where what comes after the first megabyte is not what that
/// promises: words in a column of numbers, times in a finer unit. Memory: a row of tiles; for each
/// column its label; every different word. Throws corrupt, unsupported and type_mismatch naming
/// line, column and byte; invalid_argument for options that fit no column.
void parse_csv(const std::shared_ptr<ByteSource>& file, const OpenOptions& options,
               texts::Import& import);

/// Writes rows as text; a header line for a frame only. Throws unsupported for an object without
/// columns, and what reading throws.
void write_csv(const Source& source, ByteSink& sink, const ConvertOptions& options);
/// The same with tabs between fields.
void write_tsv(const Source& source, ByteSink& sink, const ConvertOptions& options);

/// Tells of columns of words that would be read as something else: those of truth values or times
/// alone, and those of numbers and missing values alone if no column has other numbers; and of
/// labels that would be read as cells. Throws corrupt for damaged words, and what reading throws.
/// O(columns and words); where cells have to tell, they are read up to the first that does.
void note_mistaken(const Source& source, const std::string& target, const TakeNote& note);

}  // namespace dapple::detail::csv
