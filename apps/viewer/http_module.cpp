#include <httplib.h>
#include <sys/socket.h>

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

/// cpp-httplib lets five clients wait to be accepted; a sixth would try again after a second.
class PatientServer : public httplib::Server {
 public:
  void let_many_wait() { ::listen(svr_sock_, SOMAXCONN); }
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
    constexpr time_t kPatience = 5;  // seconds for an answer to be taken
    constexpr time_t kRequest = 2;   // seconds for a request to arrive
    http_.set_read_timeout(kRequest);
    http_.set_write_timeout(kPatience);
    http_.set_keep_alive_timeout(kRequest);
    http_.set_keep_alive_max_count(1);  // on this machine, connecting again costs nothing
    http_.set_payload_max_length(0);
    // The head of an answer and its body are sent one after the other: without this, the body waits
    // 40 ms until the browser's system confirms the head.
    http_.set_tcp_nodelay(true);
    http_.new_task_queue = [] { return new ThreadEach; };
    // Before any of the library's own routing, which matches expressions against the path.
    http_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          const std::string host = request.get_header_value("Host");
          send(answer({request.method, host, request.target}), response);
          return httplib::Server::HandlerResponse::Handled;
        });
  }

  int listen(int port) override {
    const char* const kLoopback = "127.0.0.1";
    const int taken = port == 0 ? http_.bind_to_any_port(kLoopback)
                                : (http_.bind_to_port(kLoopback, port) ? port : -1);
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
