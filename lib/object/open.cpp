#include "dapple/open.h"

#include <memory>
#include <utility>

#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "lib/foreign/formats.h"
#include "lib/object/store.h"

namespace dapple {

std::variant<Matrix, Frame> open(const std::filesystem::path& path, OpenOptions options) {
  const auto file = detail::MappedFile::open(path, options.guard);
  auto store = detail::watched(*file, [&] { return detail::open_store(file, options); });
  if (store->schema().kind == detail::ObjectKind::frame) return Frame(std::move(store));
  return Matrix(std::move(store));
}

std::variant<Matrix, Frame> open_stream(int fd, std::string name, OpenOptions options) {
  auto store = detail::open_store(detail::MappedFile::spool(fd, std::move(name)), options);
  if (store->schema().kind == detail::ObjectKind::frame) return Frame(std::move(store));
  return Matrix(std::move(store));
}

Matrix Matrix::open(const std::filesystem::path& path, OpenOptions options) {
  auto object = dapple::open(path, std::move(options));
  if (Matrix* matrix = std::get_if<Matrix>(&object)) return std::move(*matrix);
  throw Error(Errc::type_mismatch, path.string(), std::nullopt, "expected a matrix, got a frame");
}

Frame Frame::open(const std::filesystem::path& path, OpenOptions options) {
  auto object = dapple::open(path, std::move(options));
  if (Frame* frame = std::get_if<Frame>(&object)) return std::move(*frame);
  throw Error(Errc::type_mismatch, path.string(), std::nullopt, "expected a frame, got a matrix");
}

}  // namespace dapple
