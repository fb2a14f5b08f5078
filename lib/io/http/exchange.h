// One request for a range of bytes and its answer, which is compared with the request as it comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>

#include "dapple/range_reader.h"
#include "dapple/region.h"
#include "lib/io/http/curl.h"

namespace dapple::detail::http {

/// An object as it was when it was opened.
struct Version {
  std::string etag;
  std::string modified;  // Last-Modified
  std::uint64_t size = 0;
};

class Exchange {
 public:
  /// What comes after a transfer.
  enum class Next { nothing, follow, retry };

  /// In place of an offset: the last bytes of the object, whatever its size.
  static constexpr std::uint64_t kEnd = std::uint64_t{1} << 63;

  /// Asks for bytes of an object of version `opened`, and gives them to the requests `to`, which
  /// ascend, and of which only the first and the last may have others, too. Bytes that none of them
  /// has are dropped. Throws unsupported where there is no libcurl: none is loaded before.
  Exchange(const std::string& address, Range bytes, std::span<const RangeRequest> to,
           const Version& opened);
  /// Asks for as many bytes from `to.offset` on, or at the end, as there is room. Any version will
  /// do, and may have fewer bytes.
  Exchange(const std::string& address, const RangeRequest& to);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Starts from the beginning, or goes on where a redirection leads.
  void begin(CURLM* multi);
  void follow();
  /// REQUIRES that the transfer has ended, with `result`. Throws io and unsupported.
  Next finish(CURLcode result);
  /// Stops a transfer that may be going on.
  void end() noexcept;
  /// Throws io with what the last try came to.
  [[noreturn]] void fail() const;

  /// What the server said of the object, and how many bytes came, after the last transfer.
  const Version& version() const noexcept { return version_; }
  std::size_t received() const noexcept { return received_; }
  /// Where in the object they are.
  std::uint64_t first_byte() const noexcept {
    return offset_ == kEnd ? version_.size - received_ : offset_;
  }
  /// The status of the last answer, which `finish` saw; 0: none came.
  long answer() const noexcept { return answer_; }
  /// How long the server wants to be left alone, in seconds; 0: it did not say.
  std::int64_t retry_after() const noexcept { return retry_after_; }

 private:
  static std::size_t on_header(char* data, std::size_t one, std::size_t n, void* self) noexcept;
  static std::size_t on_body(char* data, std::size_t one, std::size_t n, void* self) noexcept;
  template <class F>
  std::size_t without_throwing(std::size_t n, const F& f) noexcept;

  void start(const std::string& address);
  void add_headers();
  void take_header(std::string_view line);
  void take_body(std::string_view bytes);
  void put(std::string_view bytes);
  void require_range();
  long status() const noexcept;
  bool is_empty_object() const;
  [[noreturn]] void fail(const std::string& why) const;

  const CurlApi& curl_;
  const std::string& first_address_;
  const RangeRequest only_{};
  const std::uint64_t offset_, size_;
  const std::span<const RangeRequest> to_;
  const Version* const opened_;

  CURL* easy_ = nullptr;
  CURLM* multi_ = nullptr;
  curl_slist* headers_ = nullptr;
  std::string address_, next_address_;
  int redirections_ = 0;

  // Of the last answer.
  Version version_;
  std::string content_range_;
  std::string why_;  // the last try came to nothing
  std::uint64_t header_bytes_ = 0, ignored_bytes_ = 0;
  std::size_t wanted_ = 0, received_ = 0;
  std::size_t next_ = 0;  // of to_
  std::int64_t retry_after_ = 0;
  long answer_ = 0;
  bool in_range_ = false;      // content_range_ is what was asked for
  std::exception_ptr thrown_;  // in a callback
};

}  // namespace dapple::detail::http
