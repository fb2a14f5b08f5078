#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/foreign/arrays/choice.h"
#include "lib/foreign/hdf5/hdf5.h"
#include "lib/foreign/hdf5/objects.h"

namespace dapple::detail::hdf5 {

namespace {

/// Looks at the objects of a file one after the other, a group before its members.
class Listing {
 public:
  explicit Listing(const Session& session, std::string wanted = {})
      : session_(session), wanted_(std::move(wanted)) {}

  arrays::Choices of(const std::shared_ptr<const OpenFile>& opened) {
    objects_.emplace(opened);
    const auto visit = [](hid_t root, const char* path, const H5O_info_t* info,
                          void* listing) -> herr_t {
      return static_cast<Listing*>(listing)->visit(root, path, *info);
    };
    const herr_t result =
        session_.api().H5Ovisit1(opened->id(), H5_INDEX_NAME, H5_ITER_INC, visit, this);
    if (error_) std::rethrow_exception(error_);
    if (result < 0 && choices_.found.empty()) {
      opened->fail(session_, "HDF5 cannot list its objects");
    }
    return std::move(choices_);
  }

  /// Why the object that is wanted cannot be opened; nothing where the file has none.
  const std::string& fault() const noexcept { return fault_; }

 private:
  static constexpr std::size_t kMost = 100'000;  // of objects that are looked at
  static constexpr const char* kDeep = "more than 32 deep: opened by its name alone";
  // Each step down is taken for all objects further down, too, and by HDF5 in each step.
  static constexpr std::ptrdiff_t kDeepest = 32, kEnd = 100;

  // Called by C code, through which no exception may pass.
  herr_t visit(hid_t root, const char* path, const H5O_info_t& info) noexcept {
    try {
      const std::string_view name(path);
      const bool inside = !group_.empty() && name.starts_with(group_);
      const auto depth = std::count(name.begin(), name.end(), '/') + 1;
      if (depth > kDeepest && !inside) {
        const bool told = info.type == H5O_TYPE_DATASET || depth >= kEnd;
        if (told) choices_.add_other(path, kDeep);
      } else if (!inside) {
        look_at(root, path, info.type);
      }
      return ++seen_ < kMost && depth < kEnd ? 0 : 1;
    } catch (...) {
      error_ = std::current_exception();
      return -1;
    }
  }

  void look_at(hid_t root, const char* path, H5O_type_t type) {
    const Api& h5 = session_.api();
    const bool data_set = type == H5O_TYPE_DATASET;
    if (!data_set && type != H5O_TYPE_GROUP) return;
    const Handle object(h5.H5Oopen(root, path, H5P_DEFAULT), h5.H5Oclose);
    if (!object.is_open()) {
      const std::string fault = "HDF5 " + session_.version() +
                                " cannot open it: " + session_.reason() +
                                "; a later release may have written it";
      if (path == wanted_) fault_ = fault;
      choices_.add_other(path, fault);
      return;
    }
    if (!data_set) {
      const arrays::Encoding encoding = group_encoding(*objects_, path);
      if (encoding == arrays::Encoding::none) return;
      group_ = std::string(path) + "/";
      choices_.found.push_back({path, encoding != arrays::Encoding::table});
      return;
    }
    int rank = 0;
    const std::string fault = fault_of(object.get(), rank);
    if (fault.empty()) {
      choices_.found.push_back({path, rank == 2});
    } else {
      choices_.add_other(path, fault);
    }
  }

  /// Why a data set cannot be opened; nothing, and its rank, if it can.
  std::string fault_of(hid_t object, int& rank) const {
    const Api& h5 = session_.api();
    const Handle stored(h5.H5Dget_type(object), h5.H5Tclose);
    const Handle created(h5.H5Dget_create_plist(object), h5.H5Pclose);
    if (!stored.is_open() || !created.is_open()) return session_.reason();
    // The extents of a virtual one would be asked of other files.
    if (h5.H5Pget_layout(created.get()) == H5D_VIRTUAL) return "virtual: its values are elsewhere";
    if (!value_type_of(session_, stored.get())) return what_it_holds(session_, stored.get());
    const Handle space(h5.H5Dget_space(object), h5.H5Sclose);
    rank = space.is_open() ? h5.H5Sget_simple_extent_ndims(space.get()) : 0;
    if (rank == 1 || rank == 2) return {};
    if (rank < 1) return "a single value";
    return std::to_string(rank) + " dimensions; save a slice of it as a matrix";
  }

  const Session& session_;
  std::string wanted_, fault_;
  std::optional<FileObjects> objects_;
  arrays::Choices choices_;
  std::string group_;  // the one that was found last, with a slash
  std::size_t seen_ = 0;
  std::exception_ptr error_;
};

[[noreturn]] void fail_choice(const OpenFile& opened, const arrays::Choices& choices,
                              const std::string& wanted) {
  if (choices.found.empty()) {
    std::string text = "the file holds no matrices" + choices.shown_others();
    if (choices.others.empty()) text += " of its own, and links to other files are not followed";
    if (!wanted.empty()) text += "; '" + wanted + "' is not in it, or in another file";
    throw Error(Errc::unsupported, opened.name(), std::nullopt, text);
  }
  throw Error(Errc::invalid_argument, opened.name(), std::nullopt,
              wanted.empty() ? "the file holds " + counted(choices.found.size(), "array") + ": " +
                                   choices.listed()
                             : "the file has no array '" + wanted +
                                   "', or it is in another file; it has " + choices.listed(),
              "array");
}

/// A path without slashes at its ends; no such path: the root.
std::string trimmed(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  const std::size_t first = path.find_first_not_of('/');
  return first == std::string::npos ? "/" : path.substr(first);
}

struct Chosen {
  std::string path;
  arrays::Encoding group = arrays::Encoding::none;
  std::vector<std::string> all;  // what could be chosen, if that had to be found out
};

Chosen choose_object(const std::shared_ptr<const OpenFile>& opened, const std::string& wanted) {
  const Session session(opened->name());
  Chosen chosen;
  if (wanted.empty()) {
    const arrays::Choices choices = Listing(session).of(opened);
    const std::string* const only = choices.only();
    if (only == nullptr) fail_choice(*opened, choices, {});
    chosen.path = *only;
    chosen.all = choices.contents();
  } else {
    chosen.path = trimmed(wanted);
  }
  const Handle object = opened->open_object(session, chosen.path);
  if (!object.is_open()) {
    Listing listing(session, chosen.path);
    const arrays::Choices choices = listing.of(opened);
    if (listing.fault().empty()) fail_choice(*opened, choices, wanted);
    throw Error(Errc::unsupported, opened->name(), std::nullopt,
                chosen.path + ": " + listing.fault());
  }
  if (session.api().H5Iget_type(object.get()) == H5I_DATASET) return chosen;
  chosen.group = group_encoding(FileObjects(opened), chosen.path);
  if (chosen.group == arrays::Encoding::none) {
    throw Error(Errc::unsupported, opened->name(), std::nullopt,
                chosen.path +
                    " is neither a data set nor a sparse matrix in CSR or CSC form, nor a "
                    "table of anndata's");
  }
  return chosen;
}

std::shared_ptr<Store> open_chosen(std::shared_ptr<const OpenFile> opened,
                                   std::shared_ptr<ByteSource> file, const Chosen& chosen) {
  if (chosen.group != arrays::Encoding::none) {
    return open_group(std::move(opened), std::move(file), chosen.path, chosen.group);
  }
  return open_dense(std::move(file),
                    std::make_unique<const DataSet>(std::move(opened), chosen.path));
}

}  // namespace

std::vector<arrays::Listed> list_hdf5(const std::shared_ptr<ByteSource>& file) {
  const auto opened = std::make_shared<const OpenFile>(file);
  const Session session(opened->name());
  std::vector<arrays::Listed> all;
  for (const arrays::Choice& one : Listing(session).of(opened).found) {
    all.push_back({one.path, [file, opened, path = one.path] {
                     return open_chosen(opened, file, choose_object(opened, path));
                   }});
  }
  return all;
}

std::shared_ptr<const Store> open_hdf5(std::shared_ptr<ByteSource> file,
                                       const OpenOptions& options) {
  auto opened = std::make_shared<const OpenFile>(file);
  Chosen chosen = choose_object(opened, options.array);
  auto store = open_chosen(std::move(opened), std::move(file), chosen);
  store->set_contents(std::move(chosen.all));
  return store;
}

}  // namespace dapple::detail::hdf5
