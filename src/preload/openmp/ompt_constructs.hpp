// The constructs of OpenMP that OMPT names, as regions. A region is known by the construct and by
// an address in the code that has it.
//
// Any thread, without locks where a region is known. A region lives as long as the process. Nothing
// throws.
#pragma once

#include <cstdint>

#include "record/native/wrapper_interface.hpp"

namespace timeloom::ompt {

enum class Construct : std::uint8_t {
  kParallel,
  kFor,
  kSections,
  kSingle,
  kWorkshare,
  kDistribute,
  kTaskloop,
  kScope,
  kMasked,
  kImplicitBarrier,
  kBarrier,
  kTaskwait,
  kTaskgroup,
  kCreateTask,
  kTask,
  kResumedTask,
  kCritical,
  kCriticalBlock,
  kAtomic,
  kOrdered,
  kOrderedBlock,
  kLock,
  kNestLock,
  kTestLock,
  kTestNestLock,
  kCount
};

// `code`: an address behind the call of the runtime (a return address); nullptr: not known. The
// region is defined in the running measurement. nullptr: there is no memory.
record::WrappedFunction* region_at(Construct construct, const void* code) noexcept;

}  // namespace timeloom::ompt
