// Part of each wrapper library: nothing that its code calls is recorded.
#include "record/native/wrapper_interface.hpp"

namespace timeloom::preload {
namespace {

[[gnu::constructor]] void add_this_library() noexcept {
  record::add_own_code(reinterpret_cast<const void*>(&add_this_library));
}

}  // namespace
}  // namespace timeloom::preload
