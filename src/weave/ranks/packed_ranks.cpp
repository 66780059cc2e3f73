#include "weave/ranks/packed_ranks.hpp"

#include <algorithm>
#include <array>

#include "core/checksum.hpp"
#include "core/spool_name.hpp"
#include "os/process.hpp"

namespace timeloom::weave {
namespace {

constexpr char kPrefix[] = "packed-";

}  // namespace

std::string host_file_name() {
  const os::ProcessIdentity self = os::this_process();
  const std::uint64_t boot = mix(self.boot[0], self.boot[1]);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string name = kPrefix + host_in_spool_names() + "-";
  for (int shift = 60; shift >= 0; shift -= 4) name += kDigits[boot >> shift & 15];
  return name;
}

std::uint64_t key_of_spool(const std::string& way) noexcept {
  std::uint64_t hash = way.size();
  for (const char c : way) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

PackedRanks::PackedRanks(std::shared_ptr<const os::Directory> spools) : spools_(std::move(spools)) {
  int error = 0;
  if (!spools_->is_open()) return;
  std::vector<std::string> names = spools_->names(&error);
  std::ranges::sort(names);
  for (const std::string& name : names) {
    if (!name.starts_with(kPrefix)) continue;
    const os::File file = spools_->open_file(name, &error);
    if (!file.is_open() || !file.is_plain()) continue;
    for (packed::RankPart& part : packed::find_ranks(file)) {
      const std::uint64_t key = part.key();
      parts_.try_emplace(key, Part{name, std::move(part)});
    }
  }
}

const PackedRanks::Part* PackedRanks::part_of(const spool::SpoolDirectory& spool) const {
  const auto found = parts_.find(key_of_spool(spool.way()));
  return found == parts_.end() ? nullptr : &found->second;
}

os::File PackedRanks::open(const Part& part) const {
  int error = 0;
  return spools_->open_file(part.file, &error);
}

std::optional<RankResult> PackedRanks::result(const Part& part,
                                              const spool::SpoolDirectory& spool) const {
  const os::File file = open(part);
  if (!file.is_open()) return std::nullopt;
  std::optional<RankResult> found = rank_result_in(packed::about_rank(file, part.place), spool);
  if (found && !found->is_packed) found.reset();
  return found;
}

}  // namespace timeloom::weave
