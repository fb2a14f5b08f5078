// dapple: open a matrix or frame of any size in microseconds, take out any rectangle of it.
//
// Start with matrix.h and frame.h; this header includes everything in reading order.
#pragma once

#include "dapple/array.h"           // memory for many values
#include "dapple/block.h"           // one stored rectangle
#include "dapple/blocked_object.h"  // what matrices and frames share
#include "dapple/column.h"          // what a frame's columns mean
#include "dapple/concat.h"          // several objects as one
#include "dapple/convert.h"         // other formats
#include "dapple/error.h"           // what goes wrong
#include "dapple/frame.h"           // reading frames
#include "dapple/gather.h"          // rows and cells at random
#include "dapple/items.h"           // everything in a file, padding included
#include "dapple/matrix.h"          // reading matrices
#include "dapple/open.h"            // any file
#include "dapple/product.h"         // times vectors
#include "dapple/region.h"          // where cells are
#include "dapple/rows.h"            // rows, whatever they are stored as
#include "dapple/sidecar.h"         // an index beside a file
#include "dapple/stats.h"           // minimum, mean, variance
#include "dapple/tiles.h"           // its cells as the caller's type
#include "dapple/value_type.h"      // what a cell can be
#include "dapple/verify.h"          // trust, and repair
#include "dapple/view.h"            // stored values, in place
#include "dapple/where.h"           // cells that meet a condition
#include "dapple/writer.h"          // writing both
