// The layouts of a run directory: what a weave writes into it, and the words in which
// the user knows its settings. A layout is a constant value; the property kLayout of a
// run names it, none stands for kTimeloomLayout. For any thread; nothing here throws.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "run/contents.hpp"

namespace timeloom::run {

struct Layout {
  std::string_view name;
  bool weaves_manifest;            // false: it is there from the beginning
  std::string_view depth_setting;  // the name of the setting `profile-depth` there
  bool dense_ids;                  // of locations; otherwise index of the thread * 2^32 + rank
  bool cost_by_process = false;    // the run has what measuring cost each process, beside the sum

  // Whether a weave may write, and so replace, this result.
  constexpr bool weaves(Item item) const noexcept {
    if (item == Item::kManifest) return weaves_manifest;
    return entry(item).role == Role::kResult;
  }
};

extern const Layout kTimeloomLayout;
extern const Layout kScorepLayout;
extern const Layout kOmnitraceLayout;

// The layout that the properties of a run name.
const Layout& layout_of(const std::map<std::string, std::string>& properties) noexcept;

}  // namespace timeloom::run
