#include "core.h"

#include "at_work.h"
#include "numpy_api.h"

NB_MODULE(_core, m) {
  // An array that views a block through DLPack may live until the process ends.
  nanobind::set_leak_warnings(false);
  pydapple::import_numpy();
  pydapple::bind_errors(m);
  pydapple::bind_matrix(m);
  pydapple::bind_block(m);
  pydapple::bind_products(m);
  pydapple::bind_gene_counts(m);
  pydapple::bind_search(m);
  pydapple::bind_words(m);
  pydapple::bind_frame(m);
  pydapple::bind_drawing(m);
  pydapple::bind_arrow_export(m);
  pydapple::bind_arrow_import(m);
  pydapple::bind_names(m);
  pydapple::bind_options(m);
  pydapple::bind_writer(m);
  pydapple::bind_files(m);
  pydapple::bind_remote(m);
  pydapple::bind_dataset(m);
  pydapple::bind_collection(m);
  pydapple::bind_command(m);
  pydapple::watch_forks();
}
