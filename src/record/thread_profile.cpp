#include "record/thread_profile.hpp"

#include <cerrno>
#include <new>

namespace timeloom::record {

std::unique_ptr<ThreadProfile> ThreadProfile::create(const std::string& spool,
                                                     std::uint32_t location, std::uint64_t now,
                                                     int* error) noexcept {
  try {
    auto profile = std::make_unique<ThreadProfile>();
    profile->file_ = spool::ProfileWriter::create(spool, location, now, error);
    return profile->file_ == nullptr ? nullptr : std::move(profile);
  } catch (const std::bad_alloc&) {
    *error = ENOMEM;
    return nullptr;
  }
}

// 0: the visit is counted by `beyond_` alone, in the node it is in or nowhere.
std::uint32_t ThreadProfile::find_child(std::uint32_t region) noexcept {
  const bool inside_rest = file_->node(current_).region == spool::kBeyondLimit && current_ != 0;
  if (beyond_ != 0 || inside_rest) {
    ++beyond_;
    if (!inside_rest) lost_ += 2;
    return 0;
  }
  std::uint32_t child = children_.find(current_, region);
  if (child == ChildTable::kNone) child = add_child(region);
  if (child == 0) {
    ++beyond_;
    lost_ += 2;
  }
  return child;
}

std::uint32_t ThreadProfile::add_child(std::uint32_t region) noexcept {
  if (file_->nodes() >= kMaxNodes) {
    const std::uint32_t rest = children_.find(current_, spool::kBeyondLimit);
    if (rest != ChildTable::kNone) return rest;
    region = spool::kBeyondLimit;
  }
  try {
    const std::uint32_t child = file_->add(current_, region);
    if (child != 0) children_.insert(current_, region, child);
    return child;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

std::uint64_t ThreadProfile::events() noexcept {
  std::uint64_t events = 0;
  for (std::uint32_t i = 1; i < file_->nodes(); ++i) {
    const spool::ProfileNode& node = file_->node(i);
    events += 2 * node.visits - (node.entered != 0 ? 1 : 0);
  }
  return events;
}

std::uint64_t ThreadProfile::bytes() const noexcept {
  return file_->nodes() * sizeof(spool::ProfileNode);
}

}  // namespace timeloom::record
