#include "run/layout.hpp"

namespace timeloom::run {

const Layout kTimeloomLayout = {
    .name = "timeloom",
    .weaves_manifest = true,
    .weaves_callpaths = true,
    .depth_setting = "--profile-depth",
};

}  // namespace timeloom::run
