#include "lib/io/local/guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

namespace dapple::detail {

// What the handler knows about one map. Slots are reused but never freed, because the handler walks
// the list without a lock; there are as many as the most guarded maps that ever lived at once.
struct GuardSlot {
  std::atomic<std::uint64_t> version{0};  // odd while the next three change
  std::atomic<std::uintptr_t> begin{0}, end{0};
  std::atomic<int> fd{-1};
  std::atomic<bool> lost{false};
  GuardSlot* next = nullptr;  // constant once the slot is in the list
  bool taken = false;         // guarded by `handler_mutex`
};

namespace {

using Action = void (*)(int, siginfo_t*, void*);
using Handler = void (*)(int);

std::atomic<GuardSlot*> slots{nullptr};
std::atomic<std::uintptr_t> page_size{0};

// The previous handler, for signals that are not ours; at most one of the two is set.
std::atomic<Action> next_action{nullptr};
std::atomic<Handler> next_handler{SIG_DFL};

std::mutex handler_mutex;  // guards the following, and the allocation of slots
std::uint64_t guarded_maps = 0;
struct sigaction replaced;  // the action before ours
bool buried = false;        // another handler was installed over ours, and calls it

// The slot whose map holds the address, or nullptr. Stores the bounds and the file of the map.
GuardSlot* find_slot(std::uintptr_t address, std::uintptr_t& end, std::uintptr_t& begin,
                     int& fd) noexcept {
  for (GuardSlot* slot = slots.load(std::memory_order_acquire); slot != nullptr;
       slot = slot->next) {
    const std::uint64_t before = slot->version.load(std::memory_order_acquire);
    begin = slot->begin.load(std::memory_order_relaxed);
    end = slot->end.load(std::memory_order_relaxed);
    fd = slot->fd.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    // A slot that is changing does not belong to a map that this thread is reading.
    if (before % 2 != 0 || slot->version.load(std::memory_order_relaxed) != before) continue;
    if (address >= begin && address < end) return slot;
  }
  return nullptr;
}

// Maps zeros over the page of `address`, and over all that follow if the file ends before it;
// otherwise the storage failed to deliver this one page. Async-signal-safe.
bool replace_page(std::uintptr_t address) noexcept {
  std::uintptr_t begin = 0, end = 0;
  int fd = -1;
  GuardSlot* const slot = find_slot(address, end, begin, fd);
  if (slot == nullptr) return false;
  slot->lost.store(true, std::memory_order_release);
  const std::uintptr_t page = page_size.load(std::memory_order_relaxed);
  const std::uintptr_t first = address & ~(page - 1);
  struct stat now;
  const bool cut = ::fstat(fd, &now) == 0 &&
                   static_cast<std::uint64_t>(now.st_size) <= std::uint64_t{first - begin};
  const std::size_t size = cut ? end - first : page;
  // Not mmap(), which sanitizers intercept.
  return ::syscall(SYS_mmap, first, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                   0) != -1;
}

void pass_on(int signal, siginfo_t* info, void* context) noexcept {
  if (const Action action = next_action.load()) return action(signal, info, context);
  const Handler handler = next_handler.load();
  const bool sent = info->si_code <= 0;  // by kill() and the like, not by a faulting instruction
  if (handler == SIG_IGN && sent) return;
  if (handler != SIG_IGN && handler != SIG_DFL) return handler(signal);
  // A handler that was installed over this one has reported a fault, put this one back, and raises
  // the signal again (Python's faulthandler). What faulted is about to fault once more.
  if (info->si_code == SI_TKILL && info->si_pid == ::getpid()) return;
  struct sigaction fatal = {};
  fatal.sa_handler = SIG_DFL;
  ::sigaction(signal, &fatal, nullptr);
  ::raise(signal);  // delivered when this handler returns
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int reason = errno;
  const bool ours =
      info->si_code > 0 && replace_page(reinterpret_cast<std::uintptr_t>(info->si_addr));
  errno = reason;
  if (!ours) pass_on(signal, info, context);
}

bool is_ours(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &on_bus_error;
}

bool is_function(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

// REQUIRES that `handler_mutex` is held.
void install() noexcept {
  struct sigaction now;
  if (::sigaction(SIGBUS, nullptr, &now) != 0 || is_ours(now)) return;
  const bool same = (now.sa_flags & SA_SIGINFO) == (replaced.sa_flags & SA_SIGINFO) &&
                    now.sa_handler == replaced.sa_handler;
  if (buried && is_function(now) && !same) return;  // it was installed over ours, and calls it
  replaced = now;
  const bool full = (now.sa_flags & SA_SIGINFO) != 0;
  next_action.store(full ? now.sa_sigaction : nullptr);
  next_handler.store(full ? SIG_DFL : now.sa_handler);
  struct sigaction action = {};
  action.sa_sigaction = &on_bus_error;
  action.sa_mask = now.sa_mask;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  ::sigaction(SIGBUS, &action, nullptr);
  buried = false;
}

// REQUIRES that `handler_mutex` is held.
void uninstall() noexcept {
  struct sigaction now;
  if (::sigaction(SIGBUS, nullptr, &now) != 0) return;
  buried = !is_ours(now);
  if (!buried) ::sigaction(SIGBUS, &replaced, nullptr);
}

void set_slot(GuardSlot& slot, std::uintptr_t begin, std::uintptr_t end, int fd) noexcept {
  slot.version.fetch_add(1);
  slot.begin.store(begin);
  slot.end.store(end);
  slot.fd.store(fd);
  slot.version.fetch_add(1);
}

// An unused slot. REQUIRES that `handler_mutex` is held.
GuardSlot* take_slot() {
  GuardSlot* slot = slots.load();
  while (slot != nullptr && slot->taken) slot = slot->next;
  if (slot == nullptr) {
    slot = new GuardSlot;
    slot->next = slots.load();
    slots.store(slot, std::memory_order_release);
  }
  slot->taken = true;
  return slot;
}

}  // namespace

GuardedMap::GuardedMap(const std::byte* begin, std::size_t size, int fd) {
  const std::lock_guard lock(handler_mutex);
  slot_ = take_slot();
  slot_->lost.store(false);
  page_size.store(static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)));
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t pages = (size + page_size - 1) / page_size;
  set_slot(*slot_, first, first + pages * page_size, fd);
  if (guarded_maps++ == 0) install();
}

GuardedMap::~GuardedMap() {
  const std::lock_guard lock(handler_mutex);
  if (--guarded_maps == 0) uninstall();
  set_slot(*slot_, 0, 0, -1);
  slot_->taken = false;
}

bool GuardedMap::lost() const noexcept { return slot_->lost.load(std::memory_order_acquire); }

}  // namespace dapple::detail
