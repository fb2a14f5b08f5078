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

# Subscripts of every kind mean what they mean to R's own matrices.
own <- matrix(as.double(1:42), 7, dimnames = list(c("a", "b", "NA", "a", "", "f", "g"), c("p", "q", "p", "r", "s", "t")))
m <- dapple_open(dapple_write(own, file_in("subscripts.dbdf"), tile = "3x2"))
stopifnot(identical(m[], own), identical(m[NULL, ], own[NULL, ]), identical(m[, NULL], own[, NULL]))
for (i in list(0, c(0, 3), -2, c(-2, 0), 2.9, 0.5, -1.9, 7.5, TRUE, c(TRUE, FALSE), logical(0), FALSE, factor(c("b", "a")),
               c(2, 2, 1), integer(0), character(0), "a", c("g", "a", "b"))) {
  stopifnot(identical(m[i, ], own[i, ]), identical(m[i, 2:3, drop = FALSE], own[i, 2:3, drop = FALSE]))
  stopifnot(identical(as.matrix(dapple_sparse(m, i, 2:3)), own[i, 2:3, drop = FALSE]))
}
stopifnot(identical(m[, "p"], own[, "p"]), identical(m["b", c("t", "p")], own["b", c("t", "p")]))
for (i in list(8, -1:1, rep(TRUE, 8), "", "c", NA_character_, Inf)) {
  stopifnot(inherits(tryCatch(m[i, ], error = identity, warning = identity), "condition"))
}
fails(m[NA, ], "error", "a subscript is NA")
fails(m[c(1, NA), ], "error", "a subscript is NA")
fails(m[own > 3], "error", "two subscripts")
stopifnot(length(m) == 42, identical(dapple_sparse(m, NULL, 1)@x, unname(own[, 1])))

# Whatever is a matrix of numbers is written.
for (x in list(s > 0, as(s, "nMatrix"), as(s, "TsparseMatrix"), as(s, "RsparseMatrix"), forceSymmetric(s[1:9, 1:9]),
               triu(s), Diagonal(3), Diagonal(x = c(TRUE, FALSE)), as(c(2L, 3L, 1L), "pMatrix"), s[integer(0), ],
               matrix(c(TRUE, FALSE, NA, TRUE), 2), matrix(0, 0, 3), 1:3,
               matrix(c(1, NA, NaN, Inf, -Inf, -0), 2), matrix(0L, 3, 0))) {
  back <- dapple_open(dapple_write(x, file_in("any.dbdf"), overwrite = TRUE))
  wanted <- as.matrix(x)
  stopifnot(identical(dimnames(back), dimnames(wanted)))
  wanted <- unname(wanted) * 1
  found <- unname(as.matrix(back)) * 1
  stopifnot(identical(found, wanted), identical(1 / found, 1 / wanted))
  stopifnot(identical(unname(as.matrix(dapple_sparse(back))), wanted))
}
labelled <- matrix(1:2, 2, dimnames = list(c("a", NA), NULL))
stopifnot(identical(rownames(dapple_open(dapple_write(labelled, file_in("any.dbdf"), overwrite = TRUE))), c("a", "")))
fails(dapple_write(structure(matrix(0), class = "integer64"), file_in("any.dbdf"), overwrite = TRUE), "error", "integer64")
for (path in list(NULL, NA_character_, 3, c("a", "b"))) fails(dapple_open(path), "error", "the path must be one text")

# The number that R calls NA, and absent cells, among integers.
least <- -2^31
npy <- function(path, type, shape, bytes) {
  head <- sprintf("{'descr': %s, 'fortran_order': False, 'shape': (%s), }", type, shape)
  head <- paste0(head, strrep(" ", (-nchar(head) - 11) %% 64), "\n")
  size <- writeBin(nchar(head), raw(), size = 2, endian = "little")
  writeBin(c(as.raw(0x93), charToRaw("NUMPY"), as.raw(1:0), size, charToRaw(head), bytes), path)
  path
}
integers <- function(...) writeBin(c(...), raw(), size = 4, endian = "little")
i4 <- dapple_open(npy(file_in("least.npy"), "'<i4'", "2, 2", c(as.raw(c(0, 0, 0, 0x80)), integers(0L, 5L, 7L))))
wanted <- matrix(c(least, 5, 0, 7), 2)
stopifnot(identical(i4[, ], wanted), identical(as.matrix(dapple_sparse(i4)), wanted), identical(as.matrix(DelayedArray(i4)), wanted))
stopifnot(identical(extract_sparse_array(i4, list(NULL, NULL))@nzdata, c(least, 5, 7)))
stopifnot(identical(extract_sparse_array(i4, list(2L, NULL))@nzdata, c(5L, 7L)))
header <- c(as.raw(c(1, 1)), integers(2L, 0L, 2L, 0L), as.raw(7))
block <- c(integers(0L, 0L, 0L, 0L, 1L, 2L), as.raw(c(1, 7)), integers(3L, 4L))
writeBin(c(header, block), file_in("absent.dbdf"))
fails(dapple_open(file_in("absent.dbdf"))[, ], "dapple_absent", "")
same(dapple_open(file_in("absent.dbdf"), absent = "zero")[, ], matrix(c(3L, 0L, 4L, 0L), 2))
same(dapple_open(file_in("absent.dbdf"), absent = "nan")[, ], matrix(c(3, NaN, 4, NaN), 2))
same(as.matrix(DelayedArray(dapple_open(file_in("absent.dbdf"), absent = "nan"))), matrix(c(3, NaN, 4, NaN), 2))

# What nobody asks for may be absent, or no real of R: here row 3 of columns 2 and 4 is either.
column <- function(col, ...) c(integers(0L, 0L, col - 1L, 0L, length(c(...)), 1L), as.raw(c(1, 7)), integers(...))
writeBin(c(as.raw(c(1, 1)), integers(3L, 0L, 5L, 0L), as.raw(7), column(1L, 1L, 0L, 3L), column(2L, 4L, 5L),
           column(3L, 7L, 8L, 0L), column(4L, 0L, 11L), column(5L, 13L, 14L, 15L)), file_in("holes.dbdf"))
long <- function(...) as.vector(vapply(c(...), function(k) c(k, 0L), integer(2)))
large <- as.raw(c(1, 0, 0, 0, 0, 0, 0x20, 0))
unfit <- npy(file_in("unfit.npy"), "'<i8'", "3, 5", c(integers(long(1L, 4L, 7L, 0L, 13L, 0L, 5L, 8L, 11L, 14L, 3L)), large,
                                                      integers(long(0L)), large, integers(long(15L))))
all <- matrix(c(1, 0, 3, 4, 5, 99, 7, 8, 0, 0, 11, 99, 13, 14, 15), 3)
for (m in list(dapple_open(file_in("holes.dbdf")), dapple_open(unfit))) {
  for (asked in list(list(c(3, 1), c(5, 1, 3)), list(c(3, 3, 2), c(3, 3, 1)), list(1:2, c(2, 4)), list(c(2, 1), 5:1), list(3, c(1, 5)),
                     list(NULL, c(5, 1)), list(1:3, c(3, 1)), list(c(1, 3), 5), list(1:2, c(4, 1, 2, 4)), list(integer(0), c(4, 2)))) {
    i <- if (is.null(asked[[1]])) 1:3 else asked[[1]]
    wanted <- all[i, asked[[2]], drop = FALSE]
    got <- dapple_sparse(m, asked[[1]], asked[[2]])
    stopifnot(validObject(got), identical(as.matrix(got), wanted), identical(got, as(wanted, "dgCMatrix")))
    stopifnot(identical(m[i, asked[[2]], drop = FALSE] + 0, wanted))
  }
  for (asked in list(list(NULL, c(4, 2)), list(c(3, 1), c(2, 4)), list(2:3, c(1, 4)))) {
    fails(dapple_sparse(m, asked[[1]], asked[[2]]), "dapple_error", "")
  }
}

# 64-bit integers of frames are what they are, or an error; so are truth values and codes of words.
frame <- function(type, ...) as.data.frame(dapple_open(npy(file_in("frame.npy"), sprintf("[('a', '%s')]", type), "1,", as.raw(c(...)))))
stopifnot(identical(frame("<i8", 0, 0, 0, 0, 0, 0, 0x20, 0)$a, 2^53), identical(frame("<i8", 0, 0, 0, 0, 0, 0, 0xe0, 0xff)$a, -2^53))
stopifnot(identical(frame("<i8", 0, 0, 0, 0, 0, 0, 0, 0x10)$a, 2^60), identical(frame("<u8", 0, 0, 0, 0, 0, 0, 0, 0x80)$a, 2^63))
for (bytes in list(c(1, 0, 0, 0, 0, 0, 0x20, 0), c(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xdf, 0xff), c(rep(0xff, 7), 0x7f))) {
  fails(frame("<i8", bytes), "dapple_type_mismatch", "column 'a', row 1: it holds an integer beyond 2^53")
}
fails(frame("<u8", rep(0xff, 8)), "dapple_type_mismatch", "column 'a', row 1")
stopifnot(identical(frame("|b1", 1)$a, TRUE))
fails(frame("|b1", 2), "dapple_corrupt", "neither true nor false")
# A column k of the words x and y, in which code 5 is found.
packed <- paste0("1f8b08000000000002036364666680004618cdc890fd1f0d80e4ccc0722e013eba018e2e2e0c140166a87d8c8c8cac8cd82c",
             "d327c732748340b638c00d72f6f7096684da9b00d5318db7f6eecadf138c6026b032a29ac804a513d0f88bd30c6674766dd9",
             "9780e6024634751595f85ddc00a57572ac57df58c49f0173274c7efeba754c6dfe5c33f1fbccd3cf2502dd05d8421c0438ff",
             "0bef7cf16e91bdcc62def3db4366ae40575706a579d1f405bc0bf8fdedd99e5788988388b7d73d7f291afd4ef6000efbe1ea",
             "81980588d3361fcb3ffa22f608c8dd218e9e3e002ffb6c6080020000")
packed <- as.raw(strtoi(substring(packed, seq(1, nchar(packed), 2), seq(2, nchar(packed), 2)), 16))
unpacked <- gzcon(rawConnection(packed))
writeBin(readBin(unpacked, "raw", 10000), file_in("code.dbdf"))
close(unpacked)
same(dapple_open(file_in("code.dbdf"))[c(1, 3), "k"][[1]], c("x", "x"))
fails(dapple_open(file_in("code.dbdf"))[, "k"], "dapple_corrupt", "column 'k', row 2: it holds a code without a word")
# Offsets of zones.
at <- function(zone) format(.POSIXct(0, tz = dapple:::zone_of(zone)), "%Y-%m-%d %H:%M %z")
stopifnot(at("") == "1970-01-01 00:00 +0000", at("+05:30") == "1970-01-01 05:30 +0530", at("-03:00") == "1969-12-31 21:00 -0300")

# An object that was saved opens its file again.
m <- dapple_open(file_in("sparse.dbdf"))
saved <- file_in("m.rds")
saveRDS(m, saved)
stopifnot(identical(as(readRDS(saved), "dgCMatrix"), s))
writeLines(c("a,b", "1,2"), file_in("saved.csv"))
for (path in c(m@path, file_in("saved.csv"))) {  # another file has its place meanwhile
  saveRDS(dapple_open(path), saved)
  if (path == m@path) dapple_write(s[, -1], path, overwrite = TRUE) else writeLines(c("b,a", "1,22"), path)
  fails(readRDS(saved)[1, 1], "error", "is another file than the one that was opened")
}

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
stopifnot(identical(f["height"], d["height"]), identical(f$height, d$height), identical(f[["name"]], d$name))
stopifnot(identical(f[[3]], d$seen), length(f) == 5, nrow(f[NULL, ]) == 0, length(f[, NULL]) == 0)
fails(f$age, "error", "subscript out of bounds")
fails(f[cbind(1, 1)], "error", "matrix of subscripts")
fails(dapple_where(f, c("height > 1", "ok")), "error", "one text")
same(dapple_where(f, 'name = "Ann" and height > 0'), 1L)
fails(f[, "age"], "error", "subscript out of bounds")
fails(dapple_where(f, "age > 3"), "dapple_absent", "age")

# Data frames come back as they were.
written <- function(x, ...) as.data.frame(dapple_open(dapple_write(x, file_in("frame.dbdf"), overwrite = TRUE, ...)))
for (x in list(iris, mtcars, airquality, ToothGrowth, warpbreaks, women, iris[integer(0), ], iris[1, ], iris[, integer(0)],
               esoph, as.data.frame(Titanic, stringsAsFactors = FALSE), data.frame(row.names = c("a", "b")))) {
  class(x) <- "data.frame"
  stopifnot(identical(written(x), x), identical(written(x, pack = "small"), x))
}
noon <- as.POSIXct("2024-02-29 12:00:00.25", tz = "Europe/Oslo") + c(0, NA, 86400, -6e9)
x <- data.frame(day = as.Date(c("1969-12-31", NA, "2024-02-29", "9999-12-31")), at = noon, utc = .POSIXct(noon, tz = "UTC"),
                offset = .POSIXct(noon, tz = dapple:::zone_of("+05:30")),
                days = as.difftime(c(1, NA, -3, 0), units = "days"), secs = as.difftime(c(0.5, NA, -3, 1e6), units = "secs"),
                ok = c(TRUE, NA, FALSE, TRUE), all = c(TRUE, TRUE, FALSE, TRUE), n = c(1L, NA, -2147483647L, 7L),
                real = c(NA, NaN, -0, Inf), none = NA_real_, text = c("\u00e4", NA, "", "x y"),
                size = factor(c("small", NA, "large", "small"), levels = c("small", "medium", "large"), ordered = TRUE),
                few = factor(c("b", "a", "b", "b")), row.names = c("r1", "r2", "r3", "\u00e4"))
y <- written(x)
stopifnot(identical(y, x), identical(is.nan(y$real), is.nan(x$real)), identical(1 / y$real[3], -Inf))
stopifnot(identical(written(x, tile = "2x3"), x), identical(written(x[4:3, 5:2]), x[4:3, 5:2]))
wide <- as.data.frame(matrix(as.double(1:60000), 20))
stopifnot(identical(written(wide), wide))
many <- data.frame(k = 1:200000, s = sprintf("w%d", (1:200000) %% 1000L), x = (1:200000) / 7)
stopifnot(identical(written(many), many))
Sys.setenv(TZ = "America/Lima")
local <- data.frame(at = as.POSIXct("2024-07-01 12:00:00"), long = as.difftime(2, units = "hours"))
stopifnot(written(local)$at == local$at, written(local)$long == local$long)
lists <- data.frame(at = I(as.POSIXlt(c("2024-07-01", "2024-07-02"), tz = "UTC")), r = as.raw(c(255, 0)), f = addNA(factor(c("a", NA))))
stopifnot(written(lists)$at[2] == lists$at[2], identical(written(lists)$r, c(255L, 0L)))
stopifnot(identical(as.character(written(lists)$f), c("a", NA)))
bare <- function(column, n) structure(list(bad = column), class = "data.frame", row.names = seq_len(n))
big <- bare(structure(c(4.94065645841246544e-324, -0), class = "integer64"), 2)  # 1, and NA
stopifnot(identical(written(big)$bad, c(1, NA)))
for (bad in list(list(1), 1i, structure(1, class = "yearmon"), as.POSIXct(Inf, tz = "UTC"), matrix(1:2, 1), package_version("1.0"))) {
  fails(dapple_write(bare(bad, 1), file_in("bad.dbdf")), "error", "column 'bad' ")
}
stopifnot(!file.exists(file_in("bad.dbdf")))
fails(dapple_write(iris, file_in("bad.dbdf"), storage = "csr"), "dapple_invalid_argument", "no option 'storage'")
fails(dapple_write(iris, file_in("frame.dbdf")), "dapple_invalid_argument", "exists")

unlink(folder, recursive = TRUE)
cat("passed\n")
