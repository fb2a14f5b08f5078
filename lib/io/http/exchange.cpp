#include "lib/io/http/exchange.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <new>
#include <optional>

#include "dapple/error.h"
#include "lib/io/http/http.h"
#include "lib/io/ranged_source.h"

namespace dapple::detail::http {

namespace {

constexpr std::uint64_t kMostHeaderBytes = 64 << 10;
constexpr std::uint64_t kMostIgnoredBytes = 64 << 10;  // of pages that explain an error
constexpr int kMostRedirections = 5;
constexpr long kConnectSeconds = 10;
constexpr long kBufferBytes = 128 << 10;                       // curl's own is 16 KiB
constexpr long kStallSeconds = 20, kStallBytes = 1024;         // slower than that is stalled
constexpr long kAnswerSeconds = 60, kSlowestBytes = 16 << 10;  // and a second for each of these

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

bool is_field(std::string_view name, std::string_view lower_case) noexcept {
  return std::equal(name.begin(), name.end(), lower_case.begin(), lower_case.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a | 0x20 : a) == b; });
}

/// Takes a number, and what has to follow it, from the front of `text`.
std::optional<std::uint64_t> take_number(std::string_view& text, std::string_view then) noexcept {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  if (error != std::errc() || !text.starts_with(then)) return std::nullopt;
  text.remove_prefix(then.size());
  return number;
}

/// A broken connection, which another may replace. A stalled one is not among them: it has taken
/// its time already.
bool is_broken(CURLcode result) noexcept {
  constexpr CURLcode kBroken[] = {CURLE_COULDNT_CONNECT, CURLE_GOT_NOTHING,  CURLE_SEND_ERROR,
                                  CURLE_RECV_ERROR,      CURLE_PARTIAL_FILE, CURLE_HTTP2,
                                  CURLE_HTTP2_STREAM};
  return std::find(std::begin(kBroken), std::end(kBroken), result) != std::end(kBroken);
}

bool is_redirection(long status) noexcept {
  return (status >= 301 && status <= 303) || status == 307 || status == 308;
}

bool is_passing(long status) noexcept {
  return status == 429 || status == 500 || (status >= 502 && status <= 504);
}

}  // namespace

Exchange::Exchange(const std::string& address, Range bytes, std::span<const RangeRequest> to,
                   const Version& opened)
    : curl_(curl_for(shown(address))),
      first_address_(address),
      offset_(bytes.begin),
      size_(bytes.size()),
      to_(to),
      opened_(&opened) {}

Exchange::Exchange(const std::string& address, const RangeRequest& to)
    : curl_(curl_for(shown(address))),
      first_address_(address),
      only_(to),
      offset_(to.offset),
      size_(to.to.size()),
      to_(&only_, 1),
      opened_(nullptr) {}

Exchange::~Exchange() { end(); }

void Exchange::end() noexcept {
  if (easy_ != nullptr) {
    curl_.curl_multi_remove_handle(multi_, easy_);
    curl_.curl_easy_cleanup(easy_);
  }
  curl_.curl_slist_free_all(headers_);
  easy_ = nullptr;
  headers_ = nullptr;
}

void Exchange::begin(CURLM* multi) {
  multi_ = multi;
  redirections_ = 0;
  start(first_address_);
}

void Exchange::follow() {
  if (++redirections_ > kMostRedirections) fail("the server redirects more than 5 times");
  if (!is_address(next_address_) || (is_secure(address_) && !is_secure(next_address_))) {
    fail("the server redirects to " + shown(next_address_) +
         ", which is not followed: it is no https address, or, from http, no http address");
  }
  start(next_address_);
}

void Exchange::add_headers() {
  const auto add = [&](const std::string& line) {
    curl_slist* const longer = curl_.curl_slist_append(headers_, line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    headers_ = longer;
  };
  add("Range: bytes=" +
      (offset_ == kEnd ? '-' + std::to_string(size_)
                       : std::to_string(offset_) + '-' + std::to_string(offset_ + size_ - 1)));
  add("Accept-Encoding: identity");  // its bytes, not compressed on the way
  if (opened_ == nullptr) return;
  // A weak tag never matches; it is compared with that of the answer.
  if (!opened_->etag.empty() && !opened_->etag.starts_with("W/")) {
    add("If-Match: " + opened_->etag);
  } else if (!opened_->modified.empty()) {
    add("If-Unmodified-Since: " + opened_->modified);
  }
}

void Exchange::start(const std::string& address) {
  end();
  address_ = address;
  version_ = {};
  content_range_.clear();
  header_bytes_ = ignored_bytes_ = 0;
  wanted_ = static_cast<std::size_t>(size_);
  received_ = next_ = 0;
  retry_after_ = 0;
  in_range_ = false;
  easy_ = curl_.curl_easy_init();
  if (easy_ == nullptr) throw std::bad_alloc();
  add_headers();
  const auto set = [&](CURLoption option, auto value) {
    const CURLcode result = curl_.curl_easy_setopt(easy_, option, value);
    if (result != CURLE_OK) fail(curl_.curl_easy_strerror(result));
  };
  set(CURLOPT_URL, address_.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTPHEADER, headers_);
  set(CURLOPT_USERAGENT, "dapple");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_BUFFERSIZE, kBufferBytes);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // those of a proxy
  set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  set(CURLOPT_LOW_SPEED_LIMIT, kStallBytes);
  set(CURLOPT_LOW_SPEED_TIME, kStallSeconds);
  set(CURLOPT_TIMEOUT, kAnswerSeconds + static_cast<long>(size_) / kSlowestBytes);
  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  set(CURLOPT_PRIVATE, static_cast<void*>(this));
  const CURLMcode added = curl_.curl_multi_add_handle(multi_, easy_);
  if (added != CURLM_OK) fail(curl_.curl_multi_strerror(added));
}

/// For callbacks, which C code calls: what is thrown there, `finish` throws.
template <class F>
std::size_t Exchange::without_throwing(std::size_t n, const F& f) noexcept {
  try {
    f();
    return n;
  } catch (...) {
    thrown_ = std::current_exception();
    return n + 1;  // any other number than n ends the transfer
  }
}

std::size_t Exchange::on_header(char* data, std::size_t, std::size_t n, void* self) noexcept {
  auto& exchange = *static_cast<Exchange*>(self);
  return exchange.without_throwing(n, [&] { exchange.take_header({data, n}); });
}

std::size_t Exchange::on_body(char* data, std::size_t, std::size_t n, void* self) noexcept {
  auto& exchange = *static_cast<Exchange*>(self);
  return exchange.without_throwing(n, [&] { exchange.take_body({data, n}); });
}

void Exchange::take_header(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > kMostHeaderBytes) fail("the server sends more than 64 KiB of headers");
  const std::size_t colon = std::min(line.find(':'), line.size() - 1);
  const std::string_view field = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
  if (received_ > 0) return;        // what follows a body is of no account
  if (line.starts_with("HTTP/")) {  // nor is what came with an answer before this one, such as 103
    version_ = {};
    content_range_.clear();
  }
  if (is_field(field, "content-range")) content_range_ = value;
  if (is_field(field, "etag")) version_.etag = value;
  if (is_field(field, "last-modified")) version_.modified = value;
}

long Exchange::status() const noexcept {
  long status = 0;
  curl_.curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

/// Throws unless the answer is of the bytes that were asked for, of the version that was opened.
void Exchange::require_range() {
  if (in_range_) return;
  std::string_view text = content_range_;
  const bool in_bytes = text.starts_with("bytes ");
  text.remove_prefix(in_bytes ? 6 : 0);
  const auto first = take_number(text, "-"), last = take_number(text, "/");
  const auto size = take_number(text, "");
  if (!in_bytes || !first || !last || !size || !text.empty() || *size > kMostRangedBytes) {
    fail("the server answers with the range '" + content_range_.substr(0, 80) +
         "', from which the object's size cannot be told");
  }
  version_.size = *size;
  if (opened_ != nullptr && (opened_->size != *size || opened_->etag != version_.etag ||
                             opened_->modified != version_.modified)) {
    fail("the object has been replaced since it was opened; open it again");
  }
  if (opened_ == nullptr)
    wanted_ = static_cast<std::size_t>(std::min<std::uint64_t>(*size, wanted_));
  const std::uint64_t wanted_first = offset_ == kEnd ? *size - wanted_ : offset_;
  if (*first != wanted_first || *last != wanted_first + wanted_ - 1 || wanted_ == 0) {
    fail("the server answers with other bytes than it was asked for: " + content_range_);
  }
  in_range_ = true;
}

void Exchange::take_body(std::string_view bytes) {
  if (status() == 200) {
    throw Error(Errc::unsupported, shown(first_address_), std::nullopt,
                "the server does not answer requests for ranges of bytes; download the file first");
  }
  if (status() != 206) {
    ignored_bytes_ += bytes.size();
    if (ignored_bytes_ > kMostIgnoredBytes) {
      fail("the server answers with status " + std::to_string(status()));
    }
    return;
  }
  require_range();
  if (bytes.size() > wanted_ - received_) fail("the server sends more bytes than it was asked for");
  put(bytes);
}

/// Copies the next bytes to where they are wanted.
void Exchange::put(std::string_view bytes) {
  std::uint64_t at = offset_ + received_;
  received_ += bytes.size();
  while (!bytes.empty() && next_ < to_.size()) {
    const auto& [first, to] = to_[next_];
    std::size_t n = bytes.size();
    if (at < first) {
      n = static_cast<std::size_t>(std::min<std::uint64_t>(first - at, n));
    } else if (at - first < to.size()) {
      n = std::min(to.size() - static_cast<std::size_t>(at - first), n);
      std::memcpy(to.data() + (at - first), bytes.data(), n);
    } else {
      ++next_;
      continue;
    }
    at += n;
    bytes.remove_prefix(n);
  }
}

/// True when the answer says that there are no bytes at all.
bool Exchange::is_empty_object() const {
  return opened_ == nullptr && content_range_ == "bytes */0";
}

Exchange::Next Exchange::finish(CURLcode result) {
  answer_ = status();
  if (thrown_) std::rethrow_exception(thrown_);
  why_ = curl_.curl_easy_strerror(result);
  if (is_broken(result)) return Next::retry;
  if (result != CURLE_OK) fail();
  why_ = "the server answers with status " + std::to_string(answer_);
  if (answer_ == 200) take_body({});  // without any
  if (answer_ == 206) {
    require_range();
    if (received_ == wanted_) return Next::nothing;
    why_ = "the server sends fewer bytes than it was asked for";
    return Next::retry;
  }
  if (answer_ == 416 && is_empty_object()) return Next::nothing;
  if (answer_ == 412 || (answer_ == 416 && opened_ != nullptr)) {
    fail("the object has been replaced since it was opened; open it again");
  }
  const char* location = nullptr;
  curl_.curl_easy_getinfo(easy_, CURLINFO_REDIRECT_URL, &location);
  if (is_redirection(answer_) && location != nullptr) {
    next_address_ = location;
    return Next::follow;
  }
  if (!is_passing(answer_)) fail();
  curl_off_t seconds = 0;
  curl_.curl_easy_getinfo(easy_, CURLINFO_RETRY_AFTER, &seconds);
  retry_after_ = seconds;
  return Next::retry;
}

void Exchange::fail(const std::string& why) const {
  throw Error(Errc::io, shown(first_address_), std::nullopt, why);
}

void Exchange::fail() const { fail(why_); }

}  // namespace dapple::detail::http
