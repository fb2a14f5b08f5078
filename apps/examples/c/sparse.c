/* The C functions: writes a sparse matrix, reads it back in three ways, and gets an error.
 * Beside it are the same programs in Python (ctypes), Rust and Go; all print the same.
 *   sparse FOLDER */
#include <dapple/dapple_c.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void require(int32_t code, const dapple_error* error) {
  if (code == DAPPLE_OK) return;
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

static void write_matrix(const char* path) {
  /* 4 rows of 3: (0, 1) is 5; (2, 0) is 7 and (2, 2) is 9. */
  const uint64_t ptr[] = {0, 1, 1, 3, 3}, idx[] = {1, 0, 2};
  const double values[] = {5, 7, 9};
  const char* const options[] = {"storage=csr", "overwrite=true", NULL};
  dapple_error error;
  dapple_writer* writer = NULL;
  require(dapple_create(path, 4, 3, DAPPLE_F64, options, &writer, &error), &error);
  require(dapple_put_sparse(writer, 0, 0, 4, 3, DAPPLE_F64, ptr, idx, values, &error), &error);
  require(dapple_finish(writer, &error), &error);
  dapple_abandon(&writer);
}

static void read_matrix(const char* path) {
  dapple_error error;
  dapple_object* matrix = NULL;
  require(dapple_open(path, NULL, &matrix, &error), &error);
  dapple_info info;
  require(dapple_get_info(matrix, &info, &error), &error);
  printf("%" PRIu64 " x %" PRIu64 "\n", info.rows, info.cols);

  const dapple_region middle = {1, 3, 0, 3};
  float cells[6];
  require(dapple_read(matrix, &middle, DAPPLE_F32, cells, sizeof cells, 0, 0, NULL, &error),
          &error);
  for (int i = 0; i < 6; ++i) printf("%g%c", cells[i], i == 5 ? '\n' : ' ');

  const uint64_t wanted[] = {2, 0};
  dapple_sparse* rows = NULL;
  dapple_arrays arrays;
  require(dapple_gather_rows(matrix, wanted, 2, 0, 3, DAPPLE_F64, NULL, &rows, &error), &error);
  require(dapple_get_arrays(rows, &arrays, &error), &error);
  for (uint64_t k = 0; k < arrays.entries; ++k) {
    printf("%" PRIu64 ":%g ", arrays.idx[k], ((const double*)arrays.values)[k]);
  }
  printf("in %" PRIu64 " rows\n", arrays.rows);
  dapple_sparse_free(&rows);

  dapple_stats stats;
  require(dapple_get_stats(matrix, DAPPLE_ALL, &stats, 1, NULL, &error), &error);
  printf("sum %g, maximum %g\n", stats.sum, stats.max);

  uint8_t small[12];
  const dapple_region outside = {0, 5, 0, 3};
  if (dapple_read(matrix, &outside, DAPPLE_U8, small, sizeof small, 0, 0, NULL, &error) ==
      DAPPLE_OUT_OF_RANGE) {
    printf("out of range\n");
  }
  dapple_close(&matrix);
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  char path[4096];
  snprintf(path, sizeof path, "%s/sparse.dbdf", arguments[1]);
  write_matrix(path);
  read_matrix(path);
  return 0;
}
