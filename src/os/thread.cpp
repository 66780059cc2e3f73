#include "os/thread.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <new>
#include <string>

namespace timeloom::os {
namespace {

struct Start {
  std::string name;
  std::function<void()> body;
  std::atomic<std::uint64_t>* id;
};

// pthread_join() returns a moment before the kernel has removed the thread. Until then the
// process counts as multi-threaded, and CPython warns of a fork.
void wait_until_gone(std::uint64_t thread) noexcept {
  constexpr int kTries = 10'000;
  constexpr timespec kPause{0, 10'000};
  for (int i = 0; i < kTries; ++i) {
    if (::syscall(SYS_tgkill, ::getpid(), static_cast<pid_t>(thread), 0) != 0) return;
    ::nanosleep(&kPause, nullptr);
  }
}

constinit std::atomic<void (*)() noexcept> g_on_begin = nullptr;

void* run(void* argument) {
  if (auto* const on_begin = g_on_begin.load()) on_begin();
  const std::unique_ptr<Start> start(static_cast<Start*>(argument));
  *start->id = thread_id();
  pthread_setname_np(pthread_self(), start->name.c_str());
  start->body();
  return nullptr;
}

}  // namespace

std::uint64_t thread_id() noexcept { return static_cast<std::uint64_t>(::syscall(SYS_gettid)); }

std::uint64_t process_id() noexcept { return static_cast<std::uint64_t>(::getpid()); }

void on_begin_of_helpers(void (*function)() noexcept) noexcept { g_on_begin = function; }

int HelperThread::start(const char* name, std::function<void()> body, std::size_t stack) noexcept {
  auto start = std::unique_ptr<Start>(new (std::nothrow) Start{name, std::move(body), &id_});
  if (!start) return ENOMEM;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack);
  // The new thread inherits the mask of its creator; block before, restore after.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&thread_, &attributes, run, start.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error == 0) {
    (void)start.release();  // the thread owns it now
    running_ = true;
  }
  return error;
}

void HelperThread::join() noexcept {
  if (!running_) return;
  pthread_join(thread_, nullptr);
  wait_until_gone(id_);
  running_ = false;
}

void HelperThread::detach() noexcept {
  pthread_detach(pthread_self());
  running_ = false;
}

void at_fork_in_child(void (*child)()) noexcept { at_fork(nullptr, nullptr, child); }

void at_fork(void (*prepare)(), void (*parent)(), void (*child)()) noexcept {
  pthread_atfork(prepare, parent, child);
}

}  // namespace timeloom::os
