#include "run/run_layout.hpp"

namespace timeloom::run {

const Layout kOmnitraceLayout = {
    .name = "omnitrace",
    .weaves_manifest = true,
    .depth_setting = "--profile-depth",
    .dense_ids = true,
    .cost_by_process = true,
};

}  // namespace timeloom::run
