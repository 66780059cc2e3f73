#include "view/page/html_file.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <vector>

#include "exchange/gzip.hpp"
#include "view/answers/api.hpp"
#include "view/answers/auxiliary_events.hpp"
#include "view/answers/fields.hpp"
#include "view/answers/held_memory.hpp"
#include "view/answers/json_strings.hpp"
#include "view/answers/message_answers.hpp"
#include "view/index/cursor.hpp"

namespace timeloom::view {

namespace {

// Sections, compressed and in base64.
class DataWriter {
 public:
  explicit DataWriter(exchange::Destination& out) : out_(out) {}

  void section(std::uint32_t tag, std::string_view bytes) {
    const std::uint32_t head[2] = {tag, static_cast<std::uint32_t>(bytes.size())};
    compress({reinterpret_cast<const char*>(head), sizeof head}, Z_NO_FLUSH);
    compress(bytes, Z_NO_FLUSH);
    compress(std::string_view("\0\0\0\0\0\0\0", padded(bytes.size()) - bytes.size()), Z_NO_FLUSH);
  }
  void finish() {
    section(0, {});
    compress({}, Z_FINISH);
    put(true);
  }

 private:
  void compress(std::string_view bytes, int flush) {
    gzip_.add(bytes, flush, [this](std::string_view part) { held_ += part; });
    if (held_.size() > (1 << 16)) put(false);
  }
  // Encodes groups of three bytes; an incomplete group waits, or is filled up at the end.
  void put(bool last) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::size_t size = last ? held_.size() : held_.size() / 3 * 3;
    std::string text;
    for (std::size_t at = 0; at < size; at += 3) {
      const auto byte = [&](std::size_t i) -> std::uint32_t {
        return at + i < size ? static_cast<unsigned char>(held_[at + i]) : 0;
      };
      const std::uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
      for (std::size_t digit = 0; digit < 4; ++digit) {
        const bool there = digit <= size - at;
        text += there ? kDigits[group >> (18 - 6 * digit) & 63] : '=';
      }
    }
    out_.write(text);
    held_.erase(0, size);
  }

  exchange::Destination& out_;
  exchange::Gzip gzip_;
  std::string held_;
};

// By node: its position among the children of its parent.
std::vector<std::uint32_t> ordinals_of(const Track& track) {
  std::vector<std::uint32_t> counts(track.nodes().size() + 1), ordinals;
  for (const Node& node : track.nodes()) {
    ordinals.push_back(counts[node.parent == kNone ? 0 : node.parent + std::size_t{1}]++);
  }
  return ordinals;
}

void append_enter(const Track& track, const Cursor& cursor, std::span<const std::uint32_t> ordinals,
                  std::string& to) {
  const Frame& frame = cursor.frame();
  const std::vector<Frame>& open = cursor.open();
  // All calls below a node without a region stay in it.
  const bool stays = open.size() > 1 && open[open.size() - 2].node == frame.node;
  append_varint(to, stays ? 0 : ordinals[frame.node]);
  if (track.nodes()[frame.node].region == kNone) append_varint(to, frame.region);
}

void append_other(const Event& event, std::string& to) {
  append_varint(to, static_cast<std::uint64_t>(event.kind));
  append_varint(to, event.ref);
  append_varint(to, event.value);
}

// The operands of a token of waiting, and one token more for each further cause.
void append_causes(const CauseTicks& ticks, std::string& to) {
  bool first = true;
  for (std::uint32_t i = 0; i < kWaitingCauses; ++i) {
    if (ticks[i] == 0) continue;
    if (!first) append_varint(to, static_cast<std::uint64_t>(Token::kOther));
    append_other({{}, EventKind::kWaiting, i, ticks[i]}, to);
    first = false;
  }
}

// `strings`: receives the numbers of the texts that calls were given.
std::string track_section(const Track& track, std::uint32_t number,
                          std::set<std::uint64_t>& strings) {
  std::vector<std::uint32_t> head = {number, static_cast<std::uint32_t>(track.nodes().size())};
  for (const Node& node : track.nodes()) head.push_back(node.path);
  std::string bytes(record_bytes(head.data(), head.size()));
  const std::vector<std::uint32_t> ordinals = ordinals_of(track);
  if (track.blocks().empty()) return bytes;
  std::uint64_t last = 0, before = 0;  // times of the last event written, and of the last event at
                                       // all
  const auto put_token = [&](std::uint64_t time, Token token) {
    append_varint(bytes, (time - last) << 2 | static_cast<unsigned>(token));
    last = time;
  };
  for (Cursor cursor(track, 0); cursor.next_of_track(); before = cursor.time()) {
    if (cursor.is_waiting() && total(cursor.waited().ticks) == 0) continue;
    // Messages are written separately, already matched.
    if (cursor.token() == Token::kOther && is_mpi(cursor.other().kind)) continue;
    if (cursor.is_waiting() && before != last) {
      put_token(before, Token::kOther);  // no waiting until then
      append_other({{}, EventKind::kWaiting, 0, 0}, bytes);
    }
    put_token(cursor.time(), cursor.token());
    if (cursor.token() == Token::kEnter) append_enter(track, cursor, ordinals, bytes);
    if (cursor.token() != Token::kOther) continue;
    if (cursor.is_waiting()) {
      append_causes(cursor.waited().ticks, bytes);
      continue;
    }
    append_other(cursor.other(), bytes);
    if (cursor.other().kind == EventKind::kParameterString) strings.insert(cursor.other().value);
  }
  return bytes;
}

std::string texts_of(const std::set<std::uint64_t>& strings, const Definitions& definitions) {
  nlohmann::ordered_json texts = nlohmann::ordered_json::object();
  for (const std::uint64_t number : strings) {
    if (number < definitions.strings.size()) {
      texts[std::to_string(number)] = definitions.strings[static_cast<std::size_t>(number)];
    }
  }
  return json_text(texts);
}

void write_messages(const RunInside& run, const AuxiliaryEvents& events, DataWriter& data) {
  if (std::ranges::all_of(events.message_ends(), [](std::uint64_t ends) { return ends == 0; }))
    return;
  const Messages messages(*run.index, *run.definitions, events.message_ends());
  MessageQuestion all;
  all.to = kLastTime;
  all.limit = Messages::kMostEnds;
  data.section(6, json_text(facts_of_messages(messages)));
  data.section(7, messages_answer(bundles_in(messages, all)));
  data.section(8, collectives_answer(gatherings_in(messages, all)));
}

void write_calls(const RunInside& run, DataWriter& data) {
  std::set<std::uint64_t> strings;
  for (std::uint32_t i = 0; i < run.index->tracks().size(); ++i) {
    data.section(3, track_section(*run.index->track(i), i, strings));
  }
  data.section(5, texts_of(strings, *run.definitions));
}

// Writes the values of metrics, joined where they are many. Returns whether all are there.
bool write_values(const AuxiliaryEvents& events, std::size_t most, DataWriter& data) {
  bool all = events.is_complete();
  for (const auto& [key, series] : events.series()) {
    const std::vector<Stretch> stretches = series.in(0, kLastTime);
    if (stretches.size() > most) {
      all = false;
      continue;
    }
    most -= stretches.size();
    AnswerWriter out;
    out.u32(key.first);
    out.u32(key.second);
    out.f64(series.count());
    append_values(out, stretches);
    data.section(11, out.take());
  }
  return all;
}

void write_outline(const RunInside& run, const AuxiliaryEvents& events, const LimitsInside& limits,
                   DataWriter& data) {
  const bool all_values = write_values(events, limits.stretches, data);
  const OutlineTiles tiles = outline_tiles(*run.index, *run.definitions, limits.outline.tile_bytes);
  for (const std::string& section : tiles.sections) data.section(9, section);
  const OutlineSums sums = outline_sums(*run.index, limits.outline);
  for (const std::string& section : sums.sections) {
    if (!section.empty()) data.section(10, section);
  }
  for (const std::string& section : longest_calls(*run.index, limits.outline.calls)) {
    data.section(15, section);
  }
  nlohmann::ordered_json about;
  about["finest"] = tiles.finest;
  about["step"] = sums.level;
  about["all_values"] = all_values;
  data.section(12, json_text(about));
}

// `outline`: limits of the outline; null: the file contains all calls.
void write_data(const RunInside& run, const LimitsInside* outline, exchange::Destination& out) {
  DataWriter data(out);
  data.section(1, run.description);
  data.section(2, paths_answer(*run.index));
  if (!run.sources.empty()) data.section(4, run.sources);
  if (outline == nullptr) write_calls(run, data);
  const AuxiliaryEvents events(*run.index, *run.definitions);
  if (outline != nullptr) write_outline(run, events, *outline, data);
  write_messages(run, events, data);
  for (const std::string& section : run.memory) data.section(13, section);
  if (!run.samples.empty()) data.section(14, run.samples);
  data.finish();
}

}  // namespace

std::vector<std::string> memory_sections(const std::filesystem::path& file, const Index& index,
                                         const Definitions& definitions) {
  std::vector<std::string> sections;
  for (const MemoryAmount amount :
       {MemoryAmount::kAllocated, MemoryAmount::kAtPeak, MemoryAmount::kAtEnd}) {
    AnswerWriter head;
    head.f64(static_cast<std::uint64_t>(amount));
    const HeldMemory held = held_memory(file, index, definitions, {amount});
    sections.push_back(head.take() + memory_answer(held));
  }
  return sections;
}

std::optional<std::string> sample_section(const TimedSamples& samples, const Index& index,
                                          std::size_t most) {
  if (samples.count() > most) return std::nullopt;
  TimedQuestion all;
  all.to = kLastTime;
  all.limit = static_cast<std::uint32_t>(most);
  all.tracks.resize(index.tracks().size());
  std::iota(all.tracks.begin(), all.tracks.end(), 0u);
  return samples.answer(samples.in(index, all));
}

bool write_html(std::string_view page, std::span<const RunInside> runs, exchange::Destination& out,
                const LimitsInside& limits) {
  std::uint64_t events = 0;
  for (const RunInside& run : runs) events += run.index->events();
  const bool all_calls = events <= limits.events;
  LimitsInside of_one = limits;
  of_one.stretches /= runs.size();
  of_one.outline.tile_bytes /= runs.size();
  of_one.outline.sum_bytes /= runs.size();
  of_one.outline.calls /= runs.size();
  std::string text(page);
  constexpr std::string_view kServer = "connect-src 'self'", kNothing = "connect-src 'none'";
  const std::size_t policy = text.find(kServer);
  if (policy != std::string::npos) text.replace(policy, kServer.size(), kNothing);
  const std::size_t at = std::min(text.find("<script"), text.size());
  out.write(std::string_view(text).substr(0, at));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    out.write("<script type=\"application/octet-stream\" id=\"timeloom-data");
    out.write(i == 0 ? "\">" : "-2\">");
    write_data(runs[i], all_calls ? nullptr : &of_one, out);
    out.write("</script>\n");
  }
  out.write(std::string_view(text).substr(at));
  return all_calls;
}

}  // namespace timeloom::view
