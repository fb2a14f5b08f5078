// An archive with any one byte changed, read whole: what comes out is a matrix or an error.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "dapple/dapple.h"
#include "tests/fuzz/memory_file.h"
#include "tests/support.h"

namespace dapple::test {

inline void read_with_changed_bytes(const std::string& archive) {
  fuzz::MemoryFile file;
  for (std::size_t at = 0; at < archive.size(); at += one_of(7)) {
    for (const int change : {1, 0x80, 0xFF}) {
      std::string damaged = archive;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      file.set(std::as_bytes(std::span(damaged)));
      error_of([&] {
        const auto object = open(file.path(), {.format = "npz"});
        const auto* m = std::get_if<Matrix>(&object);
        if (m == nullptr || m->rows() > 1000 || m->cols() > 1000) return;
        m->read<double>({{0, m->rows()}, {0, m->cols()}});
        m->read_csr<double>({{0, m->rows()}, {0, m->cols()}});
      });
    }
  }
}

}  // namespace dapple::test
