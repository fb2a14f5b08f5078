#include "lib/foreign/hdf5/h5_api.h"

#include <dlfcn.h>

#include "dapple/error.h"

namespace dapple::detail::hdf5 {

namespace {

/// All calls of the process, whatever file they are about.
std::recursive_mutex& call_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

/// The library's types of ours, in the order of kValueTypes.
constexpr std::array kNativeNames = {
    "H5T_NATIVE_UINT8_g", "H5T_NATIVE_UINT16_g", "H5T_NATIVE_UINT32_g", "H5T_NATIVE_UINT64_g",
    "H5T_NATIVE_INT8_g",  "H5T_NATIVE_INT16_g",  "H5T_NATIVE_INT32_g",  "H5T_NATIVE_INT64_g",
    "H5T_NATIVE_FLOAT_g", "H5T_NATIVE_DOUBLE_g"};

/// Looks up what is in the library. `wrong` becomes a reason when something is not.
class Symbols {
 public:
  explicit Symbols(void* library) noexcept : library_(library) {}

  void* find(const char* name) {
    void* const symbol = dlsym(library_, name);
    if (symbol == nullptr && missing_.empty()) missing_ = name;
    return symbol;
  }
  /// A program that is linked with the library has its variables copied into itself, and they are
  /// what the library uses then.
  hid_t value(const char* name) {
    const void* const copy = dlsym(RTLD_DEFAULT, name);
    const auto* const symbol = static_cast<const hid_t*>(copy != nullptr ? copy : find(name));
    return symbol == nullptr ? -1 : *symbol;
  }
  const std::string& missing() const noexcept { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

/// The library, or why there is none.
struct Loaded {
  Api api;
  std::string failure;
};

/// DAPPLE_HDF5_LIBRARY is the name that the build found, such as libhdf5.so.103.
Loaded load() {
  Loaded loaded;
  Api& api = loaded.api;
  void* const library = dlopen(DAPPLE_HDF5_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    loaded.failure = "the HDF5 library, " DAPPLE_HDF5_LIBRARY ", cannot be loaded";
    return loaded;
  }
  Symbols symbols(library);
#define DAPPLE_HDF5_FIND(name) api.name = reinterpret_cast<decltype(api.name)>(symbols.find(#name));
  DAPPLE_HDF5_FUNCTIONS(DAPPLE_HDF5_FIND)
#undef DAPPLE_HDF5_FIND
  unsigned major = 0, minor = 0, release = 0;
  if (!symbols.missing().empty() || api.H5open() < 0 ||
      api.H5get_libversion(&major, &minor, &release) < 0 || major != H5_VERS_MAJOR ||
      minor != H5_VERS_MINOR) {
    loaded.failure = "the HDF5 library, " DAPPLE_HDF5_LIBRARY
                     ", is of another version than the one that dapple was built for";
    return loaded;
  }
  for (std::size_t i = 0; i < api.native.size(); ++i) {
    api.native[i] = symbols.value(kNativeNames[i]);
  }
  api.file_access = symbols.value("H5P_CLS_FILE_ACCESS_ID_g");
  api.dataset_access = symbols.value("H5P_CLS_DATASET_ACCESS_ID_g");
  api.link_access = symbols.value("H5P_CLS_LINK_ACCESS_ID_g");
  if (!symbols.missing().empty()) {
    loaded.failure = "the HDF5 library, " DAPPLE_HDF5_LIBRARY ", has no " + symbols.missing();
  }
  return loaded;
}

}  // namespace

hid_t Api::native_of(ValueType type) const noexcept {
  return native[static_cast<std::size_t>(type) - 1];  // codes count from 1
}

Session::Session(const std::string& file) : lock_(call_mutex()) {
  static const Loaded loaded = load();
  if (!loaded.failure.empty()) {
    throw Error(Errc::unsupported, file, std::nullopt, loaded.failure);
  }
  api_ = &loaded.api;
  api_->H5Eget_auto2(H5E_DEFAULT, &report_, &report_data_);
  api_->H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Session::~Session() { api_->H5Eset_auto2(H5E_DEFAULT, report_, report_data_); }

std::string Session::reason() const {
  std::string first;
  const auto take = [](unsigned, const H5E_error2_t* error, void* into) -> herr_t {
    auto& text = *static_cast<std::string*>(into);
    if (text.empty() && error->desc != nullptr) text = error->desc;
    return 0;
  };
  api_->H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &first);
  return first.empty() ? "no reason given" : first;
}

std::string Session::version() const {
  unsigned major = 0, minor = 0, release = 0;
  api_->H5get_libversion(&major, &minor, &release);
  return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(release);
}

}  // namespace dapple::detail::hdf5
