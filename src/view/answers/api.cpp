#include "view/answers/api.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/parallel.hpp"
#include "core/waiting_metric.hpp"
#include "exchange/arguments.hpp"
#include "view/answers/call_details.hpp"
#include "view/answers/calls.hpp"
#include "view/answers/fields.hpp"
#include "view/answers/find.hpp"
#include "view/answers/group_tiles.hpp"
#include "view/answers/json_strings.hpp"
#include "view/answers/message_answers.hpp"
#include "view/answers/range_answers.hpp"
#include "view/index/tile.hpp"

namespace timeloom::view {

namespace {

constexpr std::size_t kMostParts = 512;
constexpr std::uint32_t kMostRows = 4096;        // of a tile
constexpr std::uint32_t kMostRowsOfAll = 16384;  // of all tiles of a question
constexpr std::uint32_t kMostCalls = 100'000;
constexpr std::uint32_t kMostCallsOfAll = 1'000'000;
constexpr std::uint64_t kMostEvents = 4'000'000;  // read for one list of calls
constexpr std::size_t kMostBytesOfMarks = 256 << 10;
constexpr std::size_t kMostSeriesAsked = 64;
constexpr std::uint32_t kMostParameters = 64;
constexpr std::uint32_t kMostFound = 10'000;

Answer failure(unsigned status, std::string reason) {
  return {status, "text/plain; charset=utf-8", std::move(reason) + "\n"};
}

// Answers the parts of a question in parallel; the result has them in order.
template <typename Part, typename Work>
std::string answers(const std::vector<Part>& parts, const Work& work) {
  std::vector<std::string> found(parts.size());
  const unsigned threads = std::min(4u, std::max(1u, std::thread::hardware_concurrency()));
  for_each_in_parallel(parts.size(), parts.size() > 4 ? threads : 1,
                       [&](std::size_t i) { found[i] = work(parts[i]); });
  std::string all;
  for (const std::string& one : found) all += one;
  return all;
}

TileKey place_in(QuestionReader& in) {
  TileKey place;
  place.level = in.u32(0, kLastLevel);
  place.index = in.u32();
  place.index |= std::uint64_t{in.u32()} << 32;
  place.index = std::min(place.index, kLastTime);
  return place;
}

std::string picture_answer(const Picture& picture) {
  AnswerWriter out;
  out.u32(picture.rows);
  out.u32(picture.all_rows);
  out.u32(picture.exact ? 1 : 0);
  out.u32(picture.cause.empty() ? 0 : 1);
  out.array(std::span<const std::uint8_t>(picture.off));
  out.array(std::span<const std::uint8_t>(picture.waiting));
  out.array(std::span<const std::uint8_t>(picture.cause));
  out.array(std::span<const std::uint32_t>(picture.region));
  out.array(std::span<const std::uint8_t>(picture.cover));
  return out.take();
}

struct TileQuestion {
  std::uint32_t track = 0;
  TileKey place;
  std::uint32_t first_row = 0;
  std::uint32_t rows = 0;
};

std::string tiles(const Content& content, const Index& index, QuestionReader in) {
  std::vector<TileQuestion> parts;
  std::uint64_t rows = 0;
  while (!in.at_end()) {
    TileQuestion one;
    one.track = in.u32();
    if (one.track >= index.tracks().size() && !is_group(one.track, content.definitions())) {
      throw BadQuestion{"there is no such track"};
    }
    one.place = place_in(in);
    one.first_row = in.u32();
    one.rows = in.u32(0, kMostRows);
    rows += one.rows;
    parts.push_back(one);
    if (parts.size() > kMostParts || rows > kMostRowsOfAll) throw BadQuestion{"too many tiles"};
  }
  return answers(parts, [&](const TileQuestion& one) {
    const Picture picture =
        one.track < index.tracks().size()
            ? picture_at(*index.track(one.track), one.place, one.first_row, one.rows)
            : group_picture(index, content.definitions(), one.track, one.place, one.first_row,
                            one.rows);
    return picture_answer(picture);
  });
}

struct MixtureQuestion {
  TileKey place;
  std::vector<std::uint32_t> tracks;
};

// Tiles of several tracks together. The length of a question bounds their number.
std::string mixtures(const Content& content, const Index& index, QuestionReader in) {
  std::vector<MixtureQuestion> parts;
  while (!in.at_end()) {
    MixtureQuestion one;
    one.place = place_in(in);
    const std::uint32_t count = in.u32();
    if (count == 0) throw BadQuestion{"tracks are missing"};
    one.tracks = tracks_in(in, index, count);
    parts.push_back(std::move(one));
    if (parts.size() > kMostParts) throw BadQuestion{"too many tiles"};
  }
  return answers(parts, [&](const MixtureQuestion& one) {
    return picture_answer(mixed_picture(index, content.definitions(), one.tracks, one.place));
  });
}

struct PartOfCalls {
  std::uint32_t track = 0;
  CallQuestion question;
};

std::string calls(const Index& index, QuestionReader in) {
  std::vector<PartOfCalls> parts;
  std::uint64_t limits = 0;
  while (!in.at_end()) {
    PartOfCalls one;
    one.track = track_in(in, index);
    one.question.first_depth = in.u32();
    one.question.depths = in.u32();
    one.question.limit = in.u32(1, kMostCalls);
    one.question.from = in.time();
    one.question.to = in.time();
    one.question.most_events = kMostEvents;
    limits += one.question.limit;
    parts.push_back(one);
    if (parts.size() > kMostParts || limits > kMostCallsOfAll) throw BadQuestion{"too many calls"};
  }
  return answers(parts, [&](const PartOfCalls& one) {
    return calls_answer(calls_in(*index.track(one.track), one.question));
  });
}

// Returns a test for the values that are searched for: some parameters by number, with their text.
std::function<bool(const Event&)> parameter_in(QuestionReader& in, const Definitions& definitions) {
  std::vector<std::uint32_t> numbers(in.u32(1, kMostParameters));
  for (std::uint32_t& number : numbers) number = in.u32();
  return [numbers = std::move(numbers), text = std::string(in.rest()),
          &definitions](const Event& event) {
    return exchange::is_parameter(event.kind) && exchange::is_sound(event, definitions) &&
           std::ranges::find(numbers, event.ref) != numbers.end() &&
           exchange::value_text(event, definitions) == text;
  };
}

std::string found_calls(const Content& content, const Index& index, QuestionReader in) {
  FindQuestion question;
  question.order = static_cast<FindOrder>(in.u32(0, 2));
  question.limit = in.u32(1, kMostFound);
  question.from = in.time();
  question.to = in.time();
  question.shortest = in.time();
  question.longest = in.time();
  const std::uint32_t track_count = in.u32(), region_count = in.u32();
  question.tracks = tracks_in(in, index, track_count);
  if (region_count > in.left() / sizeof(std::uint32_t)) throw BadQuestion{"regions are missing"};
  for (std::uint32_t i = 0; i < region_count; ++i) question.regions.push_back(in.u32());
  if (!in.at_end()) question.parameter = parameter_in(in, content.definitions());
  const FindAnswer found = find_calls(index, question);
  AnswerWriter out;
  out.u32(static_cast<std::uint32_t>(found.calls.size()));
  out.u32(found.complete ? 1 : 0);
  out.f64s(found.calls, [](const FoundCall& one) { return one.call.begin; });
  out.f64s(found.calls, [](const FoundCall& one) { return one.call.end; });
  out.u32s(found.calls, [](const FoundCall& one) { return one.track; });
  out.u32s(found.calls, [](const FoundCall& one) { return one.call.depth; });
  out.u32s(found.calls, [](const FoundCall& one) { return one.call.path; });
  out.u32s(found.calls, [](const FoundCall& one) { return one.call.region; });
  return out.take();
}

std::string details(const Content& content, const Index& index, QuestionReader in) {
  const std::uint32_t track = track_in(in, index), depth = in.u32();
  const std::uint64_t time = in.time();
  in.end();
  return call_details(index, content.definitions(), track, depth, time);
}

std::string progress(const Content& content) {
  nlohmann::ordered_json json;
  const std::string failed = content.failure();
  json["state"] = !failed.empty() ? "failed" : content.index() ? "ready" : "indexing";
  json["events"] = content.progress().events.load();
  json["events_total"] = content.progress().events_total.load();
  json["message"] = failed;
  return json_text(json);
}

std::string source(const Content& content, QuestionReader in) {
  const std::uint32_t region = in.u32();
  in.end();
  if (region >= content.definitions().regions.size()) throw BadQuestion{"there is no such region"};
  const Region& chosen = content.definitions().regions[region];
  return source_json(source_lines(content, chosen), chosen);
}

std::string keep(const Content& content, std::string_view marks) {
  if (marks.size() > kMostBytesOfMarks) throw BadQuestion{"the marks are too long"};
  nlohmann::ordered_json json;
  json["kept"] = nullptr;
  if (content.marks() != nullptr) {
    const std::optional<std::string> place = content.marks()->keep(marks);
    if (!place) throw BadQuestion{"these are not marks"};
    if (!place->empty()) json["kept"] = *place;
  }
  return json_text(json);
}

std::string auxiliary(const Content& content) {
  const std::shared_ptr<const AuxiliaryEvents> events = content.auxiliary_events();
  nlohmann::ordered_json json;
  json["counters"] = nlohmann::ordered_json::array();
  for (const auto& [key, series] : events->series()) {
    json["counters"].push_back(
        {{"track", key.first}, {"metric", key.second}, {"values", series.count()}});
  }
  json["links"] = events->links().size();
  json["complete"] = events->is_complete();
  json["messages"] = facts_of_messages(*content.messages());
  return json_text(json);
}

std::string values(const Content& content, const Index& index, QuestionReader in) {
  std::vector<ValuesQuestion> parts;
  while (!in.at_end()) {
    ValuesQuestion one;
    one.key.first = track_in(in, index);
    one.key.second = in.u32();
    one.from = in.time();
    one.to = in.time();
    parts.push_back(one);
    if (parts.size() > kMostSeriesAsked) throw BadQuestion{"too many counters"};
  }
  const std::shared_ptr<const AuxiliaryEvents> events = content.auxiliary_events();
  AnswerWriter out;
  for (const auto& found : values_in(index, *events, content.definitions(), parts)) {
    append_values(out, found);
  }
  return out.take();
}

std::string links(const Content& content, const Index& index, QuestionReader in) {
  const std::uint32_t track = track_in(in, index), limit = in.u32(1, kMostFound);
  const std::uint64_t from = in.time(), to = in.time();
  in.end();
  // A task is created and awaited once, but woken many times; a thread launches many kernels, and
  // runs many tasks of an engine.
  const auto wanted = [&](const Link& link) {
    const bool ends = link.to_track == track, begins = link.from_track == track;
    const bool many = link.kind != Link::Kind::kCreates && link.kind != Link::Kind::kAwaited;
    if (!many) return ends || begins;
    return (ends && from <= link.to && link.to <= to) ||
           (begins && from <= link.from && link.from <= to);
  };
  const std::shared_ptr<const AuxiliaryEvents> events = content.auxiliary_events();
  std::vector<Link> found;
  bool complete = events->is_complete();
  for (const Link& link : events->links()) {
    if (!wanted(link)) continue;
    if (found.size() == limit) {
      complete = false;
      break;
    }
    found.push_back(link);
  }
  AnswerWriter out;
  out.u32(static_cast<std::uint32_t>(found.size()));
  out.u32(complete ? 1 : 0);
  out.f64s(found, [](const Link& link) { return link.from; });
  out.f64s(found, [](const Link& link) { return link.to; });
  out.u32s(found, [](const Link& link) { return link.from_track; });
  out.u32s(found, [](const Link& link) { return link.to_track; });
  out.u32s(found, [](const Link& link) { return static_cast<std::uint32_t>(link.kind); });
  return out.take();
}

std::string about_messages(const Content& content, std::string_view route, QuestionReader in) {
  MessageQuestion question = message_question(in, kMostFound);
  const std::uint32_t count = in.u32();
  static_cast<void>(in.u32());
  const std::shared_ptr<const Index> index = content.index();
  if (count > 0) {
    question.tracks.resize(index->tracks().size());
    for (const std::uint32_t track : tracks_in(in, *index, count)) question.tracks[track] = true;
  }
  in.end();
  const std::shared_ptr<const Messages> messages = content.messages();
  return message_answer(route, *messages, content.definitions(), question);
}

Answer answer_of(const Content& content, std::string_view route, std::string_view body) {
  constexpr std::string_view kJson = "application/json";
  const QuestionReader in(body);
  if (route == "progress") return in.end(), Answer{200, kJson, progress(content)};
  if (route == "run") return in.end(), Answer{200, kJson, content.describe()};
  if (route == "keep") return {200, kJson, keep(content, body)};
  if (route == "source") return {200, kJson, source(content, in)};
  const std::shared_ptr<const Index> index = content.index();
  constexpr std::array kOthers = {"paths",   "tiles",   "mixtures", "gpu",         "calls",
                                  "table",   "call",    "find",     "side",        "values",
                                  "links",   "memory",  "messages", "collectives", "matrix",
                                  "samples", "sampled", "estimates"};
  if (std::ranges::find(kOthers, route) == kOthers.end()) return failure(404, "no such question");
  if (!index) return failure(503, "the index is not there yet");
  constexpr std::string_view kBytes = "application/octet-stream";
  if (route == "paths") return in.end(), Answer{200, kBytes, paths_answer(*index)};
  if (route == "tiles") return {200, kBytes, tiles(content, *index, in)};
  if (route == "mixtures") return {200, kBytes, mixtures(content, *index, in)};
  if (route == "calls") return {200, kBytes, calls(*index, in)};
  if (route == "table") return {200, kBytes, table_answer(content.definitions(), *index, in)};
  if (route == "side") return in.end(), Answer{200, kJson, auxiliary(content)};
  if (route == "gpu") return {200, kBytes, gpu_answer(content, *index, in)};
  if (route == "samples") return {200, kBytes, samples_answer(content, *index, in)};
  if (route == "sampled") return {200, kBytes, sampled_answer(content, *index, in)};
  if (route == "estimates") return {200, kJson, estimates_answer(content, *index, in)};
  if (route == "memory") return {200, kBytes, memory_answer(content, *index, in)};
  if (route == "values") return {200, kBytes, values(content, *index, in)};
  if (route == "links") return {200, kBytes, links(content, *index, in)};
  if (route == "messages" || route == "collectives" || route == "matrix") {
    return {200, kBytes, about_messages(content, route, in)};
  }
  if (route == "find") return {200, kBytes, found_calls(content, *index, in)};
  return {200, kJson, details(content, *index, in)};
}

}  // namespace

SourceLines source_lines(const Content& content, const Region& region) {
  SourceLines lines;
  if (content.sources() == nullptr) {
    lines.reason = "Sources are not shown here.";
    return lines;
  }
  lines = content.sources()->lines_of(region, content.definitions().clock.realtime);
  lines.times = content.line_times(region);
  lines.locks = locks_on_lines(*content.locks(), region);
  return lines;
}

std::string paths_answer(const Index& index) {
  AnswerWriter out;
  out.u32(static_cast<std::uint32_t>(index.paths().size()));
  out.u32(0);
  for (const PathRecord& path : index.paths()) out.u32(path.parent);
  out.u32s(index.paths(), [](const PathRecord& path) { return path.region; });
  return out.take();
}

std::string calls_answer(const CallAnswer& found) {
  AnswerWriter out;
  out.u32(static_cast<std::uint32_t>(found.calls.size()));
  out.u32(found.complete ? 1 : 0);
  out.f64(found.until);
  out.f64s(found.calls, [](const Call& call) { return call.begin; });
  out.f64s(found.calls, [](const Call& call) { return call.end; });
  out.u32s(found.calls, [](const Call& call) { return call.path; });
  out.u32s(found.calls, [](const Call& call) { return call.region; });
  out.u32s(found.calls, [](const Call& call) { return call.depth; });
  return out.take();
}

Answer answer_question(const Content& content, std::string_view route, std::string_view body) {
  try {
    if (!content.is_there()) {
      return failure(
          500,
          "the run was replaced or removed since timeloom view opened it; start timeloom "
          "view again [TL507]");
    }
    const std::shared_ptr<const Index> asked = content.index();
    try {
      return answer_of(content, route, body);
    } catch (const DamagedIndex&) {
      // The index was rebuilt, with the same numbers.
      if (content.settled_index() == asked) throw;
      return answer_of(content, route, body);
    }
  } catch (const BadQuestion& bad) {
    return failure(400, bad.reason);
  } catch (const Error& error) {
    return failure(500, error.what());
  }
}

}  // namespace timeloom::view
