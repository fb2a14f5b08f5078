# Cells of matrices.

read_cells <- function(x, i, j) {
  result_of(.Call(C_read, handle_of(x), i, j, type(x) == "integer", x@how))
}

setMethod("[", "DappleMatrix", function(x, i, j, ..., drop = TRUE) {
  given <- nargs() - (!missing(drop))
  if (given != 3 && !(given == 2 && missing(i))) stop("a matrix has two subscripts: x[i, j]")
  rows <- row_positions(x, subscript(!missing(i), i))
  cols <- col_positions(x, subscript(!missing(j), j))
  cells <- named_cells(x, read_cells(x, rows, cols), rows, cols)
  if (drop) drop(cells) else cells
})

# Cells with the names of their rows and columns.
named_cells <- function(x, cells, rows, cols) {
  names <- dimnames(x)
  if (is.null(names)) return(cells)
  of <- function(all, some) if (is.null(some) || is.null(all)) all else all[some]
  dimnames(cells) <- list(of(names[[1]], rows), of(names[[2]], cols))
  cells
}

all_cells <- function(x) named_cells(x, read_cells(x, NULL, NULL), NULL, NULL)
setMethod("as.matrix", "DappleMatrix", function(x, ...) all_cells(x))
as.matrix.DappleMatrix <- function(x, ...) all_cells(x)

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
  rows <- row_positions(x, i)
  cols <- col_positions(x, j)
  named_cells(x, sparse_cells(x, rows, cols), rows, cols)
}

setAs("DappleMatrix", "dgCMatrix", function(from) dapple_sparse(from))
setAs("DappleMatrix", "sparseMatrix", function(from) dapple_sparse(from))
setAs("DappleMatrix", "matrix", function(from) all_cells(from))

# "option=NAME" of names, of which NA is none.
name_strings <- function(option, names) {
  if (length(names) > 0) sprintf("%s=%s", option, ifelse(is.na(names), "", names))
}

dapple_write <- function(x, path, ...) {
  require_text(path, "the path")
  options <- option_strings(list(...))
  path <- normalizePath(path, mustWork = FALSE)
  if (!is(x, "sparseMatrix")) {
    # Their numbers are 64-bit integers in the bytes of reals.
    if (inherits(x, "integer64") || (is.list(x) && any(vapply(x, inherits, NA, "integer64")))) {
      stop("integers of class integer64 cannot be written; as.double() and as.integer() make numbers of them")
    }
    x <- as.matrix(x)
  }
  options <- c(options, name_strings("row_name", rownames(x)), name_strings("col_name", colnames(x)))
  if (is(x, "sparseMatrix")) {
    rows <- as(as(t(as(x, "dMatrix")), "generalMatrix"), "CsparseMatrix")
    if (!("storage" %in% names(list(...)))) options <- c("storage=csr", options)
    result_of(.Call(C_write_sparse, path, dim(x), rows@p, rows@i, rows@x, options))
  } else {
    if (!is.numeric(x) && !is.logical(x)) stop("only matrices of numbers can be written")
    # R's NA is an integer like others to whoever reads the file: of reals it is a NaN.
    storage.mode(x) <- if (is.double(x) || anyNA(x)) "double" else "integer"
    result_of(.Call(C_write_dense, path, x, options))
  }
  invisible(path)
}
