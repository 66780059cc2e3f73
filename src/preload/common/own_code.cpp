// Part of each wrapper library: calls by its own code are not recorded.
#include "record/native/wrapper_interface.hpp"

namespace timeloom::preload {
namespace {

[[gnu::constructor]] void add_this_library() noexcept {
  record::add_own_code(reinterpret_cast<const void*>(&add_this_library));
}

}  // namespace
}  // namespace timeloom::preload
