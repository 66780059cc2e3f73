#include "weave/code_naming.hpp"

#include <utility>

#include "core/regions/forked_region.hpp"

namespace timeloom::weave {
namespace {

std::string described(const CodeObject& object) {
  return object.path +
         (object.build_id.empty() ? " (no build id)" : " (build id " + object.build_id + ")");
}

// As other tools name constructs: "!$omp parallel @solver.f90:12".
std::string construct_name(const std::string& construct, const symbols::CodeName& found) {
  if (found.line == 0) return construct + " " + found.name;
  const std::string file = found.file.substr(found.file.rfind('/') + 1);
  return construct + " @" + file + ":" + std::to_string(found.line);
}

}  // namespace

std::map<std::uint32_t, Region> CodeRegions::named(const spool::ProcessDefinitions& process) {
  std::map<std::uint32_t, Region> regions = process.regions;
  for (const auto& [id, code] : process.addresses) {
    const auto region = regions.find(id);
    const auto object = process.objects.find(code.object);
    if (region == regions.end() || object == process.objects.end()) continue;  // damaged
    const bool forked = is_forked(region->second);
    name(region->second, code, object->second);
    if (forked) {
      region->second.role = RegionRole::kFunction;
      region->second = forked_region(std::move(region->second));
    }
  }
  return regions;
}

void CodeRegions::name(Region& region, const CodeAddress& code, const CodeObject& object) {
  using enum symbols::CodeNames::Line;
  const bool function = code.construct.empty();
  std::optional<symbols::CodeName> found;
  if (names_ != nullptr) {
    found = names_->find(object, code.address, function ? kOfFunction : kOfAddress);
  }
  if (!found || (function && found->name.empty())) return note_unnamed(region, code, object);
  region.name = function ? found->name : construct_name(code.construct, *found);
  region.canonical_name = function ? found->whole_name : region.name;
  region.file = found->file;
  region.first_line = found->line;
  region.last_line = 0;
}

// Everything that is known of the region is in its names, so that regions of different objects stay
// apart.
void CodeRegions::note_unnamed(Region& region, const CodeAddress& code, const CodeObject& object) {
  const std::string construct = code.construct.empty() ? "" : code.construct + " @";
  region.name = construct + stand_in_name(object, code.address);
  region.canonical_name = construct + hexadecimal(code.address) + " in " + described(object);
  unnamed_.insert(region.canonical_name);
  objects_.insert(described(object));
}

std::string CodeRegions::unnamed_objects() const {
  std::string text;
  for (const std::string& object : objects_) text += (text.empty() ? "" : ", ") + object;
  return text;
}

}  // namespace timeloom::weave
