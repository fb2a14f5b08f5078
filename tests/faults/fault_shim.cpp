// Preloaded into a program, makes one of its system calls fail. Counts the calls of the functions
// at the end of this file, in the order in which the program makes them.
//
//   DAPPLE_FAULT=N:WHAT     what happens to the N-th call, counted from 1:
//                             kill    the process is killed instead
//                             tear    half of the bytes are written, then the process is killed
//                             short   only half of the bytes are read or written
//                             NUMBER  it fails with this errno
//   DAPPLE_FAULT_LOG=FILE   the name of each call is appended to FILE, a line each
//   DAPPLE_FAULT_WITHOUT=.. names, separated by commas, of what the system is to lack:
//                           tmpfile, renameat2, links, shared maps, threads
#undef _FILE_OFFSET_BITS  // functions of both widths are replaced
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>

#pragma GCC diagnostic ignored "-Wshadow"  // flock is a function and a struct

namespace {

enum class Fate { as_usual, failed, halved, torn };

std::atomic<long> calls{0};

void log_call(const char* name) {
  static const char* const path = getenv("DAPPLE_FAULT_LOG");
  if (path == nullptr) return;
  const auto fd =
      static_cast<int>(syscall(SYS_open, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (fd < 0) return;
  char line[64];
  const size_t length = strnlen(name, sizeof line - 1);
  memcpy(line, name, length);
  line[length] = '\n';
  syscall(SYS_write, fd, line, length + 1);
  syscall(SYS_close, fd);
}

bool lacks(const char* what) {
  static const char* const list = getenv("DAPPLE_FAULT_WITHOUT");
  return list != nullptr && strstr(list, what) != nullptr;
}

void die() { syscall(SYS_kill, syscall(SYS_getpid), SIGKILL); }

// What becomes of this call of `name`.
Fate fate_of(const char* name) {
  static const char* const plan = getenv("DAPPLE_FAULT");
  const long number = ++calls;
  log_call(name);
  if (plan == nullptr) return Fate::as_usual;
  char* what = nullptr;
  if (strtol(plan, &what, 10) != number || *what != ':') return Fate::as_usual;
  ++what;
  if (strcmp(what, "kill") == 0) die();
  if (strcmp(what, "tear") == 0) return Fate::torn;
  if (strcmp(what, "short") == 0) return Fate::halved;
  errno = atoi(what);
  return Fate::failed;
}

template <class F>
F real(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

bool asks_for_nameless(int flags) { return (flags & O_TMPFILE) == O_TMPFILE; }

// A call that is done whole or fails.
template <class R, class F>
R whole(const char* name, const F& call) {
  return fate_of(name) == Fate::failed ? static_cast<R>(-1) : call();
}

// A call that moves `size` bytes, or fewer.
template <class F>
ssize_t moving(const char* name, size_t size, const F& call) {
  const Fate fate = fate_of(name);
  if (fate == Fate::failed) return -1;
  if (fate == Fate::as_usual) return call(size);
  const ssize_t moved = call(size > 1 ? size / 2 : size);
  if (fate == Fate::torn) die();
  return moved;
}

}  // namespace

#define DAPPLE_WHOLE(result, name, parameters, arguments, special)           \
  extern "C" result name parameters special {                                \
    static const auto call = real<result(*) parameters>(#name);              \
    return whole<result>(#name, [&]() -> result { return call arguments; }); \
  }
#define DAPPLE_MOVING(name, parameters, size, arguments)                             \
  extern "C" ssize_t name parameters {                                               \
    static const auto call = real<ssize_t(*) parameters>(#name);                     \
    return moving(#name, size, [&](size_t n) -> ssize_t { return call arguments; }); \
  }
#define DAPPLE_OPEN(name)                                                 \
  extern "C" int name(const char* path, int flags, ...) {                 \
    static const auto call = real<int (*)(const char*, int, ...)>(#name); \
    va_list list;                                                         \
    va_start(list, flags);                                                \
    const mode_t mode = va_arg(list, mode_t);                             \
    va_end(list);                                                         \
    if (fate_of(#name) == Fate::failed) return -1;                        \
    if (asks_for_nameless(flags) && lacks("tmpfile")) {                   \
      errno = EOPNOTSUPP;                                                 \
      return -1;                                                          \
    }                                                                     \
    return call(path, flags, mode);                                       \
  }

DAPPLE_OPEN(open)
DAPPLE_OPEN(open64)
DAPPLE_MOVING(read, (int fd, void* data, size_t size), size, (fd, data, n))
DAPPLE_MOVING(write, (int fd, const void* data, size_t size), size, (fd, data, n))
DAPPLE_MOVING(pread, (int fd, void* data, size_t size, off_t at), size, (fd, data, n, at))
DAPPLE_MOVING(pread64, (int fd, void* data, size_t size, off64_t at), size, (fd, data, n, at))
DAPPLE_MOVING(pwrite, (int fd, const void* data, size_t size, off_t at), size, (fd, data, n, at))
DAPPLE_MOVING(pwrite64, (int fd, const void* data, size_t size, off64_t at), size,
              (fd, data, n, at))

DAPPLE_MOVING(copy_file_range,
              (int from, off64_t* from_at, int to, off64_t* to_at, size_t size, unsigned flags),
              size, (from, from_at, to, to_at, n, flags))

// Of several runs of bytes only the first are moved, or a half of the first.
extern "C" ssize_t pwritev64(int fd, const iovec* parts, int count, off64_t at) {
  static const auto call = real<ssize_t (*)(int, const iovec*, int, off64_t)>("pwritev64");
  const Fate fate = fate_of("pwritev64");
  if (fate == Fate::failed) return -1;
  if (fate == Fate::as_usual) return call(fd, parts, count, at);
  iovec half = parts[0];
  half.iov_len /= 2;
  const ssize_t moved = count > 1 ? call(fd, parts, count / 2, at) : call(fd, &half, 1, at);
  if (fate == Fate::torn) die();
  return moved;
}

extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned flags) noexcept {
  static const auto call = real<int (*)(int, const char*, int, const char*, unsigned)>("renameat2");
  if (fate_of("renameat2") == Fate::failed) return -1;
  if (lacks("renameat2") && flags != 0) {
    errno = EINVAL;
    return -1;
  }
  return call(from_folder, from, to_folder, to, flags);
}

DAPPLE_WHOLE(int, fsync, (int fd), (fd), )
DAPPLE_WHOLE(int, close, (int fd), (fd), )
DAPPLE_WHOLE(int, syncfs, (int fd), (fd), noexcept)
DAPPLE_WHOLE(int, flock, (int fd, int operation), (fd, operation), noexcept)
DAPPLE_WHOLE(int, ftruncate64, (int fd, off64_t size), (fd, size), noexcept)
DAPPLE_WHOLE(int, fallocate64, (int fd, int mode, off64_t at, off64_t size), (fd, mode, at, size), )
DAPPLE_WHOLE(int, fchmod, (int fd, mode_t mode), (fd, mode), noexcept)
DAPPLE_WHOLE(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group), noexcept)

extern "C" int link(const char* from, const char* to) noexcept {
  static const auto call = real<int (*)(const char*, const char*)>("link");
  if (fate_of("link") == Fate::failed) return -1;
  if (lacks("links")) {
    errno = EPERM;
    return -1;
  }
  return call(from, to);
}

DAPPLE_WHOLE(int, linkat,
             (int from_folder, const char* from, int to_folder, const char* to, int flags),
             (from_folder, from, to_folder, to, flags), noexcept)
DAPPLE_WHOLE(int, rename, (const char* from, const char* to), (from, to), noexcept)
DAPPLE_WHOLE(int, remove, (const char* path), (path), noexcept)
DAPPLE_WHOLE(int, unlink, (const char* path), (path), noexcept)
DAPPLE_WHOLE(int, access, (const char* path, int mode), (path, mode), noexcept)
DAPPLE_WHOLE(int, stat64, (const char* path, struct stat64* out), (path, out), noexcept)
DAPPLE_WHOLE(int, lstat64, (const char* path, struct stat64* out), (path, out), noexcept)
DAPPLE_WHOLE(int, fstat64, (int fd, struct stat64* out), (fd, out), noexcept)

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) noexcept {
  static const auto call =
      real<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return lacks("threads") ? EAGAIN : call(thread, attributes, run, argument);
}

extern "C" void* mmap64(void* at, size_t size, int protection, int flags, int fd,
                        off64_t offset) noexcept {
  static const auto call = real<void* (*)(void*, size_t, int, int, int, off64_t)>("mmap64");
  if (fate_of("mmap64") == Fate::failed) return MAP_FAILED;
  if (lacks("shared maps") && (flags & MAP_SHARED) != 0) {
    errno = ENODEV;
    return MAP_FAILED;
  }
  return call(at, size, protection, flags, fd, offset);
}
