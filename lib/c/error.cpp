#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "dapple/error.h"
#include "lib/c/arrow_arrays.h"
#include "lib/c/handles.h"

namespace dapple::detail::c {

namespace {

/// Copies as much as there is room for, and no part of a character.
template <std::size_t kSize>
void copy_text(char (&to)[kSize], std::string_view text) noexcept {
  std::size_t n = std::min(text.size(), kSize - 1);
  const auto continues = [&](std::size_t k) {
    return k < text.size() && (static_cast<unsigned char>(text[k]) & 0xC0) == 0x80;
  };
  while (n > 0 && continues(n)) --n;
  std::copy_n(text.data(), n, to);
  to[n] = '\0';
}

std::int32_t fill(dapple_error* error, dapple_code code, std::string_view message) noexcept {
  if (error != nullptr) {
    error->code = code;
    error->error_number = 0;
    error->byte = DAPPLE_NO_BYTE;
    error->option[0] = error->file[0] = '\0';
    copy_text(error->message, message);
    try {
      std::string text;
      append_text(text, message);
      copy_text(error->message, text);
    } catch (const std::bad_alloc&) {  // it stays as it is
    }
  }
  return code;
}

}  // namespace

std::int32_t report(dapple_error* error) noexcept {
  try {
    throw;
  } catch (const Error& e) {
    const auto code = static_cast<dapple_code>(static_cast<int>(e.code()) + 1);
    fill(error, code, e.what());
    if (error != nullptr) {
      error->error_number = e.error_number();
      error->byte = e.offset().value_or(DAPPLE_NO_BYTE);
      copy_text(error->option, e.option());
      copy_text(error->file, e.file());
    }
    return code;
  } catch (const std::bad_alloc&) {
    return fill(error, DAPPLE_NO_MEMORY, "there is not enough memory");
  } catch (const Stopped&) {
    return fill(error, DAPPLE_STOPPED, "a callback asked to stop");
  } catch (const std::exception& e) {
    return fill(error, DAPPLE_INTERNAL, e.what());
  } catch (...) {
    return fill(error, DAPPLE_INTERNAL, "an exception of a kind that dapple does not know");
  }
}

void fail_argument(std::string detail) { throw Error(Errc::invalid_argument, std::move(detail)); }

void fail_handle(bool is_null) {
  fail_argument(is_null ? "the handle is NULL"
                        : "the handle is of another kind, or was closed already");
}

ValueType value_type(std::int32_t type) {
  const auto known =
      type < 0 || type > 255 ? std::nullopt : value_type_of_code(static_cast<std::uint8_t>(type));
  if (!known) fail_argument("there is no value type " + std::to_string(type));
  return *known;
}

Range range(std::uint64_t begin, std::uint64_t end, const char* what) {
  if (begin > end) fail_argument(std::string(what) + " end before they begin");
  return {begin, end};
}

const Frame& frame_of(const dapple_object& object) {
  const auto* const frame = std::get_if<Frame>(&object.held);
  if (frame == nullptr) throw Error(Errc::type_mismatch, "this is a matrix, not a frame");
  return *frame;
}

}  // namespace dapple::detail::c
