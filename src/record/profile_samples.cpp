#include "record/profile_samples.hpp"

#include <algorithm>
#include <new>

namespace timeloom::record {

using spool::PlaceKind;

ProfileSamples::ProfileSamples(spool::ProfileWriter& file, const std::vector<bool>& counts,
                               std::span<const std::uint64_t> known)
    : file_(file), counts_(counts), changes_(counts.size()) {
  last_.reserve(counts.size());
  if (!known.empty()) last_.assign(known.begin() + 1, known.end());
}

bool ProfileSamples::take(std::uint32_t node, std::span<const std::uint64_t> sample) noexcept {
  const std::span values = sample.subspan(1);
  if (last_.empty()) last_.assign(values.begin(), values.end());  // there is room for them
  for (std::size_t i = 0; i < values.size(); ++i) {
    changes_[i] = counts_[i] ? values[i] - std::min(last_[i], values[i]) : values[i];
    last_[i] = values[i];
  }
  constexpr std::size_t kMost = spool::ProfileSamples::kMost;
  bool kept = true;
  for (std::size_t from = 0; from < changes_.size(); from += kMost) {
    const std::span rest = std::span<const std::uint64_t>(changes_).subspan(from);
    const auto first = static_cast<std::uint32_t>(sample[0] + from);
    kept = add(node, first, from, rest.first(std::min(rest.size(), kMost))) && kept;
  }
  return kept;
}

bool ProfileSamples::add(std::uint32_t node, std::uint32_t first, std::size_t from,
                         std::span<const std::uint64_t> changes) noexcept {
  if (std::ranges::all_of(changes, [](std::uint64_t one) { return one == 0; })) return true;
  const std::uint32_t place = place_of(node, first, from);
  if (place == 0) return false;
  spool::ProfileSamples& sums = file_.samples(place);
  sums.count = static_cast<std::uint32_t>(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    sums.values[i] =
        counts_[from + i] ? sums.values[i] + changes[i] : std::max(sums.values[i], changes[i]);
  }
  return true;
}

// 0: there is no space for it.
std::uint32_t ProfileSamples::place_of(std::uint32_t node, std::uint32_t first,
                                       std::size_t from) noexcept {
  const auto key = static_cast<std::uint32_t>(from);
  const std::uint32_t known = places_.find(node, key);
  if (known != ChildTable::kNone) return known;
  const std::uint32_t place = file_.take();
  if (place == 0) return 0;
  spool::ProfileSamples& fresh = file_.samples(place);
  fresh.node = node;
  fresh.metric = first;
  fresh.kind = PlaceKind::kSamples;
  file_.publish();
  try {
    places_.insert(node, key, place);
  } catch (const std::bad_alloc&) {  // what comes next has a place of its own
  }
  return place;
}

}  // namespace timeloom::record
