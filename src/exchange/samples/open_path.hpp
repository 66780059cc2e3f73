// The call path of each sample in the stream of a location: the calls that are open, and the
// frames below them.
//
// Used by one thread. Throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <vector>

#include "core/event.hpp"

namespace timeloom::exchange {

class OpenPath {
 public:
  // Returns whether the event is a sample; its path is path() until the next event.
  bool take(const Event& event) {
    if (sampled_) path_.resize(open_);
    sampled_ = event.kind == EventKind::kSample;
    if (event.kind == EventKind::kEnter || event.kind == EventKind::kSampleFrame) {
      path_.push_back(event.ref);
      if (event.kind == EventKind::kEnter) open_ = path_.size();
    } else if (event.kind == EventKind::kLeave && open_ > 0) {
      path_.resize(--open_);
    }
    return sampled_;
  }
  // Regions, the outermost first.
  const std::vector<std::uint32_t>& path() const noexcept { return path_; }
  // The number of them that are recorded calls.
  std::size_t recorded() const noexcept { return open_; }

 private:
  std::vector<std::uint32_t> path_;
  std::size_t open_ = 0;
  bool sampled_ = false;
};

}  // namespace timeloom::exchange
