#include "run/layout.hpp"

namespace timeloom::run {

const Layout kTimeloomLayout = {
    .name = "timeloom",
    .weaves_manifest = true,
    .depth_setting = "--profile-depth",
    .scorep_ids = false,
};

}  // namespace timeloom::run
