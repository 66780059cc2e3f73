#include "formats/perfetto/sample_stacks.hpp"

#include "exchange/format_text.hpp"
#include "exchange/names.hpp"
#include "formats/perfetto/schema.hpp"

namespace timeloom::perfetto {

using exchange::ProtoMessage;

namespace {

void intern_text(Field field, std::uint64_t number, const std::string& text,
                 ProtoMessage& interned) {
  ProtoMessage one;
  one.number(interned::kIid, number);
  one.text(interned::kText, exchange::utf8(text));
  interned.message(field, one);
}

}  // namespace

std::uint64_t SampleStacks::mapping_of(const Region& region, ProtoMessage& interned) {
  const std::string& path = region.paradigm == Paradigm::kSampling ? region.group : region.file;
  const auto [found, fresh] = mappings_.try_emplace(path, mappings_.size() + 1);
  if (!fresh) return found->second;
  intern_text(interned::kMappingPaths, found->second, path, interned);
  ProtoMessage mapping;
  mapping.number(interned::kIid, found->second);
  mapping.number(mapping::kPathStringIds, found->second);
  interned.message(interned::kMappings, mapping);
  return found->second;
}

void SampleStacks::intern_frame(std::uint32_t region, ProtoMessage& interned) {
  if (known_frames_[region]) return;
  known_frames_[region] = true;
  const std::uint64_t number = region + std::uint64_t{1};
  const std::uint64_t of_mapping = mapping_of(definitions_.regions[region], interned);
  intern_text(interned::kFunctionNames, number,
              exchange::region_name(definitions_, RegionId{region}), interned);
  ProtoMessage frame;
  frame.number(interned::kIid, number);
  frame.number(frame::kFunctionNameId, number);
  frame.number(frame::kMappingId, of_mapping);
  interned.message(interned::kFrames, frame);
}

std::uint64_t SampleStacks::number_of(const std::vector<std::uint32_t>& path,
                                      ProtoMessage& interned) {
  const auto [found, fresh] = stacks_.try_emplace(path, stacks_.size() + 1);
  if (!fresh) return found->second;
  ProtoMessage stack;
  stack.number(interned::kIid, found->second);
  for (const std::uint32_t region : path) {
    intern_frame(region, interned);
    stack.number(callstack::kFrameIds, region + std::uint64_t{1});
  }
  interned.message(interned::kCallstacks, stack);
  return found->second;
}

ProtoMessage sample_defaults(std::uint64_t period_ns) {
  ProtoMessage timebase, result;
  timebase.number(timebase::kPeriod, period_ns);
  timebase.number(timebase::kCounter, timebase::kTaskClock);
  result.message(sample_default::kTimebase, timebase);
  return result;
}

}  // namespace timeloom::perfetto
