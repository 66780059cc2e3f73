#include "view/answers/held_memory.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/memory/memory_facts.hpp"
#include "formats/memory_file/memory_file_reader.hpp"
#include "view/answers/fields.hpp"

namespace timeloom::view {

namespace {

using memory_file::Amount;
using memory_file::Block;
using memory_file::Path;
using memory_file::Process;

// The call paths of a run, found by their regions.
class PathFinder {
 public:
  explicit PathFinder(const Index& index) {
    for (std::uint32_t i = 0; i < index.paths().size(); ++i) {
      children_.try_emplace({index.paths()[i].parent, index.paths()[i].region}, i);
    }
  }
  // The path of each path of the process; kNone: outside all regions, or not even its first region
  // is there.
  std::vector<std::uint32_t> find(const std::vector<Path>& paths) const {
    std::vector<std::uint32_t> found(paths.size(), kNone);
    std::vector<bool> cut(paths.size());  // the path goes on where the run does not
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (paths[i].region == memory_file::kNone) continue;
      const bool inner = paths[i].parent != memory_file::kNone;
      const std::uint32_t above = inner ? found[paths[i].parent] : kNone;
      const auto child = children_.find({above, paths[i].region});
      cut[i] = (inner && cut[paths[i].parent]) || child == children_.end();
      found[i] = cut[i] ? above : child->second;
    }
    return found;
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> children_;
};

// By path, the blocks that are held at the instant; `live`: the bytes that the process holds then.
std::vector<Amount> held_at(memory_file::Reader& file, const Process& process,
                            std::uint64_t time_ns, double& live) {
  std::vector<Amount> held(process.paths.size());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> births;  // path and bytes
  std::uint64_t now = process.start_ns <= time_ns ? process.live_at_start : 0;
  std::vector<bool> alive;
  file.each_block(process.group, process.paths.size(), [&](const Block& block) {
    // Threads write their records a little out of order.
    const bool happened = block.time_ns <= time_ns;
    births.emplace_back(block.number, block.bytes);
    alive.push_back(happened && !block.death && block.bytes != 0);
    if (happened && block.death) alive[block.number] = false;
    if (happened) now = block.live;
    return true;
  });
  for (std::size_t i = 0; i < births.size(); ++i) {
    if (!alive[i]) continue;
    const auto& [path, bytes] = births[i];
    Amount& amount = held[path];
    amount.least = amount.blocks == 0 ? bytes : std::min(amount.least, bytes);
    amount.bytes += bytes;
    ++amount.blocks;
  }
  live = static_cast<double>(now);
  return held;
}

const Amount& amount_of(const Path& path, MemoryAmount wanted) {
  if (wanted == MemoryAmount::kAllocated) return path.allocated;
  return wanted == MemoryAmount::kAtPeak ? path.at_peak : path.at_end;
}

void add(HeldBytes& to, const Amount& amount, double interval) {
  const auto blocks = static_cast<double>(amount.blocks);
  const double error = sampling_error(blocks, static_cast<double>(amount.least), interval);
  to.bytes += static_cast<double>(amount.bytes);
  to.blocks += blocks;
  to.variance += error * error;
}

void add_process(HeldMemory& to, memory_file::Reader& file, std::uint32_t group,
                 const PathFinder& paths, const MemoryQuestion& question) {
  const Process process = file.process(group);
  std::vector<Amount> held;
  const bool instant = question.amount == MemoryAmount::kAtInstant;
  if (instant) held = held_at(file, process, question.time_ns, to.live);
  const bool exact =
      question.amount == MemoryAmount::kAllocated || (instant ? process.each : process.exact);
  const double interval = exact ? 0 : static_cast<double>(process.interval);
  const std::vector<std::uint32_t> places = paths.find(process.paths);
  to.exact = to.exact && exact;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Path& path = process.paths[i];
    const Amount& amount = instant ? held[i] : amount_of(path, question.amount);
    if (amount.blocks == 0 && amount.bytes == 0) continue;
    HeldBytes& sum = path.own ? to.own : places[i] == kNone ? to.outside : to.by_path[places[i]];
    add(sum, amount, interval);
  }
}

}  // namespace

HeldMemory held_memory(const std::filesystem::path& path, const Index& index,
                       const Definitions& definitions, const MemoryQuestion& question) {
  memory_file::Reader file(path);
  const PathFinder paths(index);
  HeldMemory held;
  for (const std::uint32_t group : file.groups()) {
    const bool known = group < definitions.groups.size();
    if (known && (question.process == kNone || question.process == group)) {
      add_process(held, file, group, paths, question);
    }
  }
  return held;
}

std::string memory_answer(const HeldMemory& held) {
  const auto& sums = held.by_path;
  AnswerWriter out;
  out.u32(static_cast<std::uint32_t>(sums.size()));
  out.u32(held.exact ? 1 : 0);
  out.real(held.live);
  for (const HeldBytes& one : {held.own, held.outside}) {
    out.real(one.bytes);
    out.real(std::sqrt(one.variance));
  }
  out.u32s(sums, [](const auto& sum) { return sum.first; });
  for (const auto& [path, sum] : sums) out.real(sum.blocks);
  for (const auto& [path, sum] : sums) out.real(sum.bytes);
  for (const auto& [path, sum] : sums) out.real(std::sqrt(sum.variance));
  return out.take();
}

}  // namespace timeloom::view
