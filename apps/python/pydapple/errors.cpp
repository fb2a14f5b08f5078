// dapple::Error as a Python exception: errors.py has the classes, and the function that picks one.
#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core.h"

namespace pydapple {

namespace {

/// Which of Python's exceptions of the system it is, as errno; 0: none.
int errno_of(const dapple::Error& error) {
  return error.option() == "overwrite" ? EEXIST : error.error_number();
}

nb::object decode(const std::string& text) {
  return nb::steal(
      PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

struct Advice {
  std::string_view option, sentence;
};
constexpr Advice kAdvice[] = {
    {"format", "; format= says what it is"},
    {"format=csv", "; format='csv' reads it as that"},
    {"csv.missing_as_nan", "; csv={'missing_as_nan': True} makes it NaN"},
    {"csv.delimiter", "; csv={'delimiter': C} says what is between fields"},
    {"csv.type", "; csv={'types': {...}} gives columns other types"},
    {"csv.type=text", "; csv={'types': {LABEL: 'text'}} reads it as words"},
    {"futhark.value", "; futhark={'value': N} opens one of them, futhark={'frame': True} all"},
    {"array", "; array='NAME' opens one of them"},
    {"absent", "; absent='zero' makes it zero"},
    {"overwrite", "; overwrite=True replaces it"},
    {"value_type", "; dtype= converts all cells"},
    {"allow_loss", "; allow_loss=True rounds"},
    {"drop_labels", "; drop_labels=True leaves them out"},
    {"stored_numbers", "; stored_numbers=True writes the codes, ticks and numbers that are stored"},
    {"idv.drop_unsupported",
     "; idv={'drop_unsupported': True} or idv={'columns': [...]} leaves it out"},
    {"columns", "; f.columns lists them"},
    {"utf-8", "; pandas.read_csv(..., encoding='latin1') does that where it is Latin-1"},
    {"repair", "; repair() saves what is whole"},
};

/// What the caller may do about it, in the words of this module.
std::string_view advice(std::string_view option) noexcept {
  for (const Advice& known : kAdvice) {
    if (known.option == option) return known.sentence;
  }
  return {};
}

bool in_word(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// NumPy's name of a type, since its "u8" has 8 bytes; "" for what is none.
std::string numpy_name(std::string_view word) {
  for (const dapple::ValueType type : dapple::kValueTypes) {
    if (dapple::name(type) != word) continue;
    const char* const kind = dapple::is_float(type)    ? "float"
                             : dapple::is_signed(type) ? "int"
                                                       : "uint";
    return kind + std::string(word.substr(1));
  }
  return {};
}

/// A message with NumPy's names of types. What is in quotes is a name or a value, unless the
/// message calls it a type.
std::string with_numpy_names(std::string_view detail) {
  std::string made;
  bool quoted = false, type = false;
  for (std::size_t at = 0; at < detail.size();) {
    const char c = detail[at];
    if (c == '\'') {
      quoted = !quoted;
      type = quoted && std::string_view(made).ends_with("type ");
    }
    std::size_t end = at;
    while (end < detail.size() && in_word(detail[end])) ++end;
    const std::string_view word = detail.substr(at, std::max(end - at, std::size_t{1}));
    const std::string better = quoted && !type ? std::string() : numpy_name(word);
    made += better.empty() ? word : std::string_view(better);
    at += word.size();
  }
  return made;
}

nb::object exception_of(const dapple::Error& error) {
  const std::string_view code = name(error.code());
  const auto offset = error.offset();
  return nb::module_::import_("pydapple.errors")
      .attr("from_code")(nb::str(code.data(), code.size()),
                         decode(with_numpy_names(error.detail()).append(advice(error.option()))),
                         decode(error.file()), offset ? nb::object(nb::int_(*offset)) : nb::none(),
                         errno_of(error));
}

/// For a result that the library has no memory for.
void raise_too_large() noexcept {
  try {
    const nb::object kind = nb::module_::import_("pydapple.errors").attr("TooLargeError");
    PyErr_SetString(kind.ptr(), "there is no memory for what this gives: ask for a part of it");
  } catch (nb::python_error& e) {
    e.restore();
  }
}

}  // namespace

void raise(const dapple::Error& error) noexcept {
  try {
    const nb::object exception = exception_of(error);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  } catch (nb::python_error& e) {
    e.restore();
  }
}

void raise_index(const char* axis, PyObject* index, std::uint64_t rows,
                 std::uint64_t cols) noexcept {
  try {
    raise(dapple::Error(dapple::Errc::out_of_range, std::string(axis) + " " +
                                                        nb::str(nb::handle(index)).c_str() +
                                                        " is outside the " + std::to_string(rows) +
                                                        " x " + std::to_string(cols) + " matrix"));
  } catch (nb::python_error& e) {
    e.restore();
  }
}

nb::object to_exception(const dapple::Error& error) { return exception_of(error); }

std::string shown(nb::handle value) {
  return nb::cast<std::string>(nb::module_::import_("pydapple.errors").attr("shown")(value));
}

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const dapple::Error& error) {
      raise(error);
    } catch (const std::bad_alloc&) {
      raise_too_large();
    } catch (const std::length_error&) {
      raise_too_large();
    }
  });
}

}  // namespace pydapple
