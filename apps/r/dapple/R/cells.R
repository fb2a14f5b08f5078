# Cells of matrices.

read_cells <- function(x, i, j) {
  as_integer <- TYPES[x@type] %in% INTEGER_TYPES
  result_of(.Call(C_read, handle_of(x), i, j, as_integer, x@how))
}

setMethod("[", "DappleMatrix", function(x, i, j, ..., drop = TRUE) {
  if (nargs() - (!missing(drop)) != 3) stop("a matrix has two subscripts: x[i, j]")
  rows <- positions(if (!missing(i)) i, x@dim[1])
  cols <- positions(if (!missing(j)) j, x@dim[2])
  cells <- read_cells(x, rows, cols)
  if (drop) drop(cells) else cells
})

setMethod("as.matrix", "DappleMatrix", function(x, ...) read_cells(x, NULL, NULL))
as.matrix.DappleMatrix <- function(x, ...) read_cells(x, NULL, NULL)

is_run <- function(k) length(k) < 2 || all(diff(k) == 1L)

# The same cells as a dgCMatrix; positions as `positions` gives them.
sparse_cells <- function(x, i, j) {
  cols <- j
  if (!is_run(i) && !is_run(j)) cols <- seq.int(min(j), max(j))
  parts <- result_of(.Call(C_sparse, handle_of(x), i, cols, x@how))
  size <- c(if (is.null(i)) x@dim[1] else length(i), length(parts$p) - 1L)
  made <- new("dgCMatrix", i = parts$i, p = parts$p, x = parts$x, Dim = size)
  if (identical(cols, j)) made else made[, j - min(j) + 1L, drop = FALSE]
}

dapple_sparse <- function(x, i = NULL, j = NULL) {
  stopifnot(is(x, "DappleMatrix"))
  sparse_cells(x, positions(i, x@dim[1]), positions(j, x@dim[2]))
}

setAs("DappleMatrix", "dgCMatrix", function(from) sparse_cells(from, NULL, NULL))
setAs("DappleMatrix", "sparseMatrix", function(from) sparse_cells(from, NULL, NULL))
setAs("DappleMatrix", "matrix", function(from) read_cells(from, NULL, NULL))

dapple_write <- function(x, path, ...) {
  options <- option_strings(list(...))
  path <- normalizePath(path, mustWork = FALSE)
  if (is(x, "sparseMatrix")) {
    rows <- as(as(t(x), "generalMatrix"), "CsparseMatrix")
    if (!("storage" %in% names(list(...)))) options <- c("storage=csr", options)
    result_of(.Call(C_write_sparse, path, dim(x), rows@p, rows@i, as.double(rows@x), options))
  } else {
    x <- as.matrix(x)
    if (!is.numeric(x) && !is.logical(x)) stop("only matrices of numbers can be written")
    # R's NA is an integer like others to whoever reads the file: of reals it is a NaN.
    storage.mode(x) <- if (is.double(x) || anyNA(x)) "double" else "integer"
    result_of(.Call(C_write_dense, path, x, options))
  }
  invisible(path)
}
