// Files of Parquet and Arrow, which pydapple converts where it is installed. Their formats take
// more code than all of dapple: pyarrow has it already, and who has such files has that.
#pragma once

#include <optional>
#include <string>

#include "destination.h"
#include "ending.h"
#include "input.h"

namespace dapple::cli {

/// What `convert` reads and writes in place of such files, in a temporary folder, until it is gone.
class Guest {
 public:
  /// Whether the destination is one of these files, and how its format is called.
  static bool takes(const Destination& destination);
  static const FormatInfo& format() noexcept;

  /// In place of each that is one of them there is a dbdf file from now on; of the input with what
  /// it holds. Throws io; unsupported, with what to install, where there is no pydapple, and with
  /// what it says where it cannot read the file.
  Guest(Input& input, Destination& destination);

  /// Writes the destination, if another stood in for it, and puts it back. Throws as above.
  void finish(Destination& destination, std::optional<WriteSummary>& written);
  /// An error that names the file which the user knows.
  Error named(const Error& error) const;

 private:
  /// A temporary folder, once there is something to put there, which goes with it.
  struct Folder {
    Folder() = default;
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    /// `user_file` is the one that an error names.
    std::string file(const char* name, const std::string& user_file);

    std::optional<LateEnding> ending{};  // while there is something to remove
    std::string path;
  };

  Folder folder_;
  std::string in_, out_, stand_in_;
};

}  // namespace dapple::cli
