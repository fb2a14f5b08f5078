#include "choice.h"

#include "column_rules.h"

namespace dapple::picture {

What default_what(const BlockedObject& object) {
  const double cells = static_cast<double>(object.rows()) * static_cast<double>(object.cols());
  return static_cast<double>(object.counts().stored) < cells / 2 ? What::density : What::mean;
}

bool holds_counts(const Object& object) {
  const auto* matrix = std::get_if<Matrix>(&object);
  return matrix != nullptr && !is_signed(matrix->value_type()) && !is_float(matrix->value_type());
}

bool is_counted(const Object& object, const Raster& raster) {
  const Pixel total = raster.total();
  return total.known < total.cells || needs_rules(object, raster.cols.cells());
}

}  // namespace dapple::picture
