// dapple in C, and so in any language that calls C.
//
// Functions return DAPPLE_OK or another dapple_code, and then fill `error`, which may be NULL. What
// they were to fill instead is unspecified, but for handles, which are left as they were. No
// exception crosses. A NULL where something is needed, a handle of another kind, and a range that
// ends before it begins are DAPPLE_INVALID_ARGUMENT.
//
// Objects, rows, columns and entries are counted from 0, ranges are half-open, sizes are in bytes
// unless said otherwise. Text is UTF-8, and ends with a 0 unless said otherwise.
//
// Threads: any number of threads may use one dapple_object, and put into one dapple_writer, at the
// same time; a dapple_sparse is for one thread at a time. Closing a handle needs it alone.
//
// Options of opening and writing are a list of "name=value" that ends with a NULL; NULL: none.
// Names that do not exist, and values that an option cannot have, are DAPPLE_INVALID_ARGUMENT.
//
// Functions are exported with the version DAPPLE_1, and keep what they do.
#ifndef DAPPLE_C_H
#define DAPPLE_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dapple_object dapple_object;  // a matrix or a frame that is open
typedef struct dapple_sparse dapple_sparse;  // sparse cells in three arrays
typedef struct dapple_writer dapple_writer;  // a matrix that is being written
struct ArrowArrayStream;                     // of Arrow (dapple/arrow_abi.h)

typedef enum dapple_code {
  DAPPLE_OK = 0,
  DAPPLE_IO = 1,              // the system, a server or a reader refused; the message tells why
  DAPPLE_NOT_RECOGNISED = 2,  // in no format that dapple knows
  DAPPLE_UNSUPPORTED = 3,     // a feature of a format that dapple does not read or write
  DAPPLE_CORRUPT = 4,         // the bytes break a rule of their format
  DAPPLE_OUT_OF_RANGE = 5,    // a row, column, word or region outside the object
  DAPPLE_ABSENT = 6,          // no block covers the cell; nothing has the label or the name
  DAPPLE_TYPE_MISMATCH = 7,   // a value does not fit the type exactly; a frame, not a matrix
  DAPPLE_INVALID_ARGUMENT = 8,
  DAPPLE_STALE_INDEX = 9,  // an index beside the file that belongs to another state of it
  DAPPLE_NO_MEMORY = 10,
  DAPPLE_STOPPED = 11,  // a callback asked to stop
  DAPPLE_INTERNAL = 12  // an exception that dapple does not know, thrown by a callback
} dapple_code;

#define DAPPLE_NO_BYTE UINT64_MAX

/// Why a call failed. Texts that are too long are cut. `file` has the bytes of the name; those that
/// are no UTF-8 are U+FFFD in `message`.
typedef struct dapple_error {
  int32_t code;
  int32_t error_number;  // the system's, such as ENOENT; 0: it gave none
  uint64_t byte;         // of the file; DAPPLE_NO_BYTE: the error is not about one
  char option[32];  // what would make the call succeed, or has a wrong value: "overwrite"; "": none
  char file[480];   // "": the error is not about one
  char message[1024];  // a sentence, with the file and the byte
} dapple_error;

/// The types of cells, by the codes that files have.
typedef enum dapple_type {
  DAPPLE_U8 = 1,
  DAPPLE_U16 = 2,
  DAPPLE_U32 = 3,
  DAPPLE_U64 = 4,
  DAPPLE_I8 = 5,
  DAPPLE_I16 = 6,
  DAPPLE_I32 = 7,
  DAPPLE_I64 = 8,
  DAPPLE_F32 = 9,
  DAPPLE_F64 = 10
} dapple_type;

/// What to do with cells that no block covers.
typedef enum dapple_absent {
  DAPPLE_ABSENT_ERROR = 0,
  DAPPLE_ABSENT_ZERO = 1,
  DAPPLE_ABSENT_NAN = 2  // where floats are copied to dense memory, and in statistics
} dapple_absent;

/// "0.3.0". Never fails; the text is static.
const char* dapple_version(void);

// ---- Opening --------------------------------------------------------------------------------

/// Opens the file, or the address, `path`, of any format, and gives a handle to `*object`, to be
/// closed by `dapple_close`. Options:
///   format=NAME          what the file is; otherwise told from its bytes and name
///   array=NAME           which one of several: a member of an archive, a path in HDF5
///   check=WHEN           hashes are compared: never (usual), first_touch or always
///   guard=true           a file that is changed while it is open is an error, not a SIGBUS
///   read_ahead=false     for a few scattered cells of a file that is larger than memory
///   threads=N            that go through a text; 0: one per processor
///   cache=FOLDER         keeps what is fetched of addresses there, at most cache_bytes=N
///   csv.header=true      the first line holds labels; false: it does not
///   csv.delimiter=C      one character, or "tab"
///   csv.skip=N           lines at the start that are no part of the table
///   csv.comment=T        lines that start with T are none of it
///   csv.decimal=C        "." or ","
///   csv.missing_as_nan=true
///   csv.missing_word=W   a field that is missing, too; may be given several times
///   csv.type=LABEL=TYPE  of a column, several times: "f32", or "boolean", "timestamp", "duration",
///                        "category", "text"; a number or "*" in place of a label
///   futhark.type=TYPE (several times), futhark.value=N, futhark.frame=true, futhark.first=true
///   idv.column=NAME (several times), idv.drop_unsupported=true, idv.keep_hidden=true
/// Errors: io, not_recognised, unsupported, corrupt, invalid_argument; absent and out_of_range when
/// the file has no such column (idv.column) or value (futhark.value).
int32_t dapple_open(const char* path, const char* const* options, dapple_object** object,
                    dapple_error* error);

/// The same of the `size` bytes of a file at `bytes`, which are used where they are: they must
/// neither move nor change until `release(context)` is called, once, by any thread: when the object
/// and the streams made of it are gone, or before this call returns an error. `release` may be
/// NULL. Errors call the bytes `name`.
int32_t dapple_open_memory(const void* bytes, size_t size, void (*release)(void* context),
                           void* context, const char* name, const char* const* options,
                           dapple_object** object, dapple_error* error);

/// Bytes [offset, offset + size), and where they go.
typedef struct dapple_range {
  uint64_t offset;
  uint64_t size;
  void* to;
} dapple_range;

/// Bytes that the caller reads. Functions are called by any thread, `read` by several at once.
typedef struct dapple_reader {
  void* context;
  /// How many bytes there are, or a negative number -E, E one of errno.h. Called once.
  int64_t (*size)(void* context);
  /// Fills all `n` ranges, at once as far as possible, and returns the number of bytes in all, or
  /// -E. Any other number than was asked for is DAPPLE_IO. Ranges may be of many megabytes.
  int64_t (*read)(void* context, const dapple_range* ranges, size_t n);
  /// As for `dapple_open_memory`. May be NULL.
  void (*release)(void* context);
} dapple_reader;

/// The same of bytes that `reader`, which is copied, reads in ranges: both ends when it is opened,
/// the rest when it is needed. The bytes must not change before `release`.
int32_t dapple_open_reader(const dapple_reader* reader, const char* name,
                           const char* const* options, dapple_object** object, dapple_error* error);

/// Closes the object and sets `*object` to NULL. Does nothing for NULLs. Pointers that were had
/// from the object end with it; streams go on.
void dapple_close(dapple_object** object);

typedef enum dapple_kind { DAPPLE_MATRIX = 1, DAPPLE_FRAME = 2 } dapple_kind;

/// Which cells are meant.
typedef enum dapple_axis { DAPPLE_ALL = 0, DAPPLE_ROWS = 1, DAPPLE_COLUMNS = 2 } dapple_axis;

typedef struct dapple_info {
  uint64_t rows, cols;
  uint64_t blocks;                // that hold cells
  uint64_t tile_rows, tile_cols;  // 0: the blocks form no regular tiling
  uint64_t bytes;                 // of the file
  uint64_t contents;              // objects that the file holds, as far as it says
  const char* format;             // "dbdf"; as long as the object
  int32_t kind;                   // dapple_kind
  int32_t type;                   // of a matrix; 0: a frame
  int32_t sparse;                 // 1: declared as a sparse matrix
  int32_t row_names;              // 1: rows have names, and
  int32_t col_names;              //   columns of a matrix; those of a frame have labels
  int32_t reserved[3];
} dapple_info;

/// What the object is. Reads no cell. O(1); the first call reads the names of rows and columns
/// where they are no table in the file (AnnData). Errors: corrupt, when names are damaged; io.
int32_t dapple_get_info(const dapple_object* object, dapple_info* info, dapple_error* error);

typedef enum dapple_text {
  DAPPLE_LABEL = 1,     // of column i of a frame
  DAPPLE_CONTENT = 2,   // the name of object i that the file holds, as the option `array` takes it
  DAPPLE_NOTE = 3,      // something about the file that users should know, or ""; i is 0
  DAPPLE_ROW_NAME = 4,  // of row i; "": it has none
  DAPPLE_COL_NAME = 5   // of column i of a matrix
} dapple_text;

/// Points `*text` to a text of `*size` bytes, which belongs to the object and lasts as long. A name
/// is not followed by a 0, other texts are; a label has the bytes of the file, UTF-8 or not. O(1)
/// once names were read, as by `dapple_get_info`. Errors: out_of_range, absent for an object
/// without names, type_mismatch for labels of a matrix, invalid_argument, corrupt, io.
int32_t dapple_get_text(const dapple_object* object, int32_t what, uint64_t i, const char** text,
                        size_t* size, dapple_error* error);

/// Sets `*i` to the row, or the column of a matrix, that has a name; `axis` is DAPPLE_ROWS or
/// DAPPLE_COLUMNS. O(1), but O(bytes of all names) for the first that nothing has, since damage
/// must not hide one. Errors: absent; invalid_argument when several have it; corrupt, io.
int32_t dapple_find_name(const dapple_object* object, int32_t axis, const char* name, uint64_t* i,
                         dapple_error* error);

/// Copies the user's attributes, a JSON object ("{}": none), to `text`, which has `room` bytes,
/// with a 0; `*size` gets their size without it. With less room than `*size` + 1 nothing is copied,
/// and `text` may be NULL if `room` is 0. Errors: corrupt.
int32_t dapple_get_attributes(const dapple_object* object, char* text, size_t room, size_t* size,
                              dapple_error* error);

// ---- Columns of frames ----------------------------------------------------------------------

/// What the numbers of a column stand for.
typedef enum dapple_meaning {
  DAPPLE_NUMBER = 0,     // themselves
  DAPPLE_BOOLEAN = 1,    // 0 false, 1 true
  DAPPLE_TIMESTAMP = 2,  // ticks since 1970-01-01T00:00:00
  DAPPLE_DURATION = 3,   // ticks
  DAPPLE_CATEGORY = 4,   // code k is word k - 1, 0 is missing
  DAPPLE_WORDS = 5       // the same, but most words occur once
} dapple_meaning;

/// One tick.
typedef enum dapple_unit {
  DAPPLE_DAY = 0,
  DAPPLE_SECOND = 1,
  DAPPLE_MILLISECOND = 2,
  DAPPLE_MICROSECOND = 3,
  DAPPLE_NANOSECOND = 4
} dapple_unit;

typedef struct dapple_column {
  const char* zone;     // of timestamps: "" local time, "UTC", or a name; as long as the object
  uint64_t words;       // of categories and words: how many there are
  uint64_t missing;     // the bits of the stored value that marks a missing cell, in the low bytes,
  int32_t has_missing;  //   if this is 1
  int32_t type;         // dapple_type
  int32_t meaning;      // dapple_meaning
  int32_t unit;         // dapple_unit; of timestamps and durations
  int32_t ordered;      // 1: the words of the category are in a meaningful order
  int32_t reserved[5];
} dapple_column;

/// Type and meaning of a column; those of a matrix are numbers. O(1); the first call reads a column
/// of words to count them where the file has no list of them (IDV, npy, AnnData). Errors:
/// out_of_range, corrupt, io.
int32_t dapple_get_column(const dapple_object* object, uint64_t col, dapple_column* column,
                          dapple_error* error);

/// The first column of a frame with that label. O(cols). Errors: absent, type_mismatch for a
/// matrix.
int32_t dapple_find_column(const dapple_object* object, const char* label, uint64_t* col,
                           dapple_error* error);

/// Points `*text` to word `i` of a column, `*size` bytes that no 0 follows and that last as long as
/// the object. Code k is word k - 1. The first call compares all words with their hash. Errors:
/// out_of_range, type_mismatch for a column without words, corrupt.
int32_t dapple_get_word(const dapple_object* object, uint64_t col, uint64_t i, const char** text,
                        size_t* size, dapple_error* error);

/// Makes `*stream` a stream of record batches of at most 65,536 rows: rows [row_begin, row_end) of
/// these columns of a frame, in this order; NULL: all of them, and those between them that the
/// file's format can only show as text. Words, times, truth values and missing cells become those
/// of Arrow. All is copied. The consumer releases the stream, which lives on when the object is
/// closed. O(columns + words of categories). Errors: out_of_range, type_mismatch for a matrix; the
/// stream's own are EIO and ENOMEM, with a message.
int32_t dapple_arrow_stream(const dapple_object* object, const uint64_t* cols, size_t n_cols,
                            uint64_t row_begin, uint64_t row_end, struct ArrowArrayStream* stream,
                            dapple_error* error);

// ---- Reading cells --------------------------------------------------------------------------

/// Rows and columns, counted from 0, half-open.
typedef struct dapple_region {
  uint64_t row_begin, row_end, col_begin, col_end;
} dapple_region;

/// How cells are read; NULL in their place means zeros.
typedef struct dapple_read_options {
  int32_t absent;    // dapple_absent
  uint32_t threads;  // that decode blocks, 0 or 1: this one; or DAPPLE_EVERY_PROCESSOR
} dapple_read_options;
#define DAPPLE_EVERY_PROCESSOR UINT32_MAX

/// Copies the cells of a region as values of `type`: cell (r, c) of it to byte r * row_stride +
/// c * col_stride of `out`, which has `size` bytes. Strides of 0 are those of cells row after row:
/// the size of a value, and the columns' number times col_stride. Columns after each other, as in
/// Fortran and R, have a row_stride of the size of a value and a col_stride of the rows' number
/// times that. Every value must fit the type exactly. Cells of frames are their stored numbers.
/// O(cells + bytes of the sparse blocks that are touched). Errors: out_of_range, type_mismatch,
/// absent, corrupt, io, invalid_argument when cells would overlap or `out` is too small.
int32_t dapple_read(const dapple_object* object, const dapple_region* region, int32_t type,
                    void* out, size_t size, size_t row_stride, size_t col_stride,
                    const dapple_read_options* options, dapple_error* error);

/// Copies columns [col_begin, col_end) of rows in any order, with repetitions: row rows[k] to byte
/// k * row_stride of `out`, which has `size` bytes; 0: row after row. `row_stride` is a multiple of
/// the size of a value. Errors: as `dapple_read`.
int32_t dapple_gather(const dapple_object* object, const uint64_t* rows, size_t n_rows,
                      uint64_t col_begin, uint64_t col_end, int32_t type, void* out, size_t size,
                      size_t row_stride, const dapple_read_options* options, dapple_error* error);

/// Puts the cells of a region that are not +0.0 into `*sparse` as compressed sparse rows; columns
/// count from the region's first. A `*sparse` that is NULL becomes a new one, to be given to
/// `dapple_sparse_free`; another is used once more, with its memory. One pass over the blocks of
/// the region. Errors: as `dapple_read`, and unsupported for DAPPLE_ABSENT_NAN where cells are
/// absent.
int32_t dapple_read_sparse(const dapple_object* object, const dapple_region* region, int32_t type,
                           const dapple_read_options* options, dapple_sparse** sparse,
                           dapple_error* error);

/// The same of rows in any order, with repetitions, in columns [col_begin, col_end). A list in the
/// arrays of `*sparse` itself is invalid_argument.
int32_t dapple_gather_rows(const dapple_object* object, const uint64_t* rows, size_t n_rows,
                           uint64_t col_begin, uint64_t col_end, int32_t type,
                           const dapple_read_options* options, dapple_sparse** sparse,
                           dapple_error* error);

/// The same of whole columns in any order, as compressed sparse columns: the result's row k is
/// column cols[k]. Fast with a copy by column beside the file (`dapple index --columns`); otherwise
/// all tiles that hold one of them are read.
int32_t dapple_gather_columns(const dapple_object* object, const uint64_t* cols, size_t n_cols,
                              int32_t type, const dapple_read_options* options,
                              dapple_sparse** sparse, dapple_error* error);

/// Three arrays: entries [ptr[i], ptr[i + 1]) of `idx` and `values` are those of row i, by column.
typedef struct dapple_arrays {
  uint64_t rows;        // or columns, of compressed sparse columns
  uint64_t entries;     // ptr[rows]
  const uint64_t* ptr;  // rows + 1
  const uint64_t* idx;
  const void* values;  // of `type`
  int32_t type;
  int32_t reserved[3];
} dapple_arrays;

/// Points to the arrays, until `sparse` is freed or used once more. O(1).
int32_t dapple_get_arrays(const dapple_sparse* sparse, dapple_arrays* arrays, dapple_error* error);

/// Copies the arrays into the caller's: rows + 1 and `entries` numbers of `index_type` (I32, I64,
/// U32 or U64), `entries` values. NULLs are left out. Errors: type_mismatch when a number does not
/// fit, before anything is copied; invalid_argument.
int32_t dapple_copy_arrays(const dapple_sparse* sparse, int32_t index_type, void* ptr, void* idx,
                           void* values, dapple_error* error);

/// Frees it and sets `*sparse` to NULL. Does nothing for NULLs.
void dapple_sparse_free(dapple_sparse** sparse);

// ---- Statistics and searches ----------------------------------------------------------------

/// Of cells that are numbers; NaNs, and missing cells of columns, are only counted.
typedef struct dapple_stats {
  uint64_t count;          // cells, NaNs included
  uint64_t nonzero, nans;  // cells that are neither zero nor NaN; NaNs
  double min, max;         // NaN: there is no number
  double sum, mean;        // mean: NaN without a number
  double variance;         // of the population: divided by n
} dapple_stats;

/// Statistics of all cells (n is 1), of each row (n is rows) or of each column (n is cols). O(1) a
/// block for all cells of files that dapple wrote, otherwise one pass. Errors: absent, corrupt, io;
/// type_mismatch for frames with words, times or truth values, of which there are only columns.
int32_t dapple_get_stats(const dapple_object* object, int32_t axis, dapple_stats* stats, size_t n,
                         const dapple_read_options* options, dapple_error* error);

/// Gets the numbers of some rows, ascending; another result than 0 stops the search.
typedef int32_t (*dapple_take_rows)(void* context, const uint64_t* rows, size_t n);

/// Calls `take`, in this thread, with the rows of a frame that meet an expression, such as
/// `age >= 30 and city in ("Oslo", "Bergen")` (dapple/where_rows.h), and sets `*count` to their
/// number; either may be NULL. Blocks whose statistics decide are not read. O(rows). Errors: absent
/// for a label, or where cells are; out_of_range for a column's number; invalid_argument for an
/// expression that cannot be read, or that the column's meaning does not have; type_mismatch for a
/// matrix; unsupported for DAPPLE_ABSENT_NAN where cells are absent; stopped; corrupt, io.
int32_t dapple_where_rows(const dapple_object* object, const char* expression,
                          dapple_take_rows take, void* context, uint64_t* count,
                          const dapple_read_options* options, dapple_error* error);

typedef enum dapple_test {
  DAPPLE_ABOVE = 1,     // low
  DAPPLE_AT_LEAST = 2,  // low
  DAPPLE_BELOW = 3,     // high
  DAPPLE_AT_MOST = 4,   // high
  DAPPLE_EQUAL = 5,     // low
  DAPPLE_BETWEEN = 6,   // low and high, both included
  DAPPLE_IS_NAN = 7
} dapple_test;

/// A value of type f64, i64 or u64.
typedef union dapple_value {
  double f64;
  int64_t i64;
  uint64_t u64;
} dapple_value;

/// A condition on values. Comparisons are exact, whatever the types; NaN only meets `IS_NAN`.
typedef struct dapple_condition {
  int32_t test;     // dapple_test
  int32_t type;     // of `low` and `high`: F64, I64 or U64
  int32_t nonzero;  // 1: only cells that are not zero, of either sign
  int32_t reserved;
  dapple_value low, high;
} dapple_condition;

/// A cell that was found.
typedef struct dapple_hit {
  uint64_t row, col;
  dapple_value value;
} dapple_hit;

/// Gets some cells; another result than 0 stops the search.
typedef int32_t (*dapple_take_hits)(void* context, const dapple_hit* hits, size_t n);

/// The same of the cells of a matrix, as values of `type` (F64, I64 or U64): block by block in
/// ascending order of their positions, row by row in each, or row by row of all where zeros are
/// found. Zeros that sparse blocks do not store are cells. O(stored values), or O(cells) if zeros
/// are found. Errors: type_mismatch when a value found does not fit, and for a frame; unsupported
/// as above, and without `take` for more than 2^64 - 1 cells; invalid_argument, stopped, absent,
/// corrupt, io.
int32_t dapple_where_cells(const dapple_object* object, const dapple_condition* condition,
                           int32_t type, dapple_take_hits take, void* context, uint64_t* count,
                           const dapple_read_options* options, dapple_error* error);

// ---- Writing --------------------------------------------------------------------------------

/// Begins a file at `path` that will hold a matrix, and gives a handle to `*writer`. Nothing is
/// there before `dapple_finish`. Options:
///   tile=RxC         otherwise chosen by dapple
///   storage=csr      declared as sparse, in bands of whole rows; otherwise dense
///   kind=KIND        of blocks: auto, dense, csr or coo
///   narrow=false     keep values in their own type where a smaller one would do
///   align=N          of dense tiles; a power of two up to 2097152
///   pack=HOW         none, fast or small
///   plain=true       nothing beyond the published format
///   overwrite=true   replace an existing file
///   sync=false       do not wait for the disk
///   attributes=JSON  an object, which readers get back
///   row_name=NAME    as often as there are rows, in their order; "" for one without; or never
///   col_name=NAME    the same of columns
/// Errors: io; invalid_argument, also for a file that exists.
int32_t dapple_create(const char* path, uint64_t rows, uint64_t cols, int32_t type,
                      const char* const* options, dapple_writer** writer, dapple_error* error);

/// A column of a frame that is to be written. Texts are UTF-8, and end with a 0.
typedef struct dapple_frame_column {
  const char* label;
  const char* zone;          // of timestamps: local time if NULL or "", "UTC", or a name
  const char* const* words;  // of categories and words: no two alike; code k is word k - 1,
  size_t n_words;            //   code 0 a missing one
  uint64_t missing;          // of other columns: the bits of the value that marks a missing cell,
  int32_t has_missing;       //   in the low bytes, if this is 1
  int32_t type;              // dapple_type; of codes one that holds them all
  int32_t meaning;           // dapple_meaning
  int32_t unit;              // dapple_unit; of timestamps and durations
  int32_t ordered;           // 1: the words of the category are in a meaningful order
  int32_t reserved[5];       // zeros
} dapple_frame_column;

/// The same of a frame, whose columns need not outlive the call. Options: those of `dapple_create`
/// but storage and col_name; `plain=true` leaves out what columns mean. A rectangle that is put may
/// have several columns; each cell must fit the type of its column. Errors: those of
/// `dapple_create`; invalid_argument also for a meaning that the type cannot have, or a mark of
/// missing cells. O(columns + bytes of words).
int32_t dapple_create_frame(const char* path, uint64_t rows, const dapple_frame_column* columns,
                            size_t n_columns, const char* const* options, dapple_writer** writer,
                            dapple_error* error);

/// Writes a rectangle of cells whose first one is (row, col), cut where the tiles are, so that it
/// may be a tile, some whole ones, or the matrix. Cell (r, c) of it is at byte r * row_stride + c *
/// col_stride of `cells`; 0 as in `dapple_read`. Each must fit the type of the matrix, or of its
/// column, exactly. `cells` is the caller's again afterwards. Errors: out_of_range, type_mismatch,
/// io, invalid_argument for a rectangle without cells, a code without a word, and after
/// `dapple_finish`. A cell that is put twice is found by `dapple_finish`.
int32_t dapple_put(dapple_writer* writer, uint64_t row, uint64_t col, uint64_t rows, uint64_t cols,
                   int32_t type, const void* cells, size_t row_stride, size_t col_stride,
                   dapple_error* error);

/// The same of sparse cells: of row r, entries [ptr[r], ptr[r + 1]) of `idx`, which count from
/// `col` and may be in any order but none twice, and `values`. Arrays have rows + 1 and ptr[rows]
/// numbers.
int32_t dapple_put_sparse(dapple_writer* writer, uint64_t row, uint64_t col, uint64_t rows,
                          uint64_t cols, int32_t type, const uint64_t* ptr, const uint64_t* idx,
                          const void* values, dapple_error* error);

/// Makes cells that were never put zeros and publishes the file; the handle then only takes
/// `dapple_abandon`, after an error, too. No put may be running. Errors: io; invalid_argument when
/// a cell was put twice, when the file exists, when cells that were never put would take more than
/// 2^24 empty blocks, and on a second call. After an error there is no file, unless only its folder
/// could not be synced.
int32_t dapple_finish(dapple_writer* writer, dapple_error* error);

/// Frees a writer and sets `*writer` to NULL; without `dapple_finish` there is no file. Does
/// nothing for NULLs.
void dapple_abandon(dapple_writer** writer);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif
