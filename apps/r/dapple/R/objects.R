# Matrices and frames that are open.

setClass("DappleObject", representation("VIRTUAL", path = "character", options = "character",
                                        how = "integer", state = "environment", dim = "integer",
                                        bytes = "numeric", format = "character"))
setClass("DappleMatrix", contains = "DappleObject",
         representation(type = "integer", sparse = "logical", tile = "numeric", named = "logical"))
setClass("DappleFrame", contains = "DappleObject", representation(labels = "character", named = "logical"))

LABEL <- 1L
ROW_NAME <- 4L
COL_NAME <- 5L
ROWS <- 1L
COLUMNS <- 2L
ABSENT <- c(error = 0L, zero = 1L, nan = 2L)
TYPES <- c("u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64")
INTEGER_TYPES <- c("u8", "u16", "i8", "i16", "i32")

# One text that is not NA.
require_text <- function(text, what) {
  if (!is.character(text) || length(text) != 1 || is.na(text)) stop(what, " must be one text")
}

dapple_open <- function(path, ..., absent = c("error", "zero", "nan"), threads = 1L) {
  require_text(path, "the path")
  if (!grepl("^https?://", path)) path <- normalizePath(path, mustWork = FALSE)
  options <- option_strings(list(..., threads = as.integer(threads)))
  handle <- result_of(.Call(C_open, path, options))
  info <- result_of(.Call(C_info, handle))
  if (max(info$rows, info$cols) > .Machine$integer.max) {
    stop("R's matrices have at most ", .Machine$integer.max, " rows and columns; this one is ",
         info$rows, " x ", info$cols)
  }
  state <- new.env(parent = emptyenv())
  state$handle <- handle
  common <- list(path = path, options = options, state = state, format = info$format, bytes = info$bytes,
                 how = c(ABSENT[[match.arg(absent)]], as.integer(threads)),
                 dim = as.integer(c(info$rows, info$cols)))
  if (info$frame) {
    do.call(new, c("DappleFrame", common, list(labels = result_of(.Call(C_texts, handle, LABEL)),
                                               named = info$names)))
  } else {
    do.call(new, c("DappleMatrix", common, list(type = info$type, sparse = info$sparse, tile = info$tile,
                                                named = info$names)))
  }
}

# The handle; an object that was saved and loaded, or sent to another process, opens its file again.
handle_of <- function(x) {
  if (!.Call(C_is_open, x@state$handle)) {
    handle <- result_of(.Call(C_open, x@path, x@options))
    require_same(x, handle)
    x@state$handle <- handle
  }
  x@state$handle
}

# A file that was replaced meanwhile has other cells, or other names, where those of `x` were.
require_same <- function(x, handle) {
  info <- result_of(.Call(C_info, handle))
  same <- all(c(info$rows, info$cols) == x@dim) && info$frame == is(x, "DappleFrame") &&
    identical(info$names, x@named) && info$bytes == x@bytes &&
    (if (info$frame) identical(result_of(.Call(C_texts, handle, LABEL)), x@labels) else info$type == x@type)
  if (!same) stop(x@path, " is another file than the one that was opened; open it again")
}

dapple_attributes <- function(x) {
  stopifnot(is(x, "DappleObject"))
  result_of(.Call(C_attributes, handle_of(x)))
}

setMethod("dim", "DappleObject", function(x) x@dim)
setMethod("length", "DappleMatrix", function(x) prod(x@dim))
setMethod("length", "DappleFrame", function(x) x@dim[2])
# Names are read when they are first asked for.
read_names <- function(x, k, what) {
  kept <- c("row_names", "col_names")[k]
  if (x@named[k] && is.null(x@state[[kept]])) {
    x@state[[kept]] <- result_of(.Call(C_texts, handle_of(x), what))
  }
  x@state[[kept]]
}
setMethod("dimnames", "DappleMatrix", function(x) {
  if (any(x@named)) list(read_names(x, 1, ROW_NAME), read_names(x, 2, COL_NAME))
})
setMethod("dimnames", "DappleFrame", function(x) list(read_names(x, 1, ROW_NAME), x@labels))
setMethod("names", "DappleFrame", function(x) x@labels)

setMethod("show", "DappleObject", function(object) {
  what <- if (is(object, "DappleFrame")) "frame" else paste(TYPES[object@type], "matrix")
  cat(sprintf("<%d x %d %s in %s (%s)>\n", object@dim[1], object@dim[2], what, object@path,
              object@format))
})

# The subscript of one axis, as positions from 1, or NULL for all. `find` gives those of names.
positions <- function(subscript, size, find) {
  if (is.null(subscript)) return(NULL)
  if (is.character(subscript)) {
    found <- find(subscript)
  } else if (anyNA(subscript)) {
    stop("a subscript is NA")
  } else if (is.numeric(subscript) && all(subscript >= 1 & subscript <= size)) {
    found <- as.integer(subscript)
  } else {
    found <- seq_len(size)[subscript]
  }
  if (anyNA(found)) stop("subscript out of bounds")
  found
}

# What `[` was given: nothing means all, and NULL no positions, as of R's own matrices.
subscript <- function(given, value) if (given && is.null(value)) integer() else if (given) value

# The same of rows and columns of a matrix, whose names are looked up in the file.
row_positions <- function(x, i) positions(i, x@dim[1], function(names) find_names(x, ROWS, names))
col_positions <- function(x, j) positions(j, x@dim[2], function(names) find_names(x, COLUMNS, names))

find_names <- function(x, axis, names) {
  found <- result_of(.Call(C_find, handle_of(x), axis, names))
  several <- which(found == 0L)
  if (length(several) > 0) {  # the first one is meant
    all <- read_names(x, axis, if (axis == ROWS) ROW_NAME else COL_NAME)
    found[several] <- match(names[several], all)
  }
  found
}
