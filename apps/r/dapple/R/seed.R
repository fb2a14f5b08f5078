# A DappleMatrix as the seed of a DelayedArray: DelayedArray(dapple_open("m.dbdf")).

# Blocks of cells are read in these pieces: tiles, or all of a matrix without a tiling.
setMethod("chunkdim", "DappleMatrix", function(x) {
  if (any(x@tile == 0)) return(NULL)
  as.integer(pmin(x@tile, x@dim))
})

setMethod("is_sparse", "DappleMatrix", function(x) x@sparse)

# Cells that are absent can be NaN among reals only.
setMethod("type", "DappleMatrix", function(x) {
  if (TYPES[x@type] %in% INTEGER_TYPES && x@how[1] != ABSENT[["nan"]]) "integer" else "double"
})

# Positions, or NULL, as integers.
whole <- function(k) if (!is.null(k)) as.integer(k)

setMethod("extract_array", "DappleMatrix", function(x, index) {
  cells <- read_cells(x, whole(index[[1]]), whole(index[[2]]))
  # A part of a matrix must have the type of the whole.
  if (type(x) == "double") storage.mode(cells) <- "double"
  cells
})

setMethod("extract_sparse_array", "DappleMatrix", function(x, index) {
  cells <- sparse_cells(x, whole(index[[1]]), whole(index[[2]]))
  data <- cells@x
  # The number that R calls NA stays a real, as in dense blocks.
  if (type(x) == "integer" && all(data > -2^31, na.rm = TRUE)) storage.mode(data) <- "integer"
  places <- cbind(cells@i + 1L, rep.int(seq_len(ncol(cells)), diff(cells@p)))
  SparseArraySeed(dim(cells), nzindex = places, nzdata = data, check = FALSE)
})
