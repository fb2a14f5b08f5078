# 100 random columns of a sparse matrix, beside HDF5Array reading the same cells:
#
#     Rscript columns.R DAPPLE [FOLDER]      DAPPLE: the command; the package dapple is installed
#
# HDF5Array reads an H5SparseMatrix, which is stored column by column, not compressed, and the dense chunks that
# it writes by default. dapple reads a file of row bands, and the same one with the copy by column of
# `dapple index`. What is compared is processor time, of files in memory; every answer is the matrix's.
suppressPackageStartupMessages({ library(Matrix); library(HDF5Array); library(rhdf5); library(dapple) })
given <- commandArgs(TRUE)
folder <- tempfile(tmpdir = if (length(given) > 1) given[2] else "/dev/shm")
dir.create(folder)
at <- function(name) file.path(folder, name)

set.seed(1)
rows <- 30000L
cols <- 4000L
counts <- rsparsematrix(rows, cols, 0.03, rand.x = function(n) 1 + rgeom(n, 0.5))
picked <- lapply(1:5, function(k) sample(cols, 100))
truth <- lapply(picked, function(some) counts[, some])

invisible(h5createFile(at("sparse.h5")))
invisible(h5createGroup(at("sparse.h5"), "x"))
for (name in c("data", "indices", "indptr", "shape")) {
  array <- switch(name, data = counts@x, indices = counts@i, indptr = counts@p, shape = dim(counts))
  h5createDataset(at("sparse.h5"), paste0("x/", name), length(array), storage.mode = storage.mode(array),
                  chunk = min(65536L, length(array)), level = 0)
  h5write(array, at("sparse.h5"), paste0("x/", name))
}
setAutoRealizationBackend("HDF5Array")
invisible(writeHDF5Array(counts, at("dense.h5"), "x"))
invisible(dapple_write(counts, at("bands.dbdf")))
invisible(file.copy(at("bands.dbdf"), at("copied.dbdf")))
stopifnot(system2(given[1], c("index", "--columns", at("copied.dbdf")), stdout = NULL, stderr = NULL) == 0)

# Opened anew each time; the least of the runs, for 100 columns.
seconds <- function(open, take) {
  best <- Inf
  for (k in seq_along(picked)) {
    gc(FALSE)
    h5errorHandling("normal")  # rhdf5 2.42 may have left another one, with which HDF5Array opens nothing
    used <- system.time(got <- take(open(), picked[[k]]))
    stopifnot(all(as(got, "CsparseMatrix") == truth[[k]]))
    best <- min(best, sum(used[c("user.self", "sys.self")]))
  }
  best
}
columns <- function(x, some) as(x[, some], "dgCMatrix")
theirs <- c(
  H5SparseMatrix = seconds(function() H5SparseMatrix(at("sparse.h5"), "x"), columns),
  "dense chunks" = seconds(function() HDF5Array(at("dense.h5"), "x", as.sparse = TRUE), columns))
sparse <- function(x, some) dapple_sparse(x, NULL, some)
ours <- c(
  "copy by column" = seconds(function() dapple_open(at("copied.dbdf")), sparse),
  "row bands" = seconds(function() dapple_open(at("bands.dbdf")), sparse))
unlink(folder, recursive = TRUE)

cat(sprintf("HDF5Array %s; dapple %s; %d x %d, %d entries\n", packageVersion("HDF5Array"), dapple_version(),
            rows, cols, length(counts@x)))
for (a in names(ours)) for (b in names(theirs)) {
  cat(sprintf("100 columns, %s: %.1f ms, x HDF5Array's %s: %.1f\n", a, 1000 * ours[[a]], b, theirs[[b]] / ours[[a]]))
}
