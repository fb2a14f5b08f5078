// Converts a file of any format that dapple reads into a dbdf file, then checks every byte of that.
//
//   convert_and_verify IN OUT.dbdf
//
// With a CSV file of three rows and two columns it prints
//   wrote 2 blocks, 3 x 2 cells
//   verified 2 blocks: 0 findings
#include <dapple/dapple.h>

#include <cstdio>
#include <cstdlib>
#include <variant>

int main(int argc, char** argv) {
  if (argc != 3) return EXIT_FAILURE;
  try {
    // A matrix or a frame, whatever the file holds. Nothing is read yet but what opening needs.
    const auto object = dapple::open(argv[1]);
    dapple::ConvertOptions options;
    options.threads = 0;  // one per processor
    options.write.overwrite = true;
    const auto written = dapple::convert(object, {}, argv[2], options);
    std::visit(
        [&](const auto& o) {
          std::printf("wrote %llu blocks, %llu x %llu cells\n",
                      static_cast<unsigned long long>(written.counts.total),
                      static_cast<unsigned long long>(o.rows()),
                      static_cast<unsigned long long>(o.cols()));
        },
        object);

    const auto report = dapple::verify(argv[2], dapple::Level::payload);
    std::printf("verified %llu blocks: %zu findings\n",
                static_cast<unsigned long long>(report.blocks), report.findings.size());
    for (const dapple::Error& finding : report.findings) std::printf("%s\n", finding.what());
    return report.findings.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const dapple::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
}
