#include "workloads/scipy_npz.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "peers/python_peers.h"

namespace dapple::bench {

namespace {

nlohmann::json save_request(const Session& session, const SparseShape& shape,
                            const std::filesystem::path& to) {
  return {{"do", "save_npz"},           {"arrays", make_arrays_file(session, shape).string()},
          {"rows", shape.rows},         {"cols", shape.cols},
          {"entries", shape.entries()}, {"file", to.string()}};
}

}  // namespace

std::optional<Contender> scipy_writer(Session& session, const SparseShape& shape, double work) {
  PythonPeers& python = session.python();
  if (!python.has("scipy")) return std::nullopt;
  const auto path = session.folder().scratch("written.npz");
  Contender c{"scipy save_npz", Role::peer, "from a csr_matrix, uncompressed", work, 0, {}};
  c.prepare = [path] { std::filesystem::remove(path); };
  return python.contender(std::move(c), save_request(session, shape, path));
}

std::optional<Contender> scipy_reader(Session& session, const SparseShape& shape, double work) {
  PythonPeers& python = session.python();
  if (!python.has("scipy")) return std::nullopt;
  const auto path =
      session.file(fmt::format("sparse-{}-{}.npz", shape.rows, shape.per_row), [&](const auto& to) {
        Sample unused;
        python.run(save_request(session, shape, to), unused);
      });
  Contender c{"scipy load_npz", Role::peer, "uncompressed, to a csr_matrix", work,
              sum_of(shape),    {}};
  return python.contender(std::move(c), {{"do", "load_npz"}, {"file", path.string()}});
}

}  // namespace dapple::bench
