// Which rows and columns the members of a collection share.
#include <functional>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "lib/base/at_once.h"
#include "lib/base/bytes.h"
#include "lib/base/json.h"
#include "lib/catalog/collection.h"

namespace dapple {

namespace {

using detail::CollectionFiles;
using detail::counted;
using detail::DeclaredAxes;
using detail::Json;

struct Usual {
  std::string_view group;
  bool has_names;  // its members are called GROUP/NAME
  std::string_view rows, cols;
};

/// What AnnData's names tell.
constexpr Usual kUsual[] = {
    {"X", false, "obs", "var"},   {"layers", true, "obs", "var"}, {"obs", false, "obs", ""},
    {"var", false, "var", ""},    {"obsm", true, "obs", ""},      {"varm", true, "var", ""},
    {"obsp", true, "obs", "obs"}, {"varp", true, "var", "var"},
};

[[noreturn]] void fail_declaration(const CollectionFiles& files, std::string what) {
  throw Error(Errc::corrupt, files.path() + "/" + std::string(detail::kDeclaration), std::nullopt,
              std::move(what));
}

bool is_axis(const Json& json) { return json.is(Json::Kind::string) || json.is(Json::Kind::null); }

std::map<std::string, MemberAxes> read_declared(const CollectionFiles& files) {
  std::map<std::string, MemberAxes> declared;
  const std::string name(detail::kDeclaration);
  if (!files.has(name)) return declared;
  const Json json = Json::parse(files.json(name), files.path() + "/" + name);
  const Json* const axes = json.find("axes");
  if (!json.is(Json::Kind::object)) fail_declaration(files, "it is no object");
  if (axes == nullptr) return declared;
  if (!axes->is(Json::Kind::object)) fail_declaration(files, "its axes are no object");
  for (std::size_t i = 0; i < axes->keys.size(); ++i) {
    const std::string& member = axes->keys[i];
    const Json& pair = axes->items[i];
    if (!detail::is_member_name(member)) {
      fail_declaration(files, "'" + member + "' is no name of a member");
    }
    if (!pair.is(Json::Kind::array) || pair.items.size() != 2 || !is_axis(pair.items[0]) ||
        !is_axis(pair.items[1])) {
      fail_declaration(files, "the axes of '" + member + "' are no pair of names or null");
    }
    declared[member] = {pair.items[0].text, pair.items[1].text};
  }
  return declared;
}

/// What AnnData calls the axes of a member of this name.
MemberAxes usual_axes(const std::string& member) {
  const std::size_t slash = member.find('/');
  for (const Usual& usual : kUsual) {
    if (usual.group == member.substr(0, slash) && usual.has_names == (slash != member.npos)) {
      return {std::string(usual.rows), std::string(usual.cols)};
    }
  }
  return {};
}

/// How long each axis is, and which member says so.
class Extents {
 public:
  /// Throws invalid_argument when another member has said otherwise.
  void add(const CollectionFiles& files, const std::string& member, std::uint64_t rows,
           std::uint64_t cols, const MemberAxes& axes) {
    add(files, member, axes.rows, rows, "row");
    add(files, member, axes.cols, cols, "column");
  }

 private:
  void add(const CollectionFiles& files, const std::string& member, const std::string& axis,
           std::uint64_t extent, const char* what) {
    if (axis.empty()) return;
    const auto& [wanted, first] = known_.try_emplace(axis, extent, member).first->second;
    if (wanted == extent) return;
    throw Error(Errc::invalid_argument, files.path(), std::nullopt,
                member + " has " + counted(extent, what) + ", and the axis '" + axis + "' has " +
                    std::to_string(wanted) + ", as " + first + " says");
  }

  std::map<std::string, std::pair<std::uint64_t, std::string>> known_;
};

/// What the members tell that `tells` is true of; the others are not opened.
Extents extents_of(
    const CollectionFiles& files, const DeclaredAxes& declared,
    const std::function<bool(const std::string& member, const MemberAxes& axes)>& tells) {
  std::vector<std::string> members = files.members(detail::kMemberEnding);
  std::erase_if(members,
                [&](const std::string& member) { return !tells(member, declared.of(member)); });
  struct Shape {
    std::uint64_t rows = 0, cols = 0;
  };
  std::vector<Shape> shapes(members.size());
  const auto look = [&](std::uint64_t i) {
    shapes[i] = std::visit(
        [](const auto& object) {
          return Shape{object.rows(), object.cols()};
        },
        files.open_object(members[i]));
  };
  if (files.fetches()) {
    detail::at_once(members.size(), look);
  } else {
    for (std::size_t i = 0; i < members.size(); ++i) look(i);
  }
  Extents extents;
  for (std::size_t i = 0; i < members.size(); ++i) {
    extents.add(files, members[i], shapes[i].rows, shapes[i].cols, declared.of(members[i]));
  }
  return extents;
}

}  // namespace

MemberAxes detail::DeclaredAxes::of(const std::string& member) const {
  std::call_once(read_, [&] { declared_ = read_declared(*files_); });
  const auto found = declared_.find(member);
  return found != declared_.end() ? found->second : usual_axes(member);
}

MemberAxes Collection::axes_of(const std::string& member) const { return declared_->of(member); }

void Collection::require_fit(const std::string& member, std::uint64_t rows, std::uint64_t cols,
                             const MemberAxes& axes) const {
  const auto is_shared = [&](const std::string& axis) {
    return !axis.empty() && (axis == axes.rows || axis == axes.cols);
  };
  const auto shares = [&](const std::string& other, const MemberAxes& has) {
    return other != member && (is_shared(has.rows) || is_shared(has.cols));
  };
  extents_of(*files_, *declared_, shares).add(*files_, member, rows, cols, axes);
}

void Collection::require_axes() const {
  extents_of(*files_, *declared_,
             [](const std::string&, const MemberAxes& axes) { return axes != MemberAxes{}; });
}

}  // namespace dapple
