#include "view/answers/range_answers.hpp"

#include <algorithm>
#include <numeric>

#include "core/scaled.hpp"
#include "core/waiting_metric.hpp"
#include "view/answers/held_memory.hpp"
#include "view/answers/range_table.hpp"
#include "view/answers/samples/sampled_paths.hpp"

namespace timeloom::view {

namespace {

constexpr std::uint32_t kMostColumns = 4096;
constexpr std::uint64_t kMostSamples = 1'000'000;  // in an answer

}  // namespace

std::uint32_t track_in(QuestionReader& in, const Index& index) {
  const std::uint32_t track = in.u32();
  if (track >= index.tracks().size()) throw BadQuestion{"there is no such track"};
  return track;
}

std::vector<std::uint32_t> tracks_in(QuestionReader& in, const Index& index, std::uint32_t count) {
  if (count > in.left() / sizeof(std::uint32_t)) throw BadQuestion{"tracks are missing"};
  std::vector<std::uint32_t> tracks;
  for (std::uint32_t i = 0; i < count; ++i) tracks.push_back(track_in(in, index));
  // A track that is named twice counts once.
  std::ranges::sort(tracks);
  tracks.erase(std::unique(tracks.begin(), tracks.end()), tracks.end());
  if (count > 0) return tracks;
  tracks.resize(index.tracks().size());
  std::iota(tracks.begin(), tracks.end(), 0u);
  return tracks;
}

SelectedRange range_in(QuestionReader& in, const Index& index) {
  SelectedRange selected;
  selected.from = in.time();
  selected.to = in.time();
  const std::uint32_t count = in.u32();
  static_cast<void>(in.u32());
  selected.tracks = tracks_in(in, index, count);
  in.end();
  return selected;
}

std::string table_answer(const Definitions& definitions, const Index& index, QuestionReader in) {
  const auto [from, to, tracks] = range_in(in, index);
  const RangeTable found = range_table(index, tracks, from, to);
  std::vector<std::uint32_t> paths;
  std::vector<RangeSum> sums;
  for (std::uint32_t path = 0; path < found.sums.size(); ++path) {
    if (found.sums[path].visits == 0) continue;
    paths.push_back(path);
    sums.push_back(counted(found.sums[path], definitions, index.paths()[path].region));
  }
  AnswerWriter out;
  out.u32(static_cast<std::uint32_t>(paths.size()));
  out.u32(found.tracks);
  out.array(std::span<const std::uint32_t>(paths));
  out.f64s(sums, [](const RangeSum& sum) { return sum.visits; });
  out.f64s(sums, [](const RangeSum& sum) { return sum.cut_begin; });
  out.f64s(sums, [](const RangeSum& sum) { return sum.cut_end; });
  out.f64s(sums, [](const RangeSum& sum) { return sum.own; });
  out.f64s(sums, [](const RangeSum& sum) { return sum.waiting; });
  out.f64s(sums, [](const RangeSum& sum) { return sum.inclusive; });
  out.f64s(sums, [](const RangeSum& sum) { return sum.min; });
  out.f64s(sums, [](const RangeSum& sum) { return sum.max; });
  for (std::size_t i = 1; has_causes(definitions) && i < kWaitingCauses; ++i) {
    out.f64s(sums, [i](const RangeSum& sum) { return sum.causes[i]; });
  }
  return out.take();
}

std::string gpu_answer(const Content& content, const Index& index, QuestionReader in) {
  const auto [from, to, asked] = range_in(in, index);
  std::vector<bool> tracks(index.tracks().size());
  for (const std::uint32_t track : asked) tracks[track] = true;
  const std::shared_ptr<const AuxiliaryEvents> events = content.auxiliary_events();
  const std::vector<GpuSum> sums = gpu_sums(events->gpu_starts(), tracks, from, to);
  AnswerWriter out;
  out.u32(static_cast<std::uint32_t>(sums.size()));
  out.u32(events->has_all_gpu_starts() ? 1 : 0);
  out.u32s(sums, [](const GpuSum& sum) { return sum.path; });
  out.f64s(sums, [](const GpuSum& sum) { return sum.starts; });
  out.f64s(sums, [](const GpuSum& sum) { return sum.ticks; });
  return out.take();
}

std::string memory_answer(const Content& content, const Index& index, QuestionReader in) {
  MemoryQuestion question;
  question.amount = static_cast<MemoryAmount>(in.u32(0, 3));
  question.process = in.u32();
  const std::uint64_t time = in.time();
  in.end();
  const Definitions& definitions = content.definitions();
  const bool one = question.process < definitions.groups.size();
  if (!one && question.process != kNone) throw BadQuestion{"there is no such process"};
  if (!one && question.amount == MemoryAmount::kAtInstant) throw BadQuestion{"no process is named"};
  if (content.memory_file().empty()) {
    throw Error(
        "the memory by call path is not there: the run is still recorded, has no trace of its own, "
        "or was woven by an older version; timeloom report --memory has the peak and the end "
        "[TL731]");
  }
  question.time_ns = scaled(time, kNanoseconds, definitions.clock.ticks_per_second);
  return memory_answer(held_memory(content.memory_file(), index, definitions, question));
}

std::string samples_answer(const Content& content, const Index& index, QuestionReader in) {
  const auto [from, to, tracks] = range_in(in, index);
  const std::shared_ptr<const exchange::RunSamples> all = content.samples();
  if (!all) throw BadQuestion{"the run has no single samples"};
  const Definitions& definitions = content.definitions();
  return samples_answer(sampled_paths(index, definitions, *all, tracks, from, to), *all,
                        definitions);
}

std::string sampled_answer(const Content& content, const Index& index, QuestionReader in) {
  TimedQuestion question;
  question.limit = in.u32(1, kMostSamples);
  question.columns = in.u32(1, kMostColumns);
  SelectedRange selected = range_in(in, index);
  question.from = selected.from;
  question.to = std::max(selected.from, selected.to);
  question.tracks = std::move(selected.tracks);
  const std::uint64_t most = std::max(question.limit, question.columns);
  if (most * question.tracks.size() > kMostSamples) throw BadQuestion{"too many samples"};
  const std::shared_ptr<const TimedSamples> samples = content.timed_samples();
  if (!samples) throw BadQuestion{"the run has no single samples"};
  return samples->answer(samples->in(index, question));
}

std::string estimates_answer(const Content& content, const Index& index, QuestionReader in) {
  const auto [from, to, tracks] = range_in(in, index);
  if (!content.estimate()) throw BadQuestion{"the run has no estimates"};
  return content.estimate()(index, tracks, from, to);
}

}  // namespace timeloom::view
