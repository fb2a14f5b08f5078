# What dapple reads is compared with what base R and Matrix make of the same cells.
library(dapple)
library(Matrix)
suppressPackageStartupMessages(library(DelayedArray))

folder <- tempfile("dapple")
dir.create(folder)
file_in <- function(name) file.path(folder, name)
same <- function(a, b) stopifnot(isTRUE(all.equal(a, b, tolerance = 0)), identical(typeof(a), typeof(b)))
fails <- function(code, class, words) {
  error <- tryCatch({ code; NULL }, error = identity)
  stopifnot(inherits(error, class), grepl(words, conditionMessage(error), fixed = TRUE))
}

# Dense matrices of both of R's types.
set.seed(1)
for (cells in list(matrix(rnorm(37 * 23), 37), matrix(sample.int(1000L, 37 * 23, TRUE), 37))) {
  path <- dapple_write(cells, file_in("dense.dbdf"), tile = "10x7", overwrite = TRUE)
  m <- dapple_open(path)
  stopifnot(is(m, "DappleMatrix"), identical(dim(m), dim(cells)))
  same(m[, ], cells)
  same(as.matrix(m), cells)
  same(m[3, 4], cells[3, 4])
  same(m[5:20, ], cells[5:20, ])
  same(m[, 2, drop = FALSE], cells[, 2, drop = FALSE])
  same(m[c(9, 2, 2, 37), c(23, 1, 2, 3)], cells[c(9, 2, 2, 37), c(23, 1, 2, 3)])
  same(m[-(1:30), -1], cells[-(1:30), -1])
  same(m[cells[, 1] > 0, ], cells[cells[, 1] > 0, ])
  same(m[integer(0), ], cells[integer(0), ])
  fails(m[38, 1], "error", "subscript out of bounds")
}
stopifnot(is.integer(m[1, ]))
path <- dapple_write(matrix(c(1L, NA), 1), file_in("na.dbdf"))
same(dapple_open(path)[1, ], c(1, NA))
fails(dapple_open(file_in("none.dbdf")), "dapple_io", "No such file")
fails(dapple_open(path, colour = "red"), "dapple_invalid_argument", "no option 'colour'")
fails(dapple_write(matrix(1), path), "dapple_invalid_argument", "exists")

# Sparse ones.
s <- rsparsematrix(300, 120, 0.05)
for (tile in c("300x120", "64x50")) {
  path <- dapple_write(s, file_in("sparse.dbdf"), tile = tile, overwrite = TRUE)
  m <- dapple_open(path)
  stopifnot(identical(as(m, "dgCMatrix"), s))
  rows <- c(7, 300, 1, 7)
  cols <- c(120, 5, 5, 90)
  stopifnot(identical(dapple_sparse(m, NULL, cols), s[, cols]))
  stopifnot(identical(dapple_sparse(m, 11:50, cols), s[11:50, cols]))
  stopifnot(identical(dapple_sparse(m, rows, NULL), s[rows, ]))
  stopifnot(identical(dapple_sparse(m, rows, cols), s[rows, cols]))
  stopifnot(identical(dapple_sparse(m, 20:30, 40:60), s[20:30, 40:60]))
  stopifnot(validObject(dapple_sparse(m, rows, cols)))
  same(m[rows, cols], as.matrix(s[rows, cols]))
}

# Cells that no block covers, and attributes.
path <- dapple_write(matrix(1:4, 2), file_in("a.dbdf"), attributes = '{"by":"R"}')
stopifnot(dapple_attributes(dapple_open(path)) == '{"by":"R"}')

# Names of rows and columns.
named <- matrix(as.double(1:6), 2, dimnames = list(c("a", "b"), c("x", "y", "\u00e4")))
path <- dapple_write(named, file_in("named.dbdf"))
n <- dapple_open(path)
stopifnot(identical(dimnames(n), dimnames(named)), identical(n[, ], named))
stopifnot(identical(n["b", c("\u00e4", "x")], named["b", c("\u00e4", "x")]))
stopifnot(identical(dapple_sparse(n, "a", NULL), as(named["a", , drop = FALSE], "dgCMatrix")))
stopifnot(identical(dimnames(DelayedArray(n)), dimnames(named)))
fails(n["c", ], "error", "subscript out of bounds")

# An object that was saved opens its file again.
saved <- file_in("m.rds")
saveRDS(m, saved)
stopifnot(identical(as(readRDS(saved), "dgCMatrix"), s))

# Block processing.
grid <- getAutoBlockSize()
invisible(setAutoBlockSize(8 * 40 * 120))
for (cells in list(s, as.matrix(s))) {
  path <- dapple_write(cells, file_in("seed.dbdf"), tile = "64x50", overwrite = TRUE)
  d <- DelayedArray(dapple_open(path))
  stopifnot(is_sparse(d) == is(cells, "sparseMatrix"), identical(chunkdim(d), c(64L, 50L)))
  dense <- as.matrix(cells)
  stopifnot(all.equal(rowSums(d), unname(rowSums(dense))), all.equal(colSums(d), unname(colSums(dense))))
  if (requireNamespace("DelayedMatrixStats", quietly = TRUE)) {
    stopifnot(all.equal(DelayedMatrixStats::colVars(d), apply(dense, 2, var)))
  }
  near <- function(a, b) stopifnot(all.equal(unname(as.matrix(a)), unname(as.matrix(b))))
  near(log1p(abs(d)) * 2, log1p(abs(dense)) * 2)
  near(t(d) %*% matrix(1, nrow(d), 2), t(dense) %*% matrix(1, nrow(d), 2))
  near(d[c(5, 3), 7:9], dense[c(5, 3), 7:9])
}
invisible(setAutoBlockSize(grid))

# Frames: words, times, truth values, missing cells.
writeLines(c("name,born,seen,ok,height", "Ann,2001-02-03,2020-01-02T03:04:05,true,1.5",
             "Bob,,2021-12-31T23:59:59,,", ",1999-12-31,,false,2", "Ann,1970-01-01,2020-01-01T00:00:00,true,-1"),
           file_in("people.csv"))
f <- dapple_open(file_in("people.csv"))
stopifnot(is(f, "DappleFrame"), identical(names(f), c("name", "born", "seen", "ok", "height")))
d <- as.data.frame(f)
same(as.character(d$name), c("Ann", "Bob", NA, "Ann"))
stopifnot(identical(d$born, as.Date(c("2001-02-03", NA, "1999-12-31", "1970-01-01"))))
stopifnot(identical(format(d$seen), c("2020-01-02 03:04:05", "2021-12-31 23:59:59", NA, "2020-01-01 00:00:00")))
same(d$ok, c(TRUE, NA, FALSE, TRUE))
same(d$height, c(1.5, NA, 2, -1))
stopifnot(identical(f[3:1, c("height", "ok")], {
  part <- d[3:1, c("height", "ok")]
  rownames(part) <- NULL
  part
}))
stopifnot(identical(f["height"], d["height"]))
same(dapple_where(f, 'name = "Ann" and height > 0'), 1L)
fails(f[, "age"], "error", "subscript out of bounds")
fails(dapple_where(f, "age > 3"), "dapple_absent", "age")

unlink(folder, recursive = TRUE)
cat("passed\n")
