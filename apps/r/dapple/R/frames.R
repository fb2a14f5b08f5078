# Columns of frames.

NUMBER <- 0L
BOOLEAN <- 1L
TIMESTAMP <- 2L
DURATION <- 3L
CATEGORY <- 4L
WORDS <- 5L
TICKS <- c(NA, 1, 1e3, 1e6, 1e9)  # in a second, of each unit but days

# A zone as R has it; "+05:30" in POSIX's way, which counts to the west.
zone_of <- function(zone) {
  if (zone == "") return("UTC")
  if (!grepl("^[+-]", zone)) return(zone)
  paste0("<", sub(":", "", zone), ">", if (startsWith(zone, "+")) "-" else "+", substring(zone, 2))
}

read_column <- function(x, k, rows) {
  handle <- handle_of(x)
  column <- result_of(.Call(C_column, handle, k))
  values <- result_of(.Call(C_values, handle, k, rows, x@how))
  days <- column$unit == 0L
  seconds <- function() values / TICKS[column$unit + 1L]
  if (column$meaning == BOOLEAN) {
    values != 0
  } else if (column$meaning == TIMESTAMP && days) {
    structure(values, class = "Date")
  } else if (column$meaning == TIMESTAMP) {
    structure(seconds(), class = c("POSIXct", "POSIXt"), tzone = zone_of(column$zone))
  } else if (column$meaning == DURATION) {
    structure(if (days) values else seconds(), class = "difftime", units = if (days) "days" else "secs")
  } else if (column$meaning == CATEGORY) {
    kind <- if (column$ordered) c("ordered", "factor") else "factor"
    words <- unique(column$words)  # no two levels of a factor are equal
    structure(match(column$words, words)[values], levels = words, class = kind)
  } else if (column$meaning == WORDS) {
    column$words[values]
  } else if (TYPES[column$type] %in% INTEGER_TYPES && !any(is.nan(values) | values == -2^31, na.rm = TRUE)) {
    as.integer(values)
  } else {
    values
  }
}

# The zone of a file, of R's; times without one are shown in the session's.
zone_in_file <- function(times) {
  zone <- attr(times, "tzone")[1]
  if (is.null(zone) || zone == "") zone <- Sys.timezone()
  if (is.na(zone)) return("UTC")
  sub("^<([+-])(\\d\\d)(\\d\\d)>.*", "\\1\\2:\\3", zone)
}

# What a file stores of a column of a data frame, as C takes it; NA is missing.
stored_column <- function(x, label) {
  refuse <- function(...) stop("column '", label, "' ", ..., call. = FALSE)
  made <- function(values, type, meaning, unit = 0L, zone = "", ordered = FALSE, words = character()) {
    list(label = label, values = values, type = match(type, TYPES), meaning = meaning, unit = unit, zone = zone,
         ordered = ordered, words = words, missing = anyNA(values))
  }
  ticks <- function(values, ...) {
    if (any(abs(values) >= 2^63, na.rm = TRUE)) refuse("holds a time that no 64-bit number of ticks is")
    made(values, "i64", ...)
  }
  if (!is.null(dim(x))) refuse("is itself a ", class(x)[1], "; give its columns to the data frame one by one")
  if (inherits(x, "AsIs")) class(x) <- setdiff(class(x), "AsIs")
  if (inherits(x, "POSIXlt")) x <- as.POSIXct(x)
  if (is.factor(x)) {
    kept <- which(!is.na(levels(x)))  # NA may be a level
    made(match(as.integer(x), kept), "u32", CATEGORY, ordered = is.ordered(x), words = levels(x)[kept])
  } else if (inherits(x, "Date")) {
    ticks(floor(as.double(unclass(x))), TIMESTAMP)
  } else if (inherits(x, "POSIXct")) {
    ticks(round(as.double(unclass(x)) * 1e6), TIMESTAMP, 3L, zone_in_file(x))
  } else if (inherits(x, "difftime")) {
    days <- as.double(x, units = "days")
    if (attr(x, "units") %in% c("days", "weeks") && all(days == floor(days), na.rm = TRUE)) ticks(days, DURATION)
    else ticks(round(as.double(x, units = "secs") * 1e6), DURATION, 3L)
  } else if (inherits(x, "integer64")) {
    column <- made(unclass(x), "i64", NUMBER)
    column$missing <- TRUE  # one of its integers is NA
    column
  } else if (is.object(x)) {
    refuse("is of class ", class(x)[1], ", which no file has; make it numbers, text, a factor or times first")
  } else if (is.character(x)) {
    words <- unique(x[!is.na(x)])
    made(match(x, words), "u32", WORDS, words = words)
  } else if (is.logical(x)) {
    made(x, "u8", BOOLEAN)
  } else if (is.integer(x) || is.raw(x)) {
    made(as.integer(x), "i32", NUMBER)
  } else if (is.double(x)) {
    column <- made(x, "f64", NUMBER)
    column$missing <- any(is.na(x) & !is.nan(x))
    column
  } else {
    refuse("holds ", typeof(x), " values, which no file has")
  }
}

write_frame <- function(x, path, options) {
  columns <- Map(stored_column, unclass(x), names(x), USE.NAMES = FALSE)
  labels <- if (!identical(attr(x, "row.names"), seq_len(nrow(x)))) row.names(x)
  result_of(.Call(C_write_frame, path, nrow(x), columns, c(options, name_strings("row_name", labels))))
}

label_positions <- function(x, j) positions(j, x@dim[2], function(labels) match(labels, x@labels))

frame_of <- function(x, rows, cols) {
  if (is.null(cols)) cols <- seq_len(x@dim[2])
  columns <- lapply(cols, function(k) read_column(x, k, rows))
  labels <- read_names(x, 1, ROW_NAME)
  if (!is.null(rows)) labels <- labels[rows]
  # A data frame has no two rows of one name.
  if (is.null(labels) || anyDuplicated(labels)) {
    labels <- .set_row_names(if (is.null(rows)) x@dim[1] else length(rows))
  }
  structure(columns, names = x@labels[cols], class = "data.frame", row.names = labels)
}

as.data.frame.DappleFrame <- function(x, row.names = NULL, optional = FALSE, ...) {
  made <- frame_of(x, NULL, NULL)
  if (!is.null(row.names)) rownames(made) <- row.names
  made
}
setMethod("as.data.frame", "DappleFrame", as.data.frame.DappleFrame)

setMethod("[", "DappleFrame", function(x, i, j, ..., drop = FALSE) {
  if (nargs() - (!missing(drop)) == 2) {  # x["label"], as of a data frame
    if (!missing(i) && is.matrix(i)) stop("a frame has no matrix of subscripts: x[i, j], or x[j]")
    rows <- NULL
    cols <- label_positions(x, subscript(!missing(i), i))
  } else {
    rows <- row_positions(x, subscript(!missing(i), i))
    cols <- label_positions(x, subscript(!missing(j), j))
  }
  made <- frame_of(x, rows, cols)
  if (drop && length(made) == 1) made[[1]] else made
})

# One column, by its whole label or its number.
setMethod("[[", "DappleFrame", function(x, i, ...) {
  if (length(i) != 1 || nargs() != 2) stop("one column is wanted: x[[label]]")
  frame_of(x, NULL, label_positions(x, i))[[1]]
})
setMethod("$", "DappleFrame", function(x, name) x[[name]])

dapple_where <- function(x, expression) {
  stopifnot(is(x, "DappleFrame"))
  require_text(expression, "the condition")
  as.integer(result_of(.Call(C_where, handle_of(x), expression, x@how)))
}
