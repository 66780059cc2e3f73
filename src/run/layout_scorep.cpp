#include "run/run_layout.hpp"

#include "core/run_properties.hpp"

namespace timeloom::run {

// ExperimentDirectory writes the manifest, and a weave adds only results that it lists.
const Layout kScorepLayout = {
    .name = kScorepLayoutName,
    .weaves_manifest = false,
    .depth_setting = "SCOREP_PROFILING_MAX_CALLPATH_DEPTH",
    .dense_ids = false,
};

}  // namespace timeloom::run
