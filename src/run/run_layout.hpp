// The layouts of a run directory: the files that a weave writes into it, and the names
// under which the user knows its settings. A layout is a constant value. The property
// kLayout of a run names its layout; without it, kTimeloomLayout is used. For any thread;
// nothing here throws.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "run/contents.hpp"

namespace timeloom::run {

struct Layout {
  std::string_view name;
  bool weaves_manifest;            // false: it is there from the start
  std::string_view depth_setting;  // the name of the setting `profile-depth` in this layout
  bool dense_ids;                  // of locations; otherwise index of the thread * 2^32 + rank
  bool cost_by_process = false;    // the run holds the cost in each process, beside the sum

  // Whether a weave may write, and so replace, this result.
  constexpr bool weaves(Item item) const noexcept {
    if (item == Item::kManifest) return weaves_manifest;
    return entry(item).role == Role::kResult;
  }
};

extern const Layout kTimeloomLayout;
extern const Layout kScorepLayout;
extern const Layout kOmnitraceLayout;

// The layout named by the properties of a run.
const Layout& layout_of(const std::map<std::string, std::string>& properties) noexcept;

}  // namespace timeloom::run
