# Calls of C: what fails becomes a condition.

CODES <- c("io", "not_recognised", "unsupported", "corrupt", "out_of_range", "absent", "type_mismatch",
           "invalid_argument", "stale_index", "no_memory", "stopped", "internal")

# The result of a C function; a failure is thrown, as a condition of class dapple_io, ..., dapple_error.
result_of <- function(result) {
  if (!inherits(result, "dapple_failure")) return(result)
  kind <- paste0("dapple_", CODES[result$code])
  stop(structure(class = c(kind, "dapple_error", "error", "condition"),
                 list(message = result$message, call = NULL, file = result$file, byte = result$byte,
                      option = result$option)))
}

# "name=value" of named arguments: TRUE is true; a vector gives an option several times.
option_strings <- function(options) {
  if (length(options) == 0) return(character())
  if (is.null(names(options)) || any(names(options) == "")) stop("options need names")
  text <- function(value) {
    if (is.logical(value)) ifelse(value, "true", "false")
    else if (is.numeric(value)) format(value, scientific = FALSE, trim = TRUE)
    else as.character(value)
  }
  unlist(lapply(names(options), function(name) paste0(name, "=", text(options[[name]]))))
}

dapple_version <- function() .Call(C_version)
