#include "run/run_layout.hpp"

namespace timeloom::run {

const Layout kTimeloomLayout = {
    .name = "timeloom",
    .weaves_manifest = true,
    .depth_setting = "--profile-depth",
    .dense_ids = true,
};

}  // namespace timeloom::run
