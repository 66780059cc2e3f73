#include "formats/packed/part_reader.hpp"

#include <algorithm>
#include <utility>

#include "formats/packed/location_replay.hpp"

namespace timeloom::packed {

std::uint64_t replay_part(os::File file, const RankPart& part, LocationId there,
                          const RunEnd::OfLocation& counts, const PartMeaning& meaning,
                          const Definitions& definitions,
                          std::span<const std::unique_ptr<LocationSink>> sinks) {
  const FileReader reader(std::move(file), "", part.blocks_at, part.blocks_size, part.number());
  LocationReplay replay(reader, definitions, &meaning, sinks);
  std::uint64_t lost = 0, next = 0;
  // A process packs the blocks of a location in their order.
  for (const Section& block : reader.sections()) {
    if (block.head.location != there.value() || block.head.number < next) continue;
    lost += block.head.number - next;
    next = std::uint64_t{block.head.number} + 1;
    if (block.head.kind != SectionKind::kBlock || !replay.pass(block)) ++lost;
  }
  replay.close_all();
  return lost + (counts.blocks - std::min(counts.blocks, next));
}

}  // namespace timeloom::packed
