#include "tools/run/run_losses.hpp"

#include <algorithm>
#include <charconv>

#include "core/engines/engine_regions.hpp"
#include "core/run_properties.hpp"
#include "core/unmeasured.hpp"
#include "core/waiting_metric.hpp"
#include "formats/packed/packed.hpp"
#include "tools/text/human_text.hpp"
#include "weave/gpu/gpu_names.hpp"

namespace timeloom::tools {

namespace {

using enum LossEffect;

class Losses {
 public:
  explicit Losses(const Definitions& definitions) : definitions_(definitions) {
    add_window();
    add_ending();
    add_recording();
    add_result();
    add_trace();
  }
  std::vector<Loss> take() { return std::move(losses_); }

 private:
  void add(std::string text, LossEffect effect) { losses_.push_back({std::move(text), effect}); }
  std::uint64_t number(const char* key) const { return counted(definitions_, key); }

  // Of a run that was killed it is not known how often its window came.
  void add_window() {
    const auto window = definitions_.properties.find(kWindow);
    if (window == definitions_.properties.end() || window->second.empty()) return;
    std::string text = "recorded was only " + window->second;
    if (definitions_.properties.contains(kWindows)) {
      const std::uint64_t windows = number(kWindows);
      text += windows == 0 ? ": that never came" : ": " + plural(windows, "time");
    }
    add(text + " [TL011]", kNone);
  }

  // What a program has recorded until it was killed is there.
  void add_ending() {
    const auto ending = definitions_.properties.find("timeloom::ending");
    if (ending == definitions_.properties.end() || ending->second.empty()) return;
    add(ending->second + " [TL251]",
        ending->second.find("still running") == std::string::npos ? kNone : kMore);
  }

  // Lost while the program ran. At the size limit all recording ends.
  void add_recording() {
    if (const auto lost = number("timeloom::lost_events")) {
      const bool limited = definitions_.properties.contains("timeloom::size_limit");
      add(plural(lost, "event") + " could not be recorded" +
              (limited ? ": the run had reached its size limit" : "") + " [TL003]",
          limited ? kMore : kTimes);
    }
    if (const auto calls = definitions_.properties.find(kMissingCalls);
        calls != definitions_.properties.end()) {
      add("calls of " + calls->second +
              " missing, for which this Python does not ask the frame hook: --instrumenter profile "
              "[TL016]",
          kTimes);
    }
    if (const std::string text = unknown_engine_text(definitions_.properties); !text.empty()) {
      add(text, kNone);
    }
    if (const auto older = number("timeloom::older_events")) {
      add(plural(older, "older event") + " dropped at the size limit of the run [TL006]", kTimes);
    }
    if (const auto lost = number(kGpuLost)) {
      add(plural(lost, "record") + " of the GPU lost or without an end [TL030]", kTimes);
    }
    if (definitions_.properties.contains(kGpuLeft)) {
      add("the GPU was recorded until another tool began to trace it [TL028]", kMore);
    }
    if (definitions_.properties.contains(kCausesHidden)) {
      add("why threads waited is told by names alone: the system hides /proc/self/task/N/syscall "
          "[TL080]",
          kNone);
    }
    if (const auto aggregated = number(kAggregatedEvents)) {
      add(plural(aggregated, "event") +
              " after the size limit of the run, in the profile only [TL007]",
          kNone);
    }
    if (const auto reached = number(kReachedDepth)) {
      add(depth_warning(number(kProfileDepth), reached, run::layout_of(definitions_.properties)),
          kMore);
    }
  }

  // Found out when the recording was made a result.
  void add_result() {
    if (const auto left_out = number(kEventsLeftOut)) {
      add(plural(left_out, "event") + " of objects that are not code objects left out [TL004]",
          kNone);
    }
    if (const auto unnamed = number(kUnnamedVisits)) {
      add(plural(unnamed, "visit") +
              " of functions whose names are lost, shown as (definition lost) [TL255]",
          kMore);
    }
    add_sampling();
    if (const auto unnamed = number(kUnnamedCode)) {
      const auto objects = definitions_.properties.find(kUnnamedObjects);
      add("no names for " + plural(unnamed, "region") +
              " of compiled code, since no symbols were found for " +
              (objects == definitions_.properties.end() ? "its objects" : objects->second) +
              " [TL242]",
          kNone);
    }
    if (const auto dropped = number("timeloom::dropped_events")) {
      add(plural(dropped, "event") + " left out because they were not sound [TL256]", kTimes);
    }
    if (const auto damaged = number("timeloom::damaged_definitions")) {
      add(plural(damaged, "damaged definition") + " left out [TL254]", kTimes);
    }
    if (const auto closed = number("timeloom::closed_regions")) {
      add(plural(closed, "region") + " still open at the end; closed at the last event [TL252]",
          kNone);
    }
    if (const auto damaged = number("timeloom::damaged_segments")) {
      add(plural(damaged, "damaged part") + " of the recording left out [TL253]", kTimes);
    }
    if (const auto foreign = number("timeloom::foreign_segments")) {
      add(plural(foreign, "part") + " of other recordings lay in the files of the recording and " +
              (foreign == 1 ? "was" : "were") + " left out [TL492]",
          kNone);
    }
    if (const auto kept = number("timeloom::kept_rewinds")) {
      add(plural(kept, "rewind") + " too long to discard anything; its events are there [TL258]",
          kAny);
    }
    if (const auto unreadable = number("timeloom::unreadable_spools")) {
      add("the recording of " + plural(unreadable, "process") + " could not be read [TL257]",
          kMore);
    }
    if (const auto children = number(kUnmeasuredProcesses)) {
      add(plural(children, "Python process") + " not measured: --follow all [TL001]", kNone);
    }
    if (const auto others = number(kSubInterpreters)) {
      add(plural(others, "sub-interpreter") + " not recorded [TL002]", kNone);
    }
    if (const auto workers = number(kWorkersLeftOut)) add(left_out_workers_text(workers), kNone);
  }

  // Samples of CPU time that could not be taken or kept.
  void add_sampling() {
    const auto& properties = definitions_.properties;
    if (const auto reason = properties.find(kNoSamples); reason != properties.end()) {
      add("no samples were taken: " + reason->second + " [TL086]", kMore);
    }
    if (const auto reason = properties.find(kSamplesEnded); reason != properties.end()) {
      add("from some time on no samples were taken: " + reason->second + " [TL085]", kMore);
    }
    if (const auto reason = properties.find(kSampleFailure); reason != properties.end()) {
      add("a thread of the program could not be sampled: " + reason->second + " [TL088]", kMore);
    }
    if (const auto unsampled = number(kUnsampledTime)) {
      add(formatted("{:.2f} s of CPU time was not sampled: no signal came to its threads [TL065]",
                    static_cast<double>(unsampled) * 1e-9),
          kMore);
    }
    if (const auto lost = number(kSamplesLost)) {
      add(plural(lost, "sample") + " of CPU time lost [TL087]", kNone);
    }
    if (const auto cut = number(kCutStacks)) {
      add(plural(cut, "sample") + " without the outermost functions of a deep stack [TL066]",
          kNone);
    }
    if (const auto libraries = properties.find(kUnfoundLibraries); libraries != properties.end()) {
      add("samples show addresses in place of functions, since these files were removed or "
          "changed: " +
              libraries->second + " [TL064]",
          kNone);
    }
    if (const auto file = properties.find(kRefusedNames); file != properties.end()) {
      add("generated code has no names: " + file->second + "; remove it [TL067]", kNone);
    }
  }

  // The repairs that the reader of the trace made.
  void add_trace() {
    if (const auto blocks = number(packed::kLostBlocks)) {
      const auto events = number(packed::kLostEvents);
      add(plural(blocks, "damaged or missing part") + " of the packed trace left out" +
              (events > 0 ? ", with " + plural(events, "event") : "") + " [TL167]",
          kAny);
    }
    if (number(packed::kEndIsLost) != 0) {
      add("the packed trace is cut off or damaged at its end, where the facts about the run were "
          "[TL168]",
          kAny);
    }
    if (const auto files = number(kUnsoundTraceFiles)) {
      add(plural(files, "file") +
              " of the trace missing, cut off or damaged; its profile is read [TL259]",
          kMore);
    }
    if (const auto damaged = number("timeloom::otf2_damaged_files")) {
      add(plural(damaged, "file") +
              " of the trace damaged or cut off, and read up to there [TL260]",
          kTimes);
    }
    if (const auto missing = number("timeloom::otf2_missing_events")) {
      add(plural(missing, "event") + " missing from the files of the trace [TL261]", kTimes);
    }
    if (const auto closed = number("timeloom::otf2_closed_regions")) {
      add(plural(closed, "region") + " entered and never left; a leave was added [TL262]", kTimes);
    }
    if (const auto dropped = number("timeloom::otf2_dropped_leaves")) {
      add(plural(dropped, "leave event") + " without an enter, left out [TL263]", kTimes);
    }
    if (const auto moved = number("timeloom::otf2_moved_events")) {
      add(plural(moved, "event") + " earlier than the one before; taken as simultaneous [TL264]",
          kTimes);
    }
    if (const auto undefined = number("timeloom::otf2_undefined_events")) {
      add(plural(undefined, "event") + " that the trace does not define, left out [TL265]", kTimes);
    }
  }

  const Definitions& definitions_;
  std::vector<Loss> losses_;
};

}  // namespace

std::vector<Loss> losses_of(const Definitions& definitions) { return Losses(definitions).take(); }

LossEffect effect_of(const std::vector<Loss>& losses) {
  LossEffect worst = kNone;
  for (const Loss& loss : losses) worst = std::max(worst, loss.effect);
  return worst;
}

std::string depth_warning(std::uint64_t limit, std::uint64_t reached, const run::Layout& layout) {
  return "the limit of " + plural(limit, "level") +
         " of call paths was exceeded. The deepest had " + plural(reached, "level") +
         ". Consider setting " + std::string(layout.depth_setting) + " to " +
         std::to_string(reached) + ". [TL010]";
}

std::uint64_t counted(const Definitions& definitions, const char* key) {
  const auto found = definitions.properties.find(key);
  if (found == definitions.properties.end()) return 0;
  std::uint64_t value = 0;
  const std::string& text = found->second;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace timeloom::tools
