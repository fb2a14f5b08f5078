// dapple: open a matrix or frame of any size in microseconds and read any rectangle of it.
//
// Start with matrix.h and frame.h; this header includes all of the API. In comments and messages,
// R1 to R8 are the rules of the file format, listed in lib/dbdf/FORMAT.md.
#pragma once

#include "dapple/array.h"           // uninitialised memory for results
#include "dapple/arrow.h"           // frames as Arrow streams
#include "dapple/block.h"           // one stored rectangle
#include "dapple/blocked_object.h"  // what matrices and frames have in common
#include "dapple/collection.h"      // several objects under one name
#include "dapple/column.h"          // labels, types and meanings of a frame's columns
#include "dapple/concat.h"          // several objects as one
#include "dapple/convert.h"         // converting between formats, appending rows
#include "dapple/csv.h"             // cells and labels as fields of a csv file
#include "dapple/dataset.h"         // many files as one object, written by many
#include "dapple/error.h"           // the exception that everything throws
#include "dapple/format_options.h"  // options of single formats, as text
#include "dapple/frame.h"           // reading frames
#include "dapple/gather.h"          // lists of rows, columns and cells in any order
#include "dapple/matrix.h"          // reading matrices
#include "dapple/memory.h"          // giving back memory that files take
#include "dapple/open.h"            // opening files of any format
#include "dapple/packing.h"         // what packing would save
#include "dapple/product.h"         // matrix-vector and matrix-matrix products
#include "dapple/range_reader.h"    // bytes that the caller reads, opened like a file
#include "dapple/region.h"          // ranges, rectangles, positions
#include "dapple/rows.h"            // streaming rows of any block kind
#include "dapple/sidecar.h"         // an index, or a copy by column, beside a file
#include "dapple/stats.h"           // minimum, maximum, mean, variance
#include "dapple/tiles.h"           // tiles as the caller's type, for hot loops
#include "dapple/value_type.h"      // the types of cells
#include "dapple/verify.h"          // checking and repairing files
#include "dapple/version.h"         // DAPPLE_VERSION
#include "dapple/view.h"            // stored values, in place
#include "dapple/where.h"           // finding cells that meet a condition
#include "dapple/where_rows.h"      // finding rows of a frame by conditions on its columns
#include "dapple/writer.h"          // writing matrices and frames
