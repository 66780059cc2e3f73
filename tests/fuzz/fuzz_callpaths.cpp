// Any bytes as callpaths.json: read, or refused with an Error. What was read can
// be summed up as a report does it, and comes back the same when it is written.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/error.hpp"
#include "profile/call_tree.hpp"
#include "profile/callpaths_file.hpp"
#include "profile/flat_profile.hpp"

namespace timeloom::profile {
namespace {

void check(const CallTree& tree) {
  const std::vector<Totals> totals = sum_locations(tree);
  if (totals.size() != tree.nodes.size()) std::abort();
  if (flat_profile(tree, totals).size() > tree.definitions.regions.size() + 1) std::abort();
  const std::string written = to_json(tree);
  const CallTree again = from_json(written, "what was written");
  if (again.nodes != tree.nodes || again.locations != tree.locations) std::abort();
  if (to_json(again) != written) std::abort();
}

}  // namespace
}  // namespace timeloom::profile

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace timeloom;
  profile::CallTree tree;
  try {
    tree = profile::from_json({reinterpret_cast<const char*>(data), size}, "input");
  } catch (const Error&) {
    return 0;  // said clearly
  }
  profile::check(tree);
  return 0;
}
