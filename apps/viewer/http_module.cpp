#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <semaphore>
#include <system_error>
#include <thread>

#include "http.h"

namespace {

using namespace dapple::viewer;

using Clock = std::chrono::steady_clock;

/// One connection. A request as a whole has a time and a size by which it ends: cpp-httplib's own
/// limits are for each byte, so that a client could take hours. Writing needs progress only.
class BoundedStream final : public httplib::Stream {
 public:
  explicit BoundedStream(socket_t socket) : socket_(socket) {}

  bool is_readable() const override { return begin_ < end_ || waits_for(POLLIN, left()); }
  bool is_writable() const override { return waits_for(POLLOUT, kPatience); }

  ssize_t read(char* to, std::size_t size) override {
    if (begin_ == end_) {
      if (taken_ >= kLongestRequest || !waits_for(POLLIN, left())) return -1;
      const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
      if (got <= 0) return got;
      begin_ = 0;
      end_ = static_cast<std::size_t>(got);
      taken_ += end_;
    }
    const std::size_t count = std::min(size, end_ - begin_);
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), count, to);
    begin_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    return is_writable() ? ::send(socket_, from, size, MSG_NOSIGNAL) : -1;
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return socket_; }

 private:
  static constexpr std::chrono::milliseconds kRequest{2000};   // for a request to arrive
  static constexpr std::chrono::milliseconds kPatience{5000};  // for more of an answer to be taken
  static constexpr std::size_t kLongestRequest = 64 << 10;

  std::chrono::milliseconds left() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(due_ - Clock::now());
  }
  bool waits_for(short event, std::chrono::milliseconds time) const {
    pollfd wanted{socket_, event, 0};
    return time.count() > 0 && ::poll(&wanted, 1, static_cast<int>(time.count())) == 1;
  }

  const socket_t socket_;
  const Clock::time_point due_ = Clock::now() + kRequest;
  std::array<char, 4096> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what was received and not read
  std::size_t taken_ = 0;            // received at all
};

class PatientServer : public httplib::Server {
 public:
  /// cpp-httplib lets five clients wait to be accepted; a sixth would try again after a second.
  void let_many_wait() { ::listen(svr_sock_, SOMAXCONN); }

 private:
  /// One request for each connection: on this machine, connecting again costs nothing.
  bool process_and_close_socket(socket_t socket) override {
    BoundedStream stream(socket);
    bool closed = false;
    // Ranges are left out: the handler decides what it sends.
    const bool done = process_request(stream, true, closed,
                                      [](httplib::Request& request) { request.ranges.clear(); });
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
    return done;
  }
};

/// A thread for each connection, because those that say nothing, or half of a request, must not
/// keep others waiting.
class ThreadEach : public httplib::TaskQueue {
 public:
  ~ThreadEach() override { shutdown(); }

  void enqueue(std::function<void()> connection) override {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(connection));
      if (threads_ == kMostThreads) return;
      ++threads_;
    }
    try {
      std::thread([this] { work(); }).detach();
    } catch (const std::system_error&) {  // there are too many
      work();
    }
  }
  void shutdown() override {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return threads_ == 0; });
  }

 private:
  static constexpr std::size_t kMostThreads = 512;

  void work() {
    std::unique_lock lock(mutex_);
    while (!waiting_.empty()) {
      const std::function<void()> connection = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      connection();
      lock.lock();
    }
    --threads_;
    ended_.notify_all();
  }

  std::mutex mutex_;  // guards what follows
  std::deque<std::function<void()>> waiting_;
  std::size_t threads_ = 0;
  std::condition_variable ended_;
};

class HttplibServer final : public Http {
 public:
  explicit HttplibServer(Handle handle) : handle_(std::move(handle)) {
    http_.set_payload_max_length(0);
    // The head of an answer and its body are sent one after the other: without this, the body waits
    // 40 ms until the browser's system confirms the head.
    http_.set_tcp_nodelay(true);
    http_.new_task_queue = [] { return new ThreadEach; };
    // cpp-httplib would share a port with a server that has it already, and requests with it.
    http_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    // Before any of the library's own routing, which matches expressions against the path.
    http_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          const auto header = [&](const char* name) { return request.get_header_value(name); };
          const std::string host = header("Host"), coding = header("Accept-Encoding"),
                            range = header("Range");
          send(answer({request.method, host, request.target, coding, range}), response);
          return httplib::Server::HandlerResponse::Handled;
        });
  }

  int listen(int port, bool any_address) override {
    const char* const address = any_address ? "0.0.0.0" : "127.0.0.1";
    const int taken = port == 0 ? http_.bind_to_any_port(address)
                                : (http_.bind_to_port(address, port) ? port : -1);
    if (taken > 0) http_.let_many_wait();
    return taken;
  }
  void run() override { http_.listen_after_bind(); }

 private:
  HttpAnswer answer(const HttpRequest& request) {
    answering_.acquire();
    HttpAnswer found = handle_(request);
    answering_.release();
    return found;
  }
  static void send(HttpAnswer&& answer, httplib::Response& response) {
    response.status = answer.status;
    for (auto& [name, value] : answer.headers) response.set_header(name, value);
    // Given piece by piece, because cpp-httplib would compress a text of its own once more.
    auto body = std::make_shared<const std::string>(std::move(answer.body));
    response.set_content_provider(body->size(), answer.type,
                                  [body](std::size_t at, std::size_t n, httplib::DataSink& sink) {
                                    return sink.write(body->data() + at, n);
                                  });
  }

  static constexpr std::ptrdiff_t kAnswers = 8;  // made at once: each needs memory

  const Handle handle_;
  std::counting_semaphore<kAnswers> answering_{kAnswers};
  PatientServer http_;
};

}  // namespace

extern "C" [[gnu::visibility("default")]] Http* dapple_make_http(Http::Handle&& handle) {
  return new HttplibServer(std::move(handle));
}
