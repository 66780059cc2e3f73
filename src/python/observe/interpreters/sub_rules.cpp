#include "python/interpreter/free_threading.hpp"
#include "python/observe/interpreters/sub_interpreters.hpp"
#include "python/observe/interpreters/sub_state.hpp"
#include "python/observe/regions/code_regions.hpp"

namespace timeloom::python {
namespace {

// Code objects have room for the decisions of all rules at the same index in all interpreters. So
// this one gives indices until it is that; false: another library has it here.
bool has_index(SubInterpreter& sub, Py_ssize_t wanted) noexcept {
  const auto end = static_cast<Py_ssize_t>(SubInterpreter::kIndices);
  if (wanted < 0 || wanted >= end) return false;
  while (!sub.indices[static_cast<std::size_t>(wanted)]) {
    const Py_ssize_t given = new_code_extra_index();
    if (given < 0 || given > wanted) return false;
    sub.indices.set(static_cast<std::size_t>(given));
  }
  return true;
}

}  // namespace

bool take_rules(SubInterpreter& sub) noexcept {
  const CriticalSection critical;
  const std::uint64_t epoch = sub_interpreters_epoch();
  const Py_ssize_t index = code_index();
  if (!has_index(sub, index)) return false;
  sub.index = index;
  sub.epoch = epoch;
  return true;
}

}  // namespace timeloom::python
