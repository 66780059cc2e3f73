#include "formats/speedscope/speedscope.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "exchange/exclusive_times.hpp"
#include "exchange/format_text.hpp"
#include "exchange/names.hpp"
#include "exchange/path_values.hpp"
#include "exchange/samples/open_path.hpp"
#include "exchange/tracks.hpp"
#include "profile/samples/throttled_times.hpp"

namespace timeloom::speedscope {

using exchange::append_json;
using exchange::append_number;
using exchange::Destination;
using exchange::Options;

namespace {

constexpr std::size_t kPiece = 1 << 16;

void add_frame(std::string& text, const Definitions& definitions, RegionId id,
               const std::string& parameters = {}, bool estimated = false) {
  text += text.ends_with('[') ? "\n" : ",\n";
  text += R"({"name":)";
  std::string name = exchange::region_name(definitions, id);
  if (estimated) name.insert(name.begin(), exchange::kEstimateMark);
  append_json(text, name + (parameters.empty() ? "" : " {" + parameters + "}"));
  if (id.defined() && !definitions.regions[id.value()].file.empty()) {
    const Region& region = definitions.regions[id.value()];
    text += R"(,"file":)";
    append_json(text, region.file);
    if (region.first_line != 0) {
      text += R"(,"line":)";
      append_number(text, region.first_line);
    }
  }
  text += '}';
}

// A frame for each region, by its number.
std::string frames_of(const Definitions& definitions) {
  std::string text;
  for (std::uint32_t i = 0; i < definitions.regions.size(); ++i) {
    if (i == 0) text += '[';
    add_frame(text, definitions, RegionId{i});
  }
  return text.empty() ? "[" : text;
}

// The text before the profiles.
std::string head(const Options& options, const std::string& frames) {
  std::string text =
      R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":)";
  append_json(text, options.creator);
  text += R"(,"name":)";
  append_json(text, options.title);
  return text + R"(,"activeProfileIndex":0,"shared":{"frames":)" + frames + "\n]},\n\"profiles\":[";
}

// The part of a profile before its calls.
std::string profile_head(const exchange::Tracks& tracks, std::size_t index, const char* type) {
  const exchange::Track& track = tracks.tracks[index];
  std::string text = R"({"type":")" + std::string(type) + R"(","name":)";
  const bool several = tracks.processes.size() > 1;
  append_json(text,
              several ? tracks.processes[track.process].name + ": " + track.name : track.name);
  return text + R"(,"unit":"nanoseconds","startValue":0)";
}

// Each sample of a thread: its stack, and the CPU time that it stands for.
class SamplesOfLocation : public LocationSink {
 public:
  SamplesOfLocation(Destination& out, std::string text) : out_(out), text_(std::move(text)) {}

  void consume(std::span<const Event> events) override {
    for (const Event& event : events) {
      if (path_.take(event)) add(event.value);
    }
  }
  void finish() override {
    text_ += R"(],"weights":[)" + weights_ + R"(],"endValue":)";
    append_number(text_, total_);
    out_.write(text_ + "}");
  }

 private:
  void add(std::uint64_t weight) {
    if (path_.path().empty()) return;  // nothing of it is selected
    text_ += weights_.empty() ? "[" : ",[";
    for (std::size_t i = 0; i < path_.path().size(); ++i) {
      if (i > 0) text_ += ',';
      append_number(text_, path_.path()[i]);
    }
    text_ += ']';
    if (!weights_.empty()) weights_ += ',';
    append_number(weights_, weight);
    total_ += weight;
    if (text_.size() < kPiece) return;
    out_.write(text_);
    text_.clear();
  }

  Destination& out_;
  std::string text_, weights_;
  exchange::OpenPath path_;
  std::uint64_t total_ = 0;
};

// One thread writes the profiles one after the other.
class SpeedscopeRun : public RunSink {
 public:
  SpeedscopeRun(const Definitions& definitions, bool samples, Destination& out)
      : tracks_(definitions), clock_(definitions.clock), samples_(samples), out_(out) {}

  void begin(const Definitions&) override {}
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    std::string text = first_ ? "\n" : ",\n";
    first_ = false;
    const char* const type = samples_ ? "sampled" : "evented";
    text += profile_head(tracks_, tracks_.index_of(location.id), type);
    if (samples_) return std::make_unique<SamplesOfLocation>(out_, text + R"(,"samples":[)");
    return std::make_unique<OfLocation>(*this, text + R"(,"events":[)");
  }
  void finish() override {}

 private:
  class OfLocation : public LocationSink {
   public:
    OfLocation(SpeedscopeRun& run, std::string text) : run_(run), text_(std::move(text)) {}

    void consume(std::span<const Event> events) override {
      for (const Event& event : events) {
        if (event.kind == EventKind::kEnter) add('O', event);
        if (event.kind == EventKind::kLeave) add('C', event);
      }
    }
    void finish() override {
      text_ += R"(],"endValue":)";
      append_number(text_, last_);
      text_ += '}';
      run_.out_.write(text_);
    }

   private:
    void add(char type, const Event& event) {
      last_ = std::max(last_, run_.clock_(event.time));
      text_ += text_.ends_with('[') ? R"({"type":")" : R"(,{"type":")";
      text_ += type;
      text_ += R"(","frame":)";
      append_number(text_, event.ref);
      text_ += R"(,"at":)";
      append_number(text_, last_);
      text_ += '}';
      if (text_.size() < kPiece) return;
      run_.out_.write(text_);
      text_.clear();
    }

    SpeedscopeRun& run_;
    std::string text_;
    std::uint64_t last_ = 0;
  };

  exchange::Tracks tracks_;
  exchange::RunClock clock_;
  const bool samples_;
  Destination& out_;
  bool first_ = true;
};

void write_events(RunSource& run, const Options& options, Destination& out) {
  out.write(head(options, frames_of(run.definitions())));
  SpeedscopeRun sink(run.definitions(), options.samples, out);
  const std::array<RunSink*, 1> sinks = {&sink};
  run.replay(sinks, 1);  // one location after the other
  out.write("\n]}\n");
}

// The frames of call paths, with the parameter values that distinguish them, and marks of
// estimates.
class PathFrames {
 public:
  explicit PathFrames(const profile::CallTree& tree) {
    text_ = "[";
    const std::vector<bool> marks = profile::estimated_nodes(tree);
    for (const profile::Node& node : tree.nodes) {
      const bool estimated = marks[of_node_.size()];
      const auto next = static_cast<std::uint32_t>(numbers_.size());
      const auto [found, fresh] =
          numbers_.try_emplace({node.region.value(), node.parameters.value(), estimated}, next);
      of_node_.push_back(found->second);
      if (!fresh) continue;
      const bool given = node.parameters.defined();
      add_frame(text_, tree.definitions, node.region,
                given ? text_of(tree.parameter_sets[node.parameters.value()]) : std::string(),
                estimated);
    }
  }
  const std::string& text() const noexcept { return text_; }
  std::uint32_t of(profile::NodeId node) const { return of_node_[node.value()]; }

 private:
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, std::uint32_t> numbers_;
  std::vector<std::uint32_t> of_node_;
  std::string text_;
};

// Adds the stack, from the root on.
void add_stack(std::string& text, const profile::CallTree& tree, const PathFrames& frames,
               profile::NodeId node) {
  std::vector<std::uint32_t> stack;
  for (; node.defined(); node = tree.nodes[node.value()].parent) stack.push_back(frames.of(node));
  text += text.ends_with('[') ? "[" : ",[";
  for (std::size_t i = stack.size(); i-- > 0;) {
    append_number(text, stack[i]);
    if (i > 0) text += ',';
  }
  text += ']';
}

void write_paths(const profile::CallTree& tree, const Options& options, Destination& out) {
  const PathFrames frames(tree);
  out.write(head(options, frames.text()));
  const exchange::Tracks tracks(tree.definitions);
  const exchange::RunClock clock(tree.definitions.clock);
  exchange::ExclusiveTimes times(tree);
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    std::string samples = "[", weights = "[";
    std::uint64_t total = 0;
    times.for_each(tree.locations[i], [&](const profile::Cell& cell, std::uint64_t exclusive) {
      // A difference of profiles may have negative times, which the view cannot show.
      if (profile::signed_value(exclusive) <= 0) return;
      add_stack(samples, tree, frames, cell.node);
      if (!weights.ends_with('[')) weights += ',';
      append_number(weights, clock.nanoseconds(exclusive));
      total += clock.nanoseconds(exclusive);
    });
    out.write((i == 0 ? "\n" : ",\n") + profile_head(tracks, i, "sampled") + R"(,"endValue":)" +
              std::to_string(total) + R"(,"samples":)" + samples + R"(],"weights":)" + weights +
              "]}");
  }
  out.write("\n]}\n");
}

}  // namespace

const exchange::Format kFormat = {
    .name = "speedscope",
    .suffix = "speedscope.json",
    .opened_by = "https://speedscope.app, npx speedscope",
    .of_events = write_events,
    .of_paths = write_paths,
    .samples = true,
    .whole_stacks = true,
};

}  // namespace timeloom::speedscope
