#include "lib/io/http/http_source.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "dapple/error.h"
#include "lib/base/at_once.h"
#include "lib/io/http/http.h"

namespace dapple::detail::http {

namespace {

constexpr std::uint64_t kEnd = 64 << 10;   // what is fetched of the end at once
constexpr std::uint64_t kPiece = 2 << 20;  // larger ranges are fetched in pieces, side by side
constexpr std::size_t kInFlight = 16, kThreads = 4;
constexpr unsigned kTries = 3;
constexpr std::chrono::milliseconds kFirstPause{200}, kLongestPause{5000};

/// Writing to a connection that the server has closed must not end the process.
class WithoutSigpipe {
 public:
  WithoutSigpipe() noexcept {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    constexpr timespec kNow{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &kNow) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_;
};

/// Runs each once; those that are worth another try.
std::vector<Exchange*> run_once(const CurlApi& curl, CURLM* multi,
                                std::span<Exchange* const> wanted, std::size_t in_flight) {
  std::vector<Exchange*> again;
  std::size_t begun = 0, running = 0;
  while (begun < wanted.size() || running > 0) {
    for (; running < in_flight && begun < wanted.size(); ++running) wanted[begun++]->begin(multi);
    int active = 0, left = 0;
    curl.curl_multi_perform(multi, &active);
    bool moved = false;
    while (const CURLMsg* const message = curl.curl_multi_info_read(multi, &left)) {
      char* owner = nullptr;
      curl.curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner);
      auto* const exchange = reinterpret_cast<Exchange*>(owner);
      const Exchange::Next next = exchange->finish(message->data.result);
      moved = true;
      if (next == Exchange::Next::follow) {
        exchange->follow();
        continue;
      }
      exchange->end();
      --running;
      if (next == Exchange::Next::retry) again.push_back(exchange);
    }
    if (!moved) curl.curl_multi_poll(multi, nullptr, 0, 1000, nullptr);
  }
  return again;
}

/// The longest that a server wants to be left alone, within limits.
std::chrono::milliseconds pause_before(std::span<Exchange* const> again, unsigned tries) {
  std::chrono::milliseconds pause = kFirstPause * (1U << (2 * tries));
  for (const Exchange* exchange : again) {
    const std::int64_t seconds = std::clamp<std::int64_t>(exchange->retry_after(), 0, 5);
    pause = std::max<std::chrono::milliseconds>(pause, std::chrono::seconds(seconds));
  }
  return std::min(pause, kLongestPause);
}

}  // namespace

/// Connections for one thread.
class Connections::Loan {
 public:
  Loan(const CurlApi& curl, Connections& from) : curl_(curl), from_(from) {
    const std::lock_guard lock(from.mutex_);
    // After a fork the connections are the parent's: two processes must not use one.
    if (const pid_t process = ::getpid(); std::exchange(from.process_, process) != process) {
      from.idle_.clear();
    }
    if (from.idle_.empty()) {
      multi_ = curl_.curl_multi_init();
      if (multi_ == nullptr) throw std::bad_alloc();
      curl_.curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(kInFlight));
    } else {
      multi_ = from.idle_.back();
      from.idle_.pop_back();
    }
  }
  ~Loan() {
    try {
      const std::lock_guard lock(from_.mutex_);
      from_.idle_.push_back(multi_);
    } catch (...) {  // no memory
      curl_.curl_multi_cleanup(multi_);
    }
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  CURLM* multi() const noexcept { return multi_; }

 private:
  const CurlApi& curl_;
  Connections& from_;
  CURLM* multi_;
};

Connections::Connections() : process_(::getpid()) {}

Connections::~Connections() {
  if (idle_.empty() || ::getpid() != process_) return;
  const WithoutSigpipe guard;
  for (CURLM* const multi : idle_) curl_for({}).curl_multi_cleanup(multi);
}

void Connections::run(std::span<const std::unique_ptr<Exchange>> exchanges, std::size_t in_flight) {
  const WithoutSigpipe guard;
  const CurlApi& curl = curl_for({});  // which is there: whoever made an exchange had it
  const Loan loan(curl, *this);
  std::vector<Exchange*> left;
  for (const auto& exchange : exchanges) left.push_back(exchange.get());
  try {
    for (unsigned tries = 0; !left.empty(); ++tries) {
      if (tries == kTries) left.front()->fail();
      if (tries > 0) std::this_thread::sleep_for(pause_before(left, tries - 1));
      left = run_once(curl, loan.multi(), left, in_flight);
    }
  } catch (...) {  // the others are still on their way
    for (const auto& exchange : exchanges) exchange->end();
    throw;
  }
}

HttpSource::HttpSource(const std::string& address, const Version& version,
                       std::shared_ptr<Connections> connections)
    : RangedSource(shown(address), {version.size}, {.unit = kEnd, .gap = 256 << 10}),
      address_(address),
      version_(version),
      connections_(std::move(connections)) {
  set_version(std::to_string(version.size) + '\n' + version.etag + '\n' + version.modified);
}

HttpSource::~HttpSource() = default;

void HttpSource::fetch(std::span<const Part> parts) const {
  std::vector<std::unique_ptr<Exchange>> exchanges;
  for (const Near& near : joined(parts)) {
    std::span<const Part> to = near.parts;
    for (std::uint64_t at = near.bytes.begin; at < near.bytes.end; at += kPiece) {
      const Range bytes{at, at + std::min(kPiece, near.bytes.end - at)};
      while (end_of(to.front()) <= bytes.begin) to = to.subspan(1);
      exchanges.push_back(std::make_unique<Exchange>(address_, bytes, to, version_));
    }
  }
  try {
    // Of much, one thread would be busy with copying, or decrypting, while others could.
    const std::size_t threads = exchanges.size() >= 2 * kInFlight ? kThreads : 1;
    at_once(threads, [&](std::uint64_t i) {
      const std::size_t begin = i * exchanges.size() / threads;
      const std::size_t end = (i + 1) * exchanges.size() / threads;
      connections_->run(std::span(exchanges).subspan(begin, end - begin), kInFlight / threads);
    });
  } catch (const Error&) {  // the next to open the address shall ask for its version
    PieceCache::forget(folder_, address_);
    throw;
  }
}

void HttpSource::know_end() const {
  const std::uint64_t begin = (size() - std::min(size(), kEnd)) / kEnd * kEnd;
  std::vector<std::byte> end(static_cast<std::size_t>(size() - begin));
  const Part part{begin, end};
  if (!end.empty()) get({&part, 1});
  know(begin, end);
}

void HttpSource::keep_in(const CacheFolder& folder) {
  folder_ = folder;
  use_cache(folder, address_ + '\n' + version());
}

namespace {

std::optional<Version> version_in(const std::string& line) {
  const std::size_t first = line.find('\n');
  const std::size_t second = line.find('\n', std::min(first, line.size() - 1) + 1);
  Version version;
  const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), version.size);
  if (failed != std::errc() || first == std::string::npos || second == std::string::npos ||
      end != line.data() + first || version.size > kMostRangedBytes) {
    return std::nullopt;
  }
  version.etag = line.substr(first + 1, second - first - 1);
  version.modified = line.substr(second + 1);
  return version;
}

/// The object as another process of this machine saw it lately; no request if all is kept.
std::shared_ptr<HttpSource> open_seen(const std::string& address, const CacheFolder& folder,
                                      const std::shared_ptr<Connections>& connections) {
  if (folder.path.empty()) return nullptr;
  const auto line = PieceCache::seen(folder, address);
  const auto version = line ? version_in(*line) : std::nullopt;
  if (!version) return nullptr;
  try {
    auto source = std::make_shared<HttpSource>(address, *version, connections);
    source->keep_in(folder);
    source->know_end();
    return source;
  } catch (const Error&) {  // replaced meanwhile: it has been forgotten
    return nullptr;
  }
}

bool is_nothing(long status) noexcept { return status == 404 || status == 410; }

/// Many servers answer that for what is not there, and for addresses that are signed.
bool is_hidden(long status) noexcept { return status == 401 || status == 403; }

/// Statuses by which servers refuse to count from the end; some send everything.
bool refuses_end(long status) noexcept {
  return status == 200 || status == 400 || status == 416 || status == 500 || status == 501;
}

/// The first answer of an object, for bytes as of `Exchange`. Nullptr when there is none.
std::unique_ptr<Exchange> first_answer(const std::string& address, Connections& connections,
                                       const RangeRequest& to, bool may_be_hidden) {
  std::vector<std::unique_ptr<Exchange>> one;
  one.push_back(std::make_unique<Exchange>(address, to));
  try {
    connections.run(one, 1);
  } catch (const Error&) {
    const long status = one.front()->answer();
    if (is_nothing(status) || (may_be_hidden && is_hidden(status))) return nullptr;
    if (to.offset != Exchange::kEnd || !refuses_end(status)) throw;
    return first_answer(address, connections, {0, to.to}, may_be_hidden);
  }
  return std::move(one.front());
}

std::shared_ptr<HttpSource> find_at(const std::string& address, const CacheFolder& folder,
                                    const std::shared_ptr<Connections>& connections,
                                    std::uint64_t front, bool may_be_hidden = false) {
  if (auto source = open_seen(address, folder, connections)) return source;
  // For a cache there is at least one whole piece among the last bytes.
  const std::uint64_t end = folder.path.empty() ? kEnd : kEnd + PieceCache::kPiece;
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(front == 0 ? end : std::min(front, kPiece)));
  const auto got =
      first_answer(address, *connections, {front == 0 ? Exchange::kEnd : 0, bytes}, may_be_hidden);
  if (got == nullptr) return nullptr;
  const Version& version = got->version();
  if (version.size > 0 && version.etag.empty() && version.modified.empty()) {
    throw Error(Errc::unsupported, shown(address), std::nullopt,
                "the server gives the object neither an ETag nor a date, so that nobody could see "
                "that it is replaced; download the file first");
  }
  auto source = std::make_shared<HttpSource>(address, version, connections);
  source->keep_in(folder);
  source->know(got->first_byte(), std::span(bytes).first(got->received()));
  if (!folder.path.empty()) PieceCache::see(folder, address, source->version());
  return source;
}

}  // namespace

std::shared_ptr<ByteSource> find_address(const std::string& address, const CacheFolder& folder,
                                         std::uint64_t front) {
  return find_at(address, folder, std::make_shared<Connections>(), front);
}

std::shared_ptr<ByteSource> HttpSource::fetch_sibling(std::string_view ending) const {
  std::string address = address_;
  address.insert(std::min(address.find_first_of("?#"), address.size()), ending);
  return find_at(address, folder_, connections_, kEnd, true);
}

std::shared_ptr<ByteSource> HttpSource::beside(const std::string& name, std::uint64_t front) const {
  auto found = find_at(address_beside(address_, name), folder_, connections_, front);
  if (found != nullptr) found->set_check(check());
  return found;
}

}  // namespace dapple::detail::http
