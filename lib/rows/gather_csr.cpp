#include "lib/rows/gather.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "lib/base/parallel.h"
#include "lib/base/value_types.h"

namespace dapple::detail {

namespace {

/// Rows of a list, a chunk at a time.
template <class Col>
class CsrGather {
 public:
  CsrGather(const Store& store, std::span<const std::uint64_t> rows, Range cols,
            const CsrOut<Col>& out, const GatherOptions& options)
      : store_(store),
        rows_(rows),
        type_(out.type),
        options_(options),
        collector_(rows.size(), out.col_idx.capacity(), out) {
    for (unsigned i = 0; i < worker_limit(options.threads); ++i) {
      workers_.push_back(std::make_unique<Worker>(store, cols, type_, options.absent));
    }
    const std::uint64_t cells = store.schema().storage == Storage::dense ? cols.size() : 0;
    at_once_ = found_at_once(store, workers_[0]->finder, rows, cells, options.threads);
  }

  void run() {
    const std::uint64_t chunks = rows_.size() / at_once_ + (rows_.size() % at_once_ != 0 ? 1 : 0);
    const bool alone = workers_.size() == 1 || chunks == 1;
    parallel_in_order(chunks, options_.threads, [&](std::uint64_t i, unsigned worker, Turn& turn) {
      const std::size_t first = i * at_once_;
      report(options_, worker, first, rows_.size());
      const auto chunk =
          rows_.subspan(first, std::min<std::size_t>(at_once_, rows_.size() - first));
      add(*workers_[worker], chunk, first, alone, turn);
    });
    collector_.finish();
  }

 private:
  struct Worker {
    Worker(const Store& store, Range cols, ValueType type, Absent absent)
        : finder(store, cols, absent), reader(store, type) {}
    RowFinder finder;
    RowReader<Col> reader;
    BandArrays<Col> arrays;
  };

  /// Decodes the rows that were found; ends[k] is the end of the k-th to be used.
  static void decode(Worker& worker, std::size_t count, RowSink<Col>& out, std::uint64_t* ends) {
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t i = worker.finder.at(k);
      worker.finder.use(i);
      for (const RowPart& part : worker.finder.parts(i)) {
        worker.finder.append(part, worker.reader, static_cast<Col>(part.first), out);
      }
      ends[k] = out.size;
    }
  }

  /// Straight to the result where rows stay in order, and nobody else has a turn.
  void add(Worker& worker, std::span<const std::uint64_t> chunk, std::size_t first, bool alone,
           Turn& turn) {
    BandArrays<Col>& arrays = worker.arrays;
    bool added = false;
    store_.watched([&] {
      // Who waits for its turn must hold nothing: the one before it may wait for that.
      const RowFinder::Hold hold(worker.finder);
      worker.finder.find(chunk);
      const std::uint64_t most = worker.finder.most();
      added = alone && !worker.finder.decodes();
      if (added) {
        collector_.prepare(first, chunk.size(), most);
        RowSink<Col> out{collector_.cols(), collector_.values(), collector_.size()};
        decode(worker, chunk.size(), out, collector_.ends(first));
        collector_.added(first + chunk.size(), out.size);
      } else {
        auto out = arrays.reset({first, first + chunk.size()}, most, size_of(type_));
        decode(worker, chunk.size(), out, arrays.row_ptr.data() + 1);
      }
    });
    if (!added) turn.take([&] { add_copy(worker, first); });
  }

  void add_copy(const Worker& worker, std::size_t first) {
    const BandArrays<Col>& arrays = worker.arrays;
    const std::uint64_t* const ptr = arrays.row_ptr.data();
    const std::size_t count = arrays.rows.size();
    if (!worker.finder.decodes()) {
      return collector_.add(first, count, ptr, arrays.col_idx.data(), arrays.values.data());
    }
    std::vector<std::uint32_t> used(count);  // when each row was
    for (std::size_t k = 0; k < count; ++k)
      used[worker.finder.at(k)] = static_cast<std::uint32_t>(k);
    collector_.prepare(first, count, ptr[count]);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t begin = ptr[used[i]], row_ptr[] = {0, ptr[used[i] + 1] - begin};
      collector_.add(first + i, 1, row_ptr, arrays.col_idx.data() + begin,
                     arrays.values.data() + begin * size_of(type_));
    }
  }

  const Store& store_;
  const std::span<const std::uint64_t> rows_;
  const ValueType type_;
  const GatherOptions& options_;
  CsrCollector<Col> collector_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::uint64_t at_once_ = 1;
};

}  // namespace

template <class Col>
void gather_csr_to(const Store& store, std::span<const std::uint64_t> rows, Range cols,
                   const CsrOut<Col>& out, const GatherOptions& options) {
  require_narrow<Col>(store, cols.size());
  CsrGather<Col>(store, rows, cols, out, options).run();
}

template void gather_csr_to(const Store&, std::span<const std::uint64_t>, Range,
                            const CsrOut<std::uint32_t>&, const GatherOptions&);
template void gather_csr_to(const Store&, std::span<const std::uint64_t>, Range,
                            const CsrOut<std::uint64_t>&, const GatherOptions&);

}  // namespace dapple::detail

namespace dapple {

template <Value T, class Col>
void gather_csr(const BlockedObject& object, std::span<const std::uint64_t> rows, Csr<T, Col>& out,
                const GatherOptions& options) {
  const detail::Store& store = object.store();
  const Range cols = detail::require_columns(store, options);
  detail::require_rows(store, rows);
  detail::require_apart(store, rows, out);
  detail::gather_csr_to(store, rows, cols, detail::csr_out(out), options);
}

#define DAPPLE_INSTANTIATE(T)                                                    \
  template void gather_csr(const BlockedObject&, std::span<const std::uint64_t>, \
                           Csr<T, std::uint32_t>&, const GatherOptions&);        \
  template void gather_csr(const BlockedObject&, std::span<const std::uint64_t>, \
                           Csr<T, std::uint64_t>&, const GatherOptions&);
DAPPLE_FOR_EACH_VALUE(DAPPLE_INSTANTIATE)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple
