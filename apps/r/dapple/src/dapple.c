/* R's view of the C functions of dapple. Each function here gives its result, or a list of class
 * "dapple_failure", which becomes a condition in R (R/calls.R). Memory that R does not own is freed before
 * anything of R's may fail, but for handles, which R's garbage collector closes. */
#include <dapple/dapple_c.h>

#include <R.h>
#include <Rinternals.h>
#include <R_ext/Rdynload.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static SEXP text_of(const char* text) { return Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8)); }

static SEXP failure(const dapple_error* error) {
  const char* names[] = {"code", "message", "file", "byte", "option", ""};
  SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(list, 0, Rf_ScalarInteger(error->code));
  SET_VECTOR_ELT(list, 1, text_of(error->message));
  SET_VECTOR_ELT(list, 2, text_of(error->file));
  SET_VECTOR_ELT(list, 3,
                 Rf_ScalarReal(error->byte == DAPPLE_NO_BYTE ? NA_REAL : (double)error->byte));
  SET_VECTOR_ELT(list, 4, text_of(error->option));
  Rf_setAttrib(list, R_ClassSymbol, Rf_mkString("dapple_failure"));
  UNPROTECT(1);
  return list;
}

/* A failure of our own. */
static SEXP refuse(int code, const char* message) {
  dapple_error error = {0};
  error.code = code;
  error.byte = DAPPLE_NO_BYTE;
  strncpy(error.message, message, sizeof error.message - 1);
  return failure(&error);
}

/* "name=value" of a character vector, with a NULL after them. R frees it. */
static const char* const* option_list(SEXP options) {
  const R_xlen_t n = XLENGTH(options);
  const char** list = (const char**)R_alloc((size_t)n + 1, sizeof(char*));
  for (R_xlen_t k = 0; k < n; ++k) list[k] = Rf_translateCharUTF8(STRING_ELT(options, k));
  list[n] = NULL;
  return list;
}

static const char* path_of(SEXP path) { return Rf_translateChar(STRING_ELT(path, 0)); }

/* ---- Handles ---------------------------------------------------------------------------------- */

static void close_object(SEXP handle) {
  dapple_object* object = (dapple_object*)R_ExternalPtrAddr(handle);
  R_ClearExternalPtr(handle);
  dapple_close(&object);
}

static dapple_object* object_of(SEXP handle) { return (dapple_object*)R_ExternalPtrAddr(handle); }

static SEXP r_open(SEXP path, SEXP options) {
  dapple_error error;
  dapple_object* object = NULL;
  SEXP handle = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
  R_RegisterCFinalizerEx(handle, close_object, TRUE);
  const int code = dapple_open(path_of(path), option_list(options), &object, &error);
  if (code == DAPPLE_OK) R_SetExternalPtrAddr(handle, object);
  SEXP result = code == DAPPLE_OK ? handle : failure(&error);
  UNPROTECT(1);
  return result;
}

/* A handle in an image that was saved and loaded points to nothing. */
static SEXP r_is_open(SEXP handle) { return Rf_ScalarLogical(object_of(handle) != NULL); }

static SEXP r_version(void) { return Rf_mkString(dapple_version()); }

static SEXP r_info(SEXP handle) {
  dapple_error error;
  dapple_info info;
  if (dapple_get_info(object_of(handle), &info, &error) != DAPPLE_OK) return failure(&error);
  const char* names[] = {"rows", "cols", "tile", "bytes", "format", "frame", "type", "sparse", "names", ""};
  SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(list, 0, Rf_ScalarReal((double)info.rows));
  SET_VECTOR_ELT(list, 1, Rf_ScalarReal((double)info.cols));
  SEXP tile = Rf_allocVector(REALSXP, 2);
  SET_VECTOR_ELT(list, 2, tile);
  REAL(tile)[0] = (double)info.tile_rows;
  REAL(tile)[1] = (double)info.tile_cols;
  SET_VECTOR_ELT(list, 3, Rf_ScalarReal((double)info.bytes));
  SET_VECTOR_ELT(list, 4, text_of(info.format));
  SET_VECTOR_ELT(list, 5, Rf_ScalarLogical(info.kind == DAPPLE_FRAME));
  SET_VECTOR_ELT(list, 6, Rf_ScalarInteger(info.type));
  SET_VECTOR_ELT(list, 7, Rf_ScalarLogical(info.sparse));
  SEXP named = Rf_allocVector(LGLSXP, 2);
  SET_VECTOR_ELT(list, 8, named);
  LOGICAL(named)[0] = info.row_names;
  LOGICAL(named)[1] = info.col_names;
  UNPROTECT(1);
  return list;
}

static SEXP r_attributes(SEXP handle) {
  dapple_error error;
  size_t size = 0;
  if (dapple_get_attributes(object_of(handle), NULL, 0, &size, &error) != DAPPLE_OK) {
    return failure(&error);
  }
  char* text = R_alloc(size + 1, 1);
  if (dapple_get_attributes(object_of(handle), text, size + 1, &size, &error) != DAPPLE_OK) {
    return failure(&error);
  }
  return text_of(text);
}

/* ---- Cells ------------------------------------------------------------------------------------ */

static dapple_read_options read_options(SEXP how) {
  dapple_read_options options;
  options.absent = INTEGER(how)[0];
  options.threads = (uint32_t)INTEGER(how)[1];
  return options;
}

/* Positions along one axis, counted from 1; NULL: all of them. */
typedef struct positions {
  const int* list;
  uint64_t size;
} positions;

static positions positions_of(SEXP given, uint64_t all) {
  positions p = {NULL, all};
  if (given != R_NilValue) {
    p.list = INTEGER(given);
    p.size = (uint64_t)XLENGTH(given);
  }
  return p;
}
static uint64_t position(const positions* p, uint64_t k) {
  return p->list == NULL ? k : (uint64_t)p->list[k] - 1;
}
/* Where the run of positions that follow each other from number k on ends. */
static uint64_t run_end(const positions* p, uint64_t k) {
  if (p->list == NULL) return p->size;
  uint64_t end = k + 1;
  while (end < p->size && p->list[end] == p->list[end - 1] + 1) ++end;
  return end;
}
static int is_run(const positions* p) { return p->size == 0 || run_end(p, 0) == p->size; }

/* The rows as dapple counts them. R frees them. */
static uint64_t* numbers_of(const positions* p) {
  uint64_t* numbers = (uint64_t*)R_alloc((size_t)p->size + 1, sizeof(uint64_t));
  for (uint64_t k = 0; k < p->size; ++k) numbers[k] = position(p, k);
  return numbers;
}

/* Row after row to column after column. */
static void turn(const char* rows, char* columns, size_t size, uint64_t n_rows, uint64_t n_cols) {
  for (uint64_t r = 0; r < n_rows; ++r) {
    for (uint64_t c = 0; c < n_cols; ++c) {
      memcpy(columns + (c * n_rows + r) * size, rows + (r * n_cols + c) * size, size);
    }
  }
}

/* Columns [begin, end) of rows in any order. */
static int gather(const dapple_object* object, const positions* rows, const uint64_t* numbers,
                  uint64_t begin, uint64_t end, int type, size_t size, char* out,
                  const dapple_read_options* options, dapple_error* error) {
  const size_t bytes = size * (size_t)rows->size * (size_t)(end - begin);
  const void* const before = vmaxget();
  char* const buffer = R_alloc(bytes + 1, 1);
  const int code = dapple_gather(object, numbers, (size_t)rows->size, begin, end, type, buffer,
                                 bytes, 0, options, error);
  if (code == DAPPLE_OK) turn(buffer, out, size, rows->size, end - begin);
  vmaxset(before);
  return code;
}

/* Fills `out`, column after column. */
static int read_cells(const dapple_object* object, const positions* rows, const positions* cols,
                      int type, size_t size, char* out, const dapple_read_options* options,
                      dapple_error* error) {
  const int in_order = is_run(rows);
  const uint64_t* numbers = in_order ? NULL : numbers_of(rows);
  const uint64_t first = rows->size > 0 ? position(rows, 0) : 0;
  int code = DAPPLE_OK;
  for (uint64_t k = 0; k < cols->size && code == DAPPLE_OK;) {
    const uint64_t end = run_end(cols, k), col = position(cols, k);
    char* const to = out + size * (size_t)rows->size * (size_t)k;
    if (in_order) {
      const dapple_region region = {first, first + rows->size, col, col + (end - k)};
      const size_t column = size * (size_t)rows->size;
      code = dapple_read(object, &region, type, to, column * (size_t)(end - k), size,
                         column > 0 ? column : size, options, error);
    } else {
      code = gather(object, rows, numbers, col, col + (end - k), type, size, to, options, error);
    }
    k = end;
  }
  return code;
}

/* Cells as an integer or a real matrix. Of 32 bits, one number is what R means by NA: a matrix that has it
 * is real. */
static SEXP r_read(SEXP handle, SEXP i, SEXP j, SEXP as_integer, SEXP how) {
  dapple_error error;
  dapple_info info;
  const dapple_object* const object = object_of(handle);
  if (dapple_get_info(object, &info, &error) != DAPPLE_OK) return failure(&error);
  const positions rows = positions_of(i, info.rows), cols = positions_of(j, info.cols);
  const dapple_read_options options = read_options(how);
  if (Rf_asLogical(as_integer)) {
    SEXP cells = PROTECT(Rf_allocMatrix(INTSXP, (int)rows.size, (int)cols.size));
    const int code = read_cells(object, &rows, &cols, DAPPLE_I32, sizeof(int), (char*)INTEGER(cells),
                                &options, &error);
    UNPROTECT(1);
    if (code != DAPPLE_OK) return failure(&error);
    const R_xlen_t n = XLENGTH(cells);
    R_xlen_t k = 0;
    while (k < n && INTEGER(cells)[k] != NA_INTEGER) ++k;
    if (k == n) return cells;
  }
  SEXP cells = PROTECT(Rf_allocMatrix(REALSXP, (int)rows.size, (int)cols.size));
  const int code = read_cells(object, &rows, &cols, DAPPLE_F64, sizeof(double), (char*)REAL(cells),
                              &options, &error);
  UNPROTECT(1);
  return code == DAPPLE_OK ? cells : failure(&error);
}

/* ---- Sparse cells ----------------------------------------------------------------------------- */

/* i, p and x of a dgCMatrix. */
static SEXP sparse_list(uint64_t entries, uint64_t cols) {
  const char* names[] = {"i", "p", "x", ""};
  SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(list, 0, Rf_allocVector(INTSXP, (R_xlen_t)entries));
  SET_VECTOR_ELT(list, 1, Rf_allocVector(INTSXP, (R_xlen_t)cols + 1));
  SET_VECTOR_ELT(list, 2, Rf_allocVector(REALSXP, (R_xlen_t)entries));
  UNPROTECT(1);
  return list;
}

/* Compressed rows as compressed columns. */
static void turn_sparse(const dapple_arrays* a, uint64_t cols, int* i, int* p, double* x) {
  const double* const values = (const double*)a->values;
  memset(p, 0, sizeof(int) * (size_t)(cols + 1));
  for (uint64_t k = 0; k < a->entries; ++k) ++p[a->idx[k] + 1];
  for (uint64_t c = 0; c < cols; ++c) p[c + 1] += p[c];
  for (uint64_t r = 0; r < a->rows; ++r) {
    for (uint64_t k = a->ptr[r]; k < a->ptr[r + 1]; ++k) {
      const int at = p[a->idx[k]]++;
      i[at] = (int)r;
      x[at] = values[k];
    }
  }
  memmove(p + 1, p, sizeof(int) * (size_t)cols);  /* p[c] has become where column c ends */
  p[0] = 0;
}

static void close_sparse(SEXP handle) {
  dapple_sparse* sparse = (dapple_sparse*)R_ExternalPtrAddr(handle);
  R_ClearExternalPtr(handle);
  dapple_sparse_free(&sparse);
}

/* Columns of all rows. */
static SEXP columns_of(const dapple_arrays* a) {
  SEXP list = PROTECT(sparse_list(a->entries, a->rows));
  int *i = INTEGER(VECTOR_ELT(list, 0)), *p = INTEGER(VECTOR_ELT(list, 1));
  double* x = REAL(VECTOR_ELT(list, 2));
  for (uint64_t c = 0; c <= a->rows; ++c) p[c] = (int)a->ptr[c];
  for (uint64_t k = 0; k < a->entries; ++k) i[k] = (int)a->idx[k];
  if (a->entries > 0) memcpy(x, a->values, sizeof(double) * (size_t)a->entries);
  UNPROTECT(1);
  return list;
}

/* The cells as i, p and x; `j` is of any order if the rows are all, otherwise a run. */
static SEXP r_sparse(SEXP handle, SEXP i, SEXP j, SEXP how) {
  dapple_error error;
  dapple_info info;
  const dapple_object* const object = object_of(handle);
  if (dapple_get_info(object, &info, &error) != DAPPLE_OK) return failure(&error);
  const positions rows = positions_of(i, info.rows), cols = positions_of(j, info.cols);
  const dapple_read_options options = read_options(how);
  const int scattered = !is_run(&cols), rows_in_order = is_run(&rows);
  const uint64_t row = rows.size > 0 ? position(&rows, 0) : 0;
  const uint64_t col = cols.size > 0 ? position(&cols, 0) : 0;
  dapple_sparse* sparse = NULL;
  SEXP kept = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
  R_RegisterCFinalizerEx(kept, close_sparse, TRUE);
  int code;
  if (scattered) {
    code = dapple_gather_columns(object, numbers_of(&cols), (size_t)cols.size, DAPPLE_F64, &options,
                                 &sparse, &error);
  } else if (rows_in_order) {
    const dapple_region region = {row, row + rows.size, col, col + cols.size};
    code = dapple_read_sparse(object, &region, DAPPLE_F64, &options, &sparse, &error);
  } else {
    code = dapple_gather_rows(object, numbers_of(&rows), (size_t)rows.size, col, col + cols.size,
                              DAPPLE_F64, &options, &sparse, &error);
  }
  R_SetExternalPtrAddr(kept, sparse);
  dapple_arrays arrays;
  if (code == DAPPLE_OK) code = dapple_get_arrays(sparse, &arrays, &error);
  SEXP list;
  if (code != DAPPLE_OK) {
    list = failure(&error);
  } else if (arrays.entries > INT_MAX) {
    list = refuse(DAPPLE_UNSUPPORTED, "a dgCMatrix has at most 2147483647 entries; take fewer rows");
  } else if (scattered) {
    list = columns_of(&arrays);
  } else {
    list = PROTECT(sparse_list(arrays.entries, cols.size));
    turn_sparse(&arrays, cols.size, INTEGER(VECTOR_ELT(list, 0)), INTEGER(VECTOR_ELT(list, 1)),
                REAL(VECTOR_ELT(list, 2)));
    UNPROTECT(1);
  }
  PROTECT(list);
  close_sparse(kept);
  UNPROTECT(2);
  return list;
}

/* ---- Columns of frames ------------------------------------------------------------------------ */

/* Labels of columns, or names of rows or columns: `kind` is a dapple_text. */
static SEXP r_texts(SEXP handle, SEXP kind) {
  dapple_error error;
  dapple_info info;
  const dapple_object* const object = object_of(handle);
  const int what = Rf_asInteger(kind);
  if (dapple_get_info(object, &info, &error) != DAPPLE_OK) return failure(&error);
  const uint64_t n = what == DAPPLE_ROW_NAME ? info.rows : info.cols;
  SEXP labels = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
  for (uint64_t k = 0; k < n; ++k) {
    const char* text;
    size_t size;
    if (dapple_get_text(object, what, k, &text, &size, &error) != DAPPLE_OK) {
      UNPROTECT(1);
      return failure(&error);
    }
    SET_STRING_ELT(labels, (R_xlen_t)k, Rf_mkCharLenCE(text, (int)size, CE_UTF8));
  }
  UNPROTECT(1);
  return labels;
}

/* Positions, from 1, of names along an axis; NA: nothing has it; 0: several have it. */
static SEXP r_find(SEXP handle, SEXP axis, SEXP names) {
  dapple_error error;
  const R_xlen_t n = XLENGTH(names);
  SEXP found = PROTECT(Rf_allocVector(INTSXP, n));
  for (R_xlen_t k = 0; k < n; ++k) {
    uint64_t i;
    INTEGER(found)[k] = NA_INTEGER;
    if (STRING_ELT(names, k) == NA_STRING) continue;
    const char* const name = Rf_translateCharUTF8(STRING_ELT(names, k));
    const int code = dapple_find_name(object_of(handle), Rf_asInteger(axis), name, &i, &error);
    if (code != DAPPLE_OK && code != DAPPLE_ABSENT && code != DAPPLE_INVALID_ARGUMENT) {
      UNPROTECT(1);
      return failure(&error);
    }
    if (code != DAPPLE_ABSENT) INTEGER(found)[k] = code == DAPPLE_OK ? (int)i + 1 : 0;
  }
  UNPROTECT(1);
  return found;
}

/* What a column is: meaning, unit, zone, whether ordered, and its words. */
static SEXP r_column(SEXP handle, SEXP number) {
  dapple_error error;
  dapple_column column;
  const dapple_object* const object = object_of(handle);
  const uint64_t col = (uint64_t)INTEGER(number)[0] - 1;
  if (dapple_get_column(object, col, &column, &error) != DAPPLE_OK) return failure(&error);
  const char* names[] = {"meaning", "unit", "zone", "ordered", "words", "type", ""};
  SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(list, 0, Rf_ScalarInteger(column.meaning));
  SET_VECTOR_ELT(list, 1, Rf_ScalarInteger(column.unit));
  SET_VECTOR_ELT(list, 2, text_of(column.zone));
  SET_VECTOR_ELT(list, 3, Rf_ScalarLogical(column.ordered));
  SET_VECTOR_ELT(list, 4, Rf_allocVector(STRSXP, (R_xlen_t)column.words));
  SET_VECTOR_ELT(list, 5, Rf_ScalarInteger(column.type));
  for (uint64_t k = 0; k < column.words; ++k) {
    const char* text;
    size_t size;
    if (dapple_get_word(object, col, k, &text, &size, &error) != DAPPLE_OK) {
      UNPROTECT(1);
      return failure(&error);
    }
    SET_STRING_ELT(VECTOR_ELT(list, 4), (R_xlen_t)k, Rf_mkCharLenCE(text, (int)size, CE_UTF8));
  }
  UNPROTECT(1);
  return list;
}

static size_t size_of_type(int type) {
  static const unsigned char sizes[] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
  return sizes[type];
}

/* Stored value number k as a double; 0 where that does not hold it exactly. */
static int load(int type, const char* values, uint64_t k, double* out) {
  switch (type) {
/* `end` is the first double beyond the type, which a large integer may be rounded to. */
#define DAPPLE_LOAD(code, kind, end)              \
  case code: {                                    \
    kind v;                                       \
    memcpy(&v, values + k * sizeof v, sizeof v);  \
    *out = (double)v;                             \
    return *out < (end) ? (kind)*out == v : 0;    \
  }
    DAPPLE_LOAD(DAPPLE_U64, uint64_t, 18446744073709551616.0)
    DAPPLE_LOAD(DAPPLE_I64, int64_t, 9223372036854775808.0)
#undef DAPPLE_LOAD
#define DAPPLE_LOAD(code, kind)                  \
  case code: {                                   \
    kind v;                                      \
    memcpy(&v, values + k * sizeof v, sizeof v); \
    *out = (double)v;                            \
    return 1;                                    \
  }
    DAPPLE_LOAD(DAPPLE_U8, uint8_t)
    DAPPLE_LOAD(DAPPLE_U16, uint16_t)
    DAPPLE_LOAD(DAPPLE_U32, uint32_t)
    DAPPLE_LOAD(DAPPLE_I8, int8_t)
    DAPPLE_LOAD(DAPPLE_I16, int16_t)
    DAPPLE_LOAD(DAPPLE_I32, int32_t)
    DAPPLE_LOAD(DAPPLE_F32, float)
    DAPPLE_LOAD(DAPPLE_F64, double)
#undef DAPPLE_LOAD
  }
  return 0;
}

/* What is wrong with a value of a column that is not missing; NULL: nothing. Times in nanoseconds are rounded, other
 * numbers not. */
static const char* fault_of(const dapple_column* column, double value, int exact) {
  switch (column->meaning) {
    case DAPPLE_TIMESTAMP:
    case DAPPLE_DURATION:
      return NULL;
    case DAPPLE_BOOLEAN:
      return value == 0 || value == 1 ? NULL : "a number that is neither true nor false";
    case DAPPLE_CATEGORY:
    case DAPPLE_WORDS:
      return value >= 1 && value <= (double)column->words ? NULL : "a code without a word";
    default:
      return exact ? NULL : "an integer beyond 2^53 that R's numbers do not hold exactly";
  }
}

/* The column's fault, as the library words it. */
static SEXP refuse_value(const dapple_object* object, uint64_t col, uint64_t row, int meaning, const char* fault) {
  dapple_error error;
  const char* label = NULL;
  size_t size = 0;
  char text[256];
  if (dapple_get_text(object, DAPPLE_LABEL, col, &label, &size, &error) != DAPPLE_OK) return failure(&error);
  snprintf(text, sizeof text, "column '%.*s', row %.0f: it holds %s", size > 100 ? 0 : (int)size, label, (double)row + 1,
           fault);
  return refuse(meaning == DAPPLE_NUMBER ? DAPPLE_TYPE_MISMATCH : DAPPLE_CORRUPT, text);
}

/* Rows of one column as reals, missing cells as NA. */
static SEXP r_values(SEXP handle, SEXP number, SEXP i, SEXP how) {
  dapple_error error;
  dapple_info info;
  dapple_column column;
  const dapple_object* const object = object_of(handle);
  const uint64_t col = (uint64_t)INTEGER(number)[0] - 1;
  if (dapple_get_info(object, &info, &error) != DAPPLE_OK ||
      dapple_get_column(object, col, &column, &error) != DAPPLE_OK) {
    return failure(&error);
  }
  const positions rows = positions_of(i, info.rows), cols = {INTEGER(number), 1};
  const dapple_read_options options = read_options(how);
  const size_t size = size_of_type(column.type);
  char* const stored = R_alloc((size_t)rows.size * size + 1, 1);
  if (read_cells(object, &rows, &cols, column.type, size, stored, &options, &error) != DAPPLE_OK) {
    return failure(&error);
  }
  SEXP values = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)rows.size));
  double* const out = REAL(values);
  for (uint64_t k = 0; k < rows.size; ++k) {
    if (column.has_missing && memcmp(&column.missing, stored + k * size, size) == 0) {
      out[k] = NA_REAL;
      continue;
    }
    const int exact = load(column.type, stored, k, &out[k]);
    const char* const fault = fault_of(&column, out[k], exact);
    if (fault == NULL) continue;
    UNPROTECT(1);
    return refuse_value(object, col, position(&rows, k), column.meaning, fault);
  }
  UNPROTECT(1);
  return values;
}

/* ---- Searches --------------------------------------------------------------------------------- */

/* Rows found, counted from 1; they grow in memory of R's. */
typedef struct found {
  double* rows;
  size_t size, room;
} found;

static int32_t take_rows(void* context, const uint64_t* rows, size_t n) {
  found* const f = (found*)context;
  if (n > f->room - f->size) {
    const size_t room = 2 * f->room + n;
    double* const larger = realloc(f->rows, room * sizeof(double));
    if (larger == NULL) return 1;
    f->rows = larger;
    f->room = room;
  }
  for (size_t k = 0; k < n; ++k) f->rows[f->size + k] = (double)rows[k] + 1;
  f->size += n;
  return 0;
}

static SEXP r_where(SEXP handle, SEXP expression, SEXP how) {
  dapple_error error;
  found rows = {NULL, 0, 0};
  const dapple_read_options options = read_options(how);
  const char* const text = Rf_translateCharUTF8(STRING_ELT(expression, 0));
  const int code =
      dapple_where_rows(object_of(handle), text, take_rows, &rows, NULL, &options, &error);
  if (code != DAPPLE_OK) {
    free(rows.rows);
    return failure(&error);
  }
  SEXP result = Rf_allocVector(REALSXP, (R_xlen_t)rows.size);
  if (rows.size > 0) memcpy(REAL(result), rows.rows, rows.size * sizeof(double));
  free(rows.rows);
  return result;
}

/* ---- Writing ---------------------------------------------------------------------------------- */

static SEXP finish(dapple_writer** writer, int code, dapple_error* error) {
  if (code == DAPPLE_OK) code = dapple_finish(*writer, error);
  dapple_abandon(writer);
  return code == DAPPLE_OK ? R_NilValue : failure(error);
}

static SEXP r_write_dense(SEXP path, SEXP cells, SEXP options) {
  dapple_error error;
  dapple_writer* writer = NULL;
  const int is_real = TYPEOF(cells) == REALSXP, type = is_real ? DAPPLE_F64 : DAPPLE_I32;
  const size_t size = is_real ? sizeof(double) : sizeof(int);
  const uint64_t rows = (uint64_t)Rf_nrows(cells), cols = (uint64_t)Rf_ncols(cells);
  const void* const first = is_real ? (const void*)REAL(cells) : (const void*)INTEGER(cells);
  int code = dapple_create(path_of(path), rows, cols, type, option_list(options), &writer, &error);
  if (code == DAPPLE_OK && rows > 0 && cols > 0) {
    code = dapple_put(writer, 0, 0, rows, cols, type, first, size, size * (size_t)rows, &error);
  }
  return finish(&writer, code, &error);
}

/* p, i and x are those of the transposed matrix, and so compressed rows. */
static SEXP r_write_sparse(SEXP path, SEXP dim, SEXP p, SEXP i, SEXP x, SEXP options) {
  dapple_error error;
  dapple_writer* writer = NULL;
  const uint64_t rows = (uint64_t)INTEGER(dim)[0], cols = (uint64_t)INTEGER(dim)[1];
  const size_t entries = (size_t)XLENGTH(i);
  uint64_t* const ptr = (uint64_t*)R_alloc((size_t)rows + 1, sizeof(uint64_t));
  uint64_t* const idx = (uint64_t*)R_alloc(entries + 1, sizeof(uint64_t));
  for (uint64_t r = 0; r <= rows; ++r) ptr[r] = (uint64_t)INTEGER(p)[r];
  for (size_t k = 0; k < entries; ++k) idx[k] = (uint64_t)INTEGER(i)[k];
  int code = dapple_create(path_of(path), rows, cols, DAPPLE_F64, option_list(options), &writer, &error);
  if (code == DAPPLE_OK && rows > 0 && cols > 0) {
    code = dapple_put_sparse(writer, 0, 0, rows, cols, DAPPLE_F64, ptr, idx, REAL(x), &error);
  }
  return finish(&writer, code, &error);
}

/* The element of a list with that name. */
static SEXP element(SEXP list, const char* name) {
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t k = 0; k < XLENGTH(list); ++k) {
    if (strcmp(CHAR(STRING_ELT(names, k)), name) == 0) return VECTOR_ELT(list, k);
  }
  return R_NilValue;
}

static int whole(SEXP list, const char* name) { return Rf_asInteger(element(list, name)); }

static const char* text_in(SEXP list, const char* name) {
  return Rf_translateCharUTF8(STRING_ELT(element(list, name), 0));
}

/* The bits that mark a missing value of the types that R's values are stored in. */
static uint64_t mark_of(int type) {
  switch (type) {
    case DAPPLE_U8:
      return 2; /* of truth values */
    case DAPPLE_I32:
      return UINT64_C(1) << 31;
    case DAPPLE_I64:
      return UINT64_C(1) << 63;
    default:
      return UINT64_C(0x7ff80000000007a2); /* as R's own NA, but quiet */
  }
}

/* What a column is, as R/frames.R describes it. */
static dapple_frame_column frame_column(SEXP described) {
  dapple_frame_column column = {0};
  SEXP words = element(described, "words");
  column.label = text_in(described, "label");
  column.zone = text_in(described, "zone");
  column.n_words = (size_t)XLENGTH(words);
  const char** const list = (const char**)R_alloc(column.n_words + 1, sizeof(char*));
  for (R_xlen_t k = 0; k < XLENGTH(words); ++k) list[k] = Rf_translateCharUTF8(STRING_ELT(words, k));
  column.words = list;
  column.type = whole(described, "type");
  column.meaning = whole(described, "meaning");
  column.unit = whole(described, "unit");
  column.ordered = whole(described, "ordered");
  column.has_missing = column.type != DAPPLE_U32 && whole(described, "missing");
  column.missing = mark_of(column.type);
  return column;
}

/* Stores R's values of a column, of which NA is none. */
static void store(SEXP values, const dapple_frame_column* column, char* out) {
  const uint64_t mark = mark_of(column->type);
  const R_xlen_t n = XLENGTH(values);
  for (R_xlen_t k = 0; k < n; ++k) {
    switch (column->type) {
      case DAPPLE_U8:
        out[k] = (char)(LOGICAL(values)[k] == NA_LOGICAL ? (int)mark : LOGICAL(values)[k]);
        break;
      case DAPPLE_U32: /* codes, of which 0 is none */
        ((uint32_t*)out)[k] = INTEGER(values)[k] == NA_INTEGER ? 0 : (uint32_t)INTEGER(values)[k];
        break;
      case DAPPLE_I32: /* R's NA is the mark */
        ((int*)out)[k] = INTEGER(values)[k];
        break;
      case DAPPLE_I64:
        if (column->meaning == DAPPLE_NUMBER) { /* of class integer64, whose NA is the mark */
          memcpy(out + 8 * k, &REAL(values)[k], 8);
        } else {
          ((int64_t*)out)[k] = ISNAN(REAL(values)[k]) ? INT64_MIN : (int64_t)REAL(values)[k];
        }
        break;
      default:
        memcpy(out + 8 * k, R_IsNA(REAL(values)[k]) ? (const void*)&mark : &REAL(values)[k], 8);
    }
  }
}

/* The columns, those of one type that follow each other at once, in pieces of 64 MiB: they share tiles. */
static int put_columns(dapple_writer* writer, uint64_t rows, const dapple_frame_column* columns, SEXP described,
                       dapple_error* error) {
  const size_t n = (size_t)XLENGTH(described), most = (size_t)64 << 20;
  for (size_t k = 0, end; k < n && rows > 0; k = end) {
    const size_t size = size_of_type(columns[k].type), bytes = size * (size_t)rows;
    for (end = k + 1; end < n && columns[end].type == columns[k].type && (end - k + 1) * bytes <= most;) ++end;
    char* const cells = malloc((end - k) * bytes);
    if (cells == NULL) {
      memset(error, 0, sizeof *error);
      error->code = DAPPLE_NO_MEMORY;
      error->byte = DAPPLE_NO_BYTE;
      strcpy(error->message, "no memory for a column that is written");
      return error->code;
    }
    for (size_t c = k; c < end; ++c) {
      store(element(VECTOR_ELT(described, (R_xlen_t)c), "values"), &columns[c], cells + (c - k) * bytes);
    }
    const int code = dapple_put(writer, 0, k, rows, end - k, columns[k].type, cells, size, bytes, error);
    free(cells);
    if (code != DAPPLE_OK) return code;
  }
  return DAPPLE_OK;
}

static SEXP r_write_frame(SEXP path, SEXP rows, SEXP described, SEXP options) {
  dapple_error error;
  dapple_writer* writer = NULL;
  const size_t n = (size_t)XLENGTH(described);
  const uint64_t size = (uint64_t)Rf_asReal(rows);
  dapple_frame_column* const columns = (dapple_frame_column*)R_alloc(n + 1, sizeof(dapple_frame_column));
  for (size_t k = 0; k < n; ++k) columns[k] = frame_column(VECTOR_ELT(described, (R_xlen_t)k));
  const char* const* const list = option_list(options);
  int code = dapple_create_frame(path_of(path), size, columns, n, list, &writer, &error);
  if (code == DAPPLE_OK) code = put_columns(writer, size, columns, described, &error);
  return finish(&writer, code, &error);
}

/* ---- What R calls ------------------------------------------------------------------------------ */

#define DAPPLE_CALL(name, n) {#name, (DL_FUNC)&r_##name, n}
static const R_CallMethodDef kCalls[] = {
    DAPPLE_CALL(open, 2),        DAPPLE_CALL(is_open, 1),      DAPPLE_CALL(version, 0),
    DAPPLE_CALL(info, 1),        DAPPLE_CALL(attributes, 1),   DAPPLE_CALL(read, 5),
    DAPPLE_CALL(sparse, 4),      DAPPLE_CALL(texts, 2),        DAPPLE_CALL(column, 2),
    DAPPLE_CALL(values, 4),      DAPPLE_CALL(where, 3),        DAPPLE_CALL(write_dense, 3),
    DAPPLE_CALL(write_sparse, 6), DAPPLE_CALL(write_frame, 4), DAPPLE_CALL(find, 3),
    {NULL, NULL, 0}};

void R_init_dapple(DllInfo* info) {
  R_registerRoutines(info, NULL, kCalls, NULL, NULL);
  R_useDynamicSymbols(info, FALSE);
  R_forceSymbols(info, TRUE);
}
