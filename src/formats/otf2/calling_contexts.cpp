#include "formats/otf2/calling_contexts.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/samples/sample_period.hpp"
#include "formats/otf2/location_writer.hpp"

namespace timeloom::otf2 {

namespace {

constexpr char kGeneratorName[] = "CPU time of the thread";
constexpr OTF2_InterruptGeneratorRef kGenerator = 0;

}  // namespace

OTF2_CallingContextRef CallingContexts::context(const Node& node) {
  const std::lock_guard lock(mutex_);
  const auto next = static_cast<OTF2_CallingContextRef>(nodes_.size());
  const auto [found, fresh] = numbers_.try_emplace(node, next);
  if (fresh) nodes_.push_back(node);
  return found->second;
}

std::uint32_t CallingContexts::place(const Place& place) {
  const std::lock_guard lock(mutex_);
  const auto next = static_cast<std::uint32_t>(places_.size() + 1);
  const auto [found, fresh] = place_numbers_.try_emplace(place, next);
  if (fresh) places_.push_back(place);
  return found->second;
}

void ContextWriter::Path::push(CallingContexts& all, std::uint32_t region, std::uint32_t place) {
  const bool outermost = contexts.empty();
  const OTF2_CallingContextRef parent =
      outermost ? OTF2_UNDEFINED_CALLING_CONTEXT : contexts.back();
  regions.push_back(region);
  contexts.push_back(all.context({parent, region, place}));
}

void ContextWriter::Path::resize(std::size_t size) {
  regions.resize(size);
  contexts.resize(size);
}

OTF2_ErrorCode ContextWriter::enter(OTF2_EvtWriter* writer, OTF2_AttributeList* attributes,
                                    const Event& event) {
  open_.push(contexts_, event.ref);
  sampled_.clear();
  constexpr std::uint32_t distance = 2;  // this call, and the one around it has gone on
  return OTF2_EvtWriter_CallingContextEnter(writer, attributes, ticks(event.time),
                                            open_.contexts.back(), distance);
}

OTF2_ErrorCode ContextWriter::leave(OTF2_EvtWriter* writer, OTF2_AttributeList* attributes,
                                    const Event& event) {
  if (open_.contexts.empty()) return OTF2_ERROR_INVALID_CALL;
  const OTF2_CallingContextRef left = open_.contexts.back();
  open_.resize(open_.contexts.size() - 1);
  sampled_.clear();
  return OTF2_EvtWriter_CallingContextLeave(writer, attributes, ticks(event.time), left);
}

// The line lies in the innermost function of the program; the innermost call of all has it.
std::uint32_t ContextWriter::place_of(std::uint32_t line) {
  if (line == 0) return 0;
  const auto in_program = [this](std::uint32_t region) {
    return definitions_.regions[region].paradigm != Paradigm::kSampling;
  };
  for (const auto* regions : {&frames_, &open_.regions}) {
    const auto found = std::find_if(regions->rbegin(), regions->rend(), in_program);
    if (found != regions->rend()) return contexts_.place({*found, line});
  }
  return 0;
}

// The frames behind the `open` calls that are new since the event before, and one: the call around
// them has gone on.
std::uint32_t ContextWriter::distance_to(std::size_t open) {
  const auto frames = std::span(open_.contexts).subspan(open);
  const auto kept = std::ranges::mismatch(frames, sampled_).in1 - frames.begin();
  const std::size_t distance = frames.size() - static_cast<std::size_t>(kept) + 1;
  sampled_.assign(frames.begin(), frames.end());
  return static_cast<std::uint32_t>(distance);
}

OTF2_ErrorCode ContextWriter::sample(OTF2_EvtWriter* writer, const Event& event) {
  const std::size_t open = open_.contexts.size();
  const std::uint32_t place = place_of(event.ref);
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    open_.push(contexts_, frames_[i], i + 1 == frames_.size() ? place : 0);
  }
  frames_.clear();
  if (open_.contexts.empty()) return OTF2_SUCCESS;  // nothing of it is selected
  const std::uint32_t distance = distance_to(open);
  const OTF2_CallingContextRef context = open_.contexts.back();
  open_.resize(open);
  return OTF2_EvtWriter_CallingContextSample(writer, nullptr, ticks(event.time), context, distance,
                                             kGenerator);
}

void intern_generator(Shared& shared) {
  if (shared.contexts) (void)shared.strings.intern(kGeneratorName);
}

void write_calling_contexts(Shared& shared, OTF2_GlobalDefWriter* writer) {
  if (!shared.contexts) return;
  const auto ok = [&](OTF2_ErrorCode code) { check(code, shared.what); };
  const auto& regions = shared.definitions->regions;
  ok(OTF2_GlobalDefWriter_WriteInterruptGenerator(
      writer, kGenerator, shared.strings.intern(kGeneratorName), OTF2_INTERRUPT_GENERATOR_MODE_TIME,
      OTF2_BASE_DECIMAL, -9, sample_period(*shared.definitions)));
  OTF2_SourceCodeLocationRef place = 0;
  for (const CallingContexts::Place& one : shared.contexts->places()) {
    ok(OTF2_GlobalDefWriter_WriteSourceCodeLocation(
        writer, place++, shared.strings.intern(regions[one.region].file), one.line));
  }
  OTF2_CallingContextRef context = 0;
  for (const CallingContexts::Node& node : shared.contexts->nodes()) {
    const OTF2_SourceCodeLocationRef at =
        node.place == 0 ? OTF2_UNDEFINED_SOURCE_CODE_LOCATION : node.place - 1;
    ok(OTF2_GlobalDefWriter_WriteCallingContext(writer, context++, node.region, at, node.parent));
  }
}

}  // namespace timeloom::otf2
