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
  all_rows <- is.null(i) || (length(i) == x@dim[1] && is_run(i))
  if (all_rows || is_run(j)) return(sparse_part(x, if (!all_rows) i, list(j)))
  # Only columns that follow each other are read at once: others may be absent, or no reals of R.
  wanted <- sort(unique(j))
  made <- sparse_part(x, i, split(wanted, cumsum(c(TRUE, diff(wanted) != 1L))))
  if (identical(wanted, j)) made else made[, match(j, wanted), drop = FALSE]
}

# Columns that are read run by run.
sparse_part <- function(x, i, runs) {
  parts <- lapply(runs, function(run) result_of(.Call(C_sparse, handle_of(x), i, run, x@how)))
  ends <- cumsum(vapply(parts, function(part) as.double(length(part$x)), 0))
  if (ends[length(ends)] > .Machine$integer.max) {
    stop("a dgCMatrix has at most 2147483647 entries; take fewer rows")
  }
  before <- as.integer(c(0, ends[-length(ends)]))
  p <- c(0L, unlist(Map(function(part, n) part$p[-1] + n, parts, before), use.names = FALSE))
  all <- function(what) unlist(lapply(parts, `[[`, what), use.names = FALSE)
  size <- c(if (is.null(i)) x@dim[1] else length(i), length(p) - 1L)
  new("dgCMatrix", i = all("i"), p = p, x = all("x"), Dim = size)
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
  if (is.data.frame(x)) {
    write_frame(x, path, options)
    return(invisible(path))
  }
  # Their numbers are 64-bit integers in the bytes of reals.
  if (inherits(x, "integer64")) {
    stop("matrices of class integer64 cannot be written; as.double() and as.integer() make numbers of them")
  }
  if (!is(x, "sparseMatrix")) x <- as.matrix(x)
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
