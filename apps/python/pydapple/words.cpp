#include "words.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "at_work.h"
#include "numpy_api.h"

namespace pydapple {

namespace {

using dapple::Errc;
using dapple::Error;
using dapple::ValueType;

/// The words, which may be read now: by threads that need the GIL, where they are far away.
const dapple::Dictionary& known(const Words& words) {
  if (words.growing == nullptr) {
    const WithoutGil release;
    static_cast<void>(words.dictionary->size());
  }
  return *words.dictionary;
}

/// A new array of None.
nb::object new_objects(std::size_t size) {
  const npy_intp shape[] = {static_cast<npy_intp>(size)};
  PyObject* const array = PyArray_NewFromDescr(&PyArray_Type, PyArray_DescrFromType(NPY_OBJECT), 1,
                                               shape, nullptr, nullptr, 0, nullptr);
  if (array == nullptr) throw nb::python_error();
  return nb::steal(array);  // NULL is None to NumPy
}

/// The words of these codes, and None for 0, as an array of str. Each word that repeats is made
/// once.
nb::object look_up(const Words& words, nb::handle codes) {
  const nb::object kept = contiguous(codes, ValueType::u32, 1);
  const auto* const code = static_cast<const std::uint32_t*>(data_of(kept));
  const auto rows = static_cast<std::size_t>(PyArray_DIM(as_array(kept), 0));
  const dapple::Dictionary& dictionary = known(words);
  nb::object out = new_objects(rows);
  auto** const to = static_cast<PyObject**>(data_of(out));
  const bool remember = dictionary.size() <= rows;
  std::vector<nb::object> made(remember ? dictionary.size() : 0);
  for (std::size_t row = 0; row < rows; ++row) {
    if (row % 65536 == 0) check_signals();
    if (code[row] == dapple::kMissingCode) {
      to[row] = nb::none().release().ptr();
      continue;
    }
    const std::uint64_t word = code[row] - 1;
    if (word >= dictionary.size()) {
      throw Error(Errc::corrupt, "code " + std::to_string(code[row]) + " has no word");
    }
    nb::object text = remember ? made[word] : nb::object();
    if (!text.is_valid()) text = to_str(dictionary[word]);
    if (remember) made[word] = text;
    to[row] = text.release().ptr();
  }
  return out;
}

nb::list list_words(const Words& words) {
  nb::list out;
  const dapple::Dictionary& dictionary = known(words);
  for (std::uint64_t i = 0; i < dictionary.size(); ++i) {
    if (i % 65536 == 0) check_signals();
    out.append(to_str(dictionary[i]));
  }
  return out;
}

/// The dictionary of some words; of none, one that can grow.
void make_words(Words* self, nb::handle texts) {
  dapple::DictionaryBuilder builder;
  std::uint32_t count = 0;
  for (nb::handle text : texts) {
    nb::object keep;
    if (builder.add(bytes_of(text, keep)) != ++count) {
      throw dapple::Error(dapple::Errc::invalid_argument, "a word is there twice");
    }
  }
  const auto growing = count == 0 ? std::make_shared<GrowingWords>() : nullptr;
  new (self) Words{growing != nullptr ? growing : builder.finish(), growing};
}

/// Adds the words of another dictionary that are new; the code of each, after a 0 for a missing
/// one.
nb::object merge(const Words& words, const Words& other) {
  if (words.growing == nullptr) {
    throw Error(Errc::invalid_argument, "the words of a file cannot become more");
  }
  const dapple::Dictionary& added = known(other);
  const std::uint64_t n = added.size();
  nb::object out = new_array(n + 1, ValueType::u32);
  auto* const code = static_cast<std::uint32_t*>(data_of(out));
  code[0] = 0;
  std::vector<std::string_view> some;
  for (std::uint64_t i = 0; i < n;) {
    some.clear();
    for (; i < n && some.size() < 65536; ++i) some.push_back(added[i]);
    check_signals();
    words.growing->add(some, code + 1 + i - some.size());
  }
  return out;
}

/// (codes, Words) of an array of str; where `missing` is not zero, of nothing.
nb::object encode(nb::handle texts, nb::handle missing) {
  const nb::object gone = contiguous(missing, ValueType::u8, 1);
  const auto* const skip = static_cast<const std::uint8_t*>(data_of(gone));
  const auto rows = static_cast<std::size_t>(PyArray_DIM(as_array(gone), 0));
  dapple::DictionaryBuilder builder;
  nb::object out = new_array(rows, ValueType::u32);
  auto* const code = static_cast<std::uint32_t*>(data_of(out));
  std::size_t row = 0;
  for (nb::handle text : texts) {
    if (row == rows) throw dapple::Error(dapple::Errc::invalid_argument, "more texts than rows");
    if (row % 65536 == 0) check_signals();
    nb::object keep;
    code[row] = skip[row] != 0 ? 0 : builder.add(bytes_of(text, keep));
    ++row;
  }
  if (row != rows) throw dapple::Error(dapple::Errc::invalid_argument, "fewer texts than rows");
  return nb::make_tuple(std::move(out), Words{builder.finish()});
}

/// Whether most objects are missing is seen without Python; others are shown to `rule`.
bool is_missing(nb::handle object, nb::handle rule) {
  PyObject* const p = object.ptr();
  if (PyUnicode_CheckExact(p) || PyBool_Check(p) || PyLong_CheckExact(p)) return false;
  if (object.is_none()) return true;
  if (PyFloat_CheckExact(p)) return std::isnan(PyFloat_AS_DOUBLE(p));
  return nb::cast<bool>(rule(object));
}

/// The types of objects that are not missing; marks in `missing` which of them are.
nb::set types_of(nb::handle objects, nb::handle missing, nb::handle rule) {
  auto* const gone = static_cast<std::uint8_t*>(data_of(missing));
  const auto rows = static_cast<std::size_t>(PyArray_DIM(as_array(missing), 0));
  nb::set types;
  nb::handle last;
  std::size_t row = 0;
  for (nb::handle object : objects) {
    if (row == rows) throw Error(Errc::invalid_argument, "more objects than rows");
    if (row % 65536 == 0) check_signals();
    if (gone[row] == 0 && is_missing(object, rule)) gone[row] = 1;
    if (gone[row++] != 0 || object.type().is(last)) continue;
    last = object.type();
    types.add(last);
  }
  return types;
}

constexpr std::array<const char*, 6> kKinds = {"number",   "boolean",  "timestamp",
                                               "duration", "category", "text"};
constexpr std::array<const char*, 5> kUnits = {"D", "s", "ms", "us", "ns"};

template <class Enum, std::size_t n>
Enum named(const std::array<const char*, n>& names, const std::string& given) {
  for (std::size_t i = 0; i < n; ++i) {
    if (given == names[i]) return static_cast<Enum>(i);
  }
  throw dapple::Error(dapple::Errc::invalid_argument,
                      "no meaning or unit is called '" + given + "'");
}

}  // namespace

void GrowingWords::add(std::span<const std::string_view> words, std::uint32_t* codes) {
  const std::lock_guard lock(mutex_);
  for (const std::string_view word : words) {
    auto found = codes_.find(word);
    if (found == codes_.end()) {
      if (words_.size() >= std::numeric_limits<std::uint32_t>::max() - 1) {
        throw Error(Errc::invalid_argument, "a column holds more than 2^32 - 2 words");
      }
      words_.emplace_back(word);
      const auto code = static_cast<std::uint32_t>(words_.size());
      found = codes_.emplace(words_.back(), code).first;
    }
    *codes++ = found->second;
  }
}

std::uint64_t GrowingWords::size() const noexcept {
  const std::lock_guard lock(mutex_);
  return words_.size();
}

std::string_view GrowingWords::operator[](std::uint64_t i) const {
  const std::lock_guard lock(mutex_);
  if (i >= words_.size()) throw Error(Errc::out_of_range, "the dictionary has no such word");
  return words_[i];
}

nb::object to_str(std::string_view text) {
  PyObject* const made =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

nb::list slot_names(const dapple::ColumnGroup& group) {
  nb::list names;
  for (std::uint64_t slot = 0; slot < group.size; ++slot) {
    names.append(to_str(group.slot_name(slot)));
  }
  return names;
}

std::string_view bytes_of(nb::handle text, nb::object& keep) {
  Py_ssize_t size = 0;
  if (PyUnicode_Check(text.ptr()) == 0) throw nb::type_error("a word must be a str");
  if (const char* const utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) {
    return {utf8, static_cast<std::size_t>(size)};
  }
  PyErr_Clear();
  PyObject* const bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape");
  if (bytes == nullptr) throw nb::python_error();  // a UnicodeEncodeError
  keep = nb::steal(bytes);
  return {PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes))};
}

nb::tuple to_tuple(const dapple::Meaning& meaning) {
  return nb::make_tuple(kKinds[static_cast<std::size_t>(meaning.kind)],
                        kUnits[static_cast<std::size_t>(meaning.unit)], meaning.ordered,
                        meaning.zone, meaning.missing,
                        meaning.words ? nb::cast(Words{meaning.words}) : nb::none());
}

dapple::Meaning to_meaning(nb::handle tuple) {
  dapple::Meaning out;
  out.kind = named<dapple::MeaningKind>(kKinds, nb::cast<std::string>(tuple[0]));
  out.unit = named<dapple::TimeUnit>(kUnits, nb::cast<std::string>(tuple[1]));
  out.ordered = nb::cast<bool>(tuple[2]);
  out.zone = nb::cast<std::string>(tuple[3]);
  out.missing = nb::cast<std::optional<std::uint64_t>>(tuple[4]);
  const nb::object words = tuple[5];
  if (!words.is_none()) out.words = nb::cast<const Words&>(words).dictionary;
  return out;
}

void bind_words(nb::module_& m) {
  nb::class_<Words>(m, "Words")
      .def("__init__", &make_words)
      .def("__len__", [](const Words& words) { return known(words).size(); })
      .def("tolist", &list_words)
      .def("__reduce__",
           [](nb::handle self) {
             return nb::make_tuple(self.type(), nb::make_tuple(self.attr("tolist")()));
           })
      .def("look_up", &look_up)
      .def("merge", &merge);
  m.def("encode_words", &encode);
  m.def("types_of", &types_of);
}

}  // namespace pydapple
