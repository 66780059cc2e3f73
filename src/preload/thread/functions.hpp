// The functions of the POSIX threads that are wrapped, as regions.
#pragma once

#include <cstdint>

#include "record/native/wrapper_interface.hpp"

namespace timeloom::preload {

// Regions are named as the functions; forms with another limit of time as the usual one.
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
