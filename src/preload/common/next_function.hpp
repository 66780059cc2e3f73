// The functions behind the wrappers of a wrapper library.
//
// A function is found at its first call, which may come before any constructor has run, on any
// thread and in a signal handler; it is constant from then on. A wrapper has the name of its
// function in the binary interface and another name in C++, so that the declarations of headers do
// not matter.
#pragma once

#include <dlfcn.h>

#include <atomic>

// Defines the function `name` of the library, as wrapped_NAME in C++.
#define TIMELOOM_WRAPPER(result, name, ...)                                                    \
  extern "C" [[gnu::visibility("default")]] result wrapped_##name(__VA_ARGS__) __asm__(#name); \
  extern "C" result wrapped_##name(__VA_ARGS__)

namespace timeloom::preload {

// `Function` may take any number of arguments. It may throw, or unwind the stack of a cancelled
// thread. REQUIRES: a library of the process, other than a wrapper library, has a function with
// that name, or a replacement is given.
template <typename Function>
class Next {
 public:
  constexpr explicit Next(const char* name) noexcept : name_(name) {}
  // `library` has the function. It may have been loaded as a dependency of another library only, so
  // that the program's own search does not find it.
  constexpr Next(const char* name, const char* library) noexcept : name_(name), library_(library) {}
  // `instead` is called on systems that are older than the function.
  constexpr Next(const char* name, Function* instead) noexcept : name_(name), instead_(instead) {}

  // Finds the function before its first call: for one that a handler of a signal may call.
  void find_now() noexcept { find(); }

  template <typename... Arguments>
  auto operator()(Arguments... arguments) {
    Function* const known = function_.load(std::memory_order_relaxed);
    if (known != nullptr) [[likely]]
      return known(arguments...);
    return find_and_call(arguments...);
  }

 private:
  // A separate function, so that a wrapper with nothing to do needs no stack: it ends in a jump.
  template <typename... Arguments>
  [[gnu::noinline, gnu::cold]] auto find_and_call(Arguments... arguments) {
    return find()(arguments...);
  }

  Function* find() noexcept {
    void* found = ::dlsym(RTLD_NEXT, name_);
    if (found == nullptr && library_ != nullptr) {
      void* const loaded = ::dlopen(library_, RTLD_LAZY | RTLD_NOLOAD);
      if (loaded != nullptr) found = ::dlsym(loaded, name_);
    }
    auto* const function = found != nullptr ? reinterpret_cast<Function*>(found) : instead_;
    function_.store(function, std::memory_order_relaxed);
    return function;
  }

  const char* name_;
  const char* library_ = nullptr;
  Function* instead_ = nullptr;
  std::atomic<Function*> function_ = nullptr;
};

}  // namespace timeloom::preload
