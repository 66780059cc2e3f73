#include "preload/thread/functions.hpp"

#include <array>

namespace timeloom::preload {
namespace {

using record::WrappedFunction;

constexpr WrappedFunction pthread(const char* name, RegionRole role = RegionRole::kWrapper) {
  return {name, "PTHREAD", "PTHREAD", Paradigm::kPthread, role};
}

// In the order of ThreadFunction.
constinit std::array g_functions = {pthread("pthread_create", RegionRole::kThreadCreate),
                                    pthread("pthread_join", RegionRole::kThreadWait),
                                    pthread("pthread_exit"),
                                    pthread("pthread_cancel"),
                                    pthread("pthread_detach"),
                                    pthread("pthread_mutex_init"),
                                    pthread("pthread_mutex_destroy"),
                                    pthread("pthread_mutex_lock"),
                                    pthread("pthread_mutex_unlock"),
                                    pthread("pthread_mutex_trylock"),
                                    pthread("pthread_cond_init"),
                                    pthread("pthread_cond_destroy"),
                                    pthread("pthread_cond_signal"),
                                    pthread("pthread_cond_broadcast"),
                                    pthread("pthread_cond_wait"),
                                    pthread("pthread_cond_timedwait")};
static_assert(g_functions.size() == static_cast<std::size_t>(ThreadFunction::kCondTimedwait) + 1);

}  // namespace

WrappedFunction& function_of(ThreadFunction which) noexcept {
  return g_functions[static_cast<std::size_t>(which)];
}

}  // namespace timeloom::preload
