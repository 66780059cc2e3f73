// The wrapped functions of POSIX threads, as regions. Any thread; nothing throws.
#pragma once

#include <cstdint>

#include "record/native/wrapper_interface.hpp"

namespace timeloom::preload {

// Regions have the names of the functions; variants with other time limits share the usual name.
enum class ThreadFunction : std::uint8_t {
  kCreate,
  kJoin,
  kExit,
  kCancel,
  kDetach,
  kMutexInit,
  kMutexDestroy,
  kMutexLock,
  kMutexUnlock,
  kMutexTrylock,
  kCondInit,
  kCondDestroy,
  kCondSignal,
  kCondBroadcast,
  kCondWait,
  kCondTimedwait
};
record::WrappedFunction& function_of(ThreadFunction which) noexcept;

}  // namespace timeloom::preload
