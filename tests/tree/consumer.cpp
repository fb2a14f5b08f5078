// A program outside the tree, as a user of the installed library writes it.
#include <dapple/dapple.h>

#include <cstdio>

int main(int, char** arguments) {
  const double cells[] = {1, 2, 3, 4, 5, 6};
  auto writer = dapple::MatrixWriter::create(arguments[1], 3, 2, dapple::ValueType::f64);
  writer.put<double>({0, 0}, {cells, 3, 2});
  writer.finish();
  const auto matrix = dapple::Matrix::open(arguments[1]);
  std::printf("%d x %d, cell (1, 1) is %g\n", int(matrix.rows()), int(matrix.cols()),
              matrix.read<double>({{1, 2}, {1, 2}})[0]);
  // Optimisation must not take away a fetch that throws, though nobody uses its result.
  try {
    matrix.tile(5, 0);
  } catch (const dapple::Error& e) {
    std::printf("%s\n", e.detail().c_str());
  }
}
