#include "view/index/run_paths.hpp"

namespace timeloom::view {

void RunPaths::take_over(std::span<const PathRecord> known) {
  for (const PathRecord& path : known) add(path.parent, path.region);
}

std::uint32_t RunPaths::child(std::uint32_t parent, std::uint32_t region) {
  const std::lock_guard lock(mutex_);
  const std::uint32_t found = children_.find(parent, region);
  if (found != ChildTable::kNone) return found;
  if (records_.size() < most_) return add(parent, region);
  const std::uint32_t beyond = children_.find(parent, kNone);
  return beyond != ChildTable::kNone ? beyond : add(parent, kNone);
}

bool RunPaths::is_beyond(std::uint32_t path) {
  const std::lock_guard lock(mutex_);
  return records_[path].region == kNone;
}

std::uint32_t RunPaths::add(std::uint32_t parent, std::uint32_t region) {
  const auto path = static_cast<std::uint32_t>(records_.size());
  records_.push_back({parent, region});
  children_.insert(parent, region, path);
  return path;
}

}  // namespace timeloom::view
