#include "formats/pprof/pprof.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "core/samples/sampled_time.hpp"
#include "exchange/exclusive_times.hpp"
#include "exchange/format_text.hpp"
#include "exchange/names.hpp"
#include "exchange/path_values.hpp"
#include "exchange/protobuf.hpp"
#include "exchange/tracks.hpp"

namespace timeloom::pprof {

using exchange::Destination;
using exchange::Options;
using exchange::ProtoMessage;

namespace {

// The numbers of the fields, by their names in profile.proto.
namespace profile_field {
constexpr std::uint32_t kSampleType = 1, kSample = 2, kMapping = 3, kLocation = 4, kFunction = 5,
                        kStringTable = 6, kTimeNanos = 9, kDurationNanos = 10, kComment = 13,
                        kDefaultSampleType = 14;
}
namespace value_type {
constexpr std::uint32_t kType = 1, kUnit = 2;
}
namespace sample {
constexpr std::uint32_t kLocationId = 1, kValue = 2, kLabel = 3;
}
namespace label {
constexpr std::uint32_t kKey = 1, kStr = 2, kNum = 3;
}
namespace mapping {
constexpr std::uint32_t kId = 1, kFilename = 5, kHasFunctions = 7, kHasFilenames = 8,
                        kHasLineNumbers = 9;
}
namespace location {
constexpr std::uint32_t kId = 1, kMappingId = 2, kLine = 4;
}
namespace line {
constexpr std::uint32_t kFunctionId = 1, kLine = 2;
}
namespace function {
constexpr std::uint32_t kId = 1, kName = 2, kSystemName = 3, kFilename = 4, kStartLine = 5;
}

struct SampleType {
  const char* type;
  const char* unit;
};

// Memory has the names of Go's heap profiles.
SampleType type_of_value(exchange::PathValue kind) {
  using exchange::PathValue;
  switch (kind) {
    case PathValue::kWork: return {"work", "nanoseconds"};
    case PathValue::kWaiting: return {"waiting", "nanoseconds"};
    case PathValue::kEstimated: return {"estimated", "nanoseconds"};
    case PathValue::kGpu: return {"gpu", "nanoseconds"};
    case PathValue::kAllocations: return {"alloc_objects", "count"};
    case PathValue::kAllocated: return {"alloc_space", "bytes"};
    case PathValue::kHeldAtPeak: return {"peak_space", "bytes"};
    case PathValue::kHeldAtEnd: return {"inuse_space", "bytes"};
  }
  return {"", ""};
}

class PprofWriter {
 public:
  PprofWriter(const profile::CallTree& tree, const Options& options, Destination& out)
      : tree_(tree),
        options_(options),
        out_(out),
        tracks_(tree.definitions),
        clock_(tree.definitions.clock),
        values_(tree) {
    string("");  // required by the format
  }

  void write() {
    write_types();
    write_regions();
    exchange::ExclusiveTimes times(tree_);
    for (std::size_t i = 0; i < tree_.locations.size(); ++i) {
      add_thread_labels(tracks_.tracks[i]);
      values_.read(tree_.locations[i]);
      times.for_each(tree_.locations[i], [&](const profile::Cell& cell, std::uint64_t exclusive) {
        write_sample(cell, clock_.nanoseconds(exclusive));
      });
      pass();
    }
    write_facts();
    for (const std::string_view text : order_) head_.text(profile_field::kStringTable, text);
    pass();
  }

 private:
  std::uint64_t string(std::string_view text) {
    const auto [found, fresh] = strings_.try_emplace(exchange::utf8(text), strings_.size());
    if (fresh) order_.push_back(found->first);
    return found->second;
  }

  void pass() {
    out_.write(head_.bytes());
    head_.clear();
  }

  void write_types() {
    // Samples have the names that other profilers give them.
    const char* const time = options_.samples ? "cpu" : "time";
    std::vector<SampleType> types{{visits_word(tree_.definitions), "count"}, {time, "nanoseconds"}};
    for (const exchange::PathValue kind : values_.kinds()) types.push_back(type_of_value(kind));
    for (const auto& [type, unit] : types) {
      ProtoMessage one;
      one.number(value_type::kType, string(type));
      one.number(value_type::kUnit, string(unit));
      head_.message(profile_field::kSampleType, one);
    }
    head_.number(profile_field::kDefaultSampleType, string(time));
  }

  // Each region is a function and a location. Their numbers start at 1; the last number stands for
  // the call paths beyond a limit.
  void write_regions() {
    const Definitions& all = tree_.definitions;
    ProtoMessage one;
    one.number(mapping::kId, 1);
    const bool known = !all.groups.empty() && !all.groups.front().executable.empty();
    one.number(mapping::kFilename, string(known ? all.groups.front().executable : "python"));
    for (const std::uint32_t field :
         {mapping::kHasFunctions, mapping::kHasFilenames, mapping::kHasLineNumbers}) {
      one.number(field, 1);
    }
    head_.message(profile_field::kMapping, one);
    for (std::uint32_t i = 0; i <= all.regions.size(); ++i) {
      const bool beyond = i == all.regions.size();
      write_region(i + 1, beyond ? RegionId{} : RegionId{i});
    }
  }

  void write_region(std::uint64_t number, RegionId id) {
    static const Region kNone;
    const Region& region = id.defined() ? tree_.definitions.regions[id.value()] : kNone;
    ProtoMessage one;
    one.number(function::kId, number);
    one.number(function::kName, string(exchange::region_name(tree_.definitions, id)));
    one.number(function::kSystemName, string(region.canonical_name));
    one.number(function::kFilename, string(region.file));
    one.number(function::kStartLine, region.first_line);
    head_.message(profile_field::kFunction, one);

    ProtoMessage place, of_location;
    place.number(line::kFunctionId, number);
    place.number(line::kLine, region.first_line);
    of_location.number(location::kId, number);
    of_location.number(location::kMappingId, 1);
    of_location.message(location::kLine, place);
    head_.message(profile_field::kLocation, of_location);
  }

  void add_label(ProtoMessage& to, std::string_view key, std::string_view value) {
    ProtoMessage one;
    one.number(label::kKey, string(key));
    one.number(label::kStr, string(value));
    to.message(sample::kLabel, one);
  }

  void add_thread_labels(const exchange::Track& track) {
    thread_labels_.clear();
    const bool task = track.kind == exchange::TrackKind::kTask;
    add_label(thread_labels_, task ? "task" : "thread", track.name);
    add_label(thread_labels_, "process", tracks_.processes[track.process].name);
  }

  // The parameter values of the call path, the innermost for each name.
  void add_parameters(ProtoMessage& to, profile::NodeId node) {
    given_.clear();
    for (; node.defined(); node = tree_.nodes[node.value()].parent) {
      const profile::ParameterSetId set = tree_.nodes[node.value()].parameters;
      if (!set.defined()) continue;
      for (const profile::ParameterValue& value : tree_.parameter_sets[set.value()]) {
        if (std::ranges::find(given_, value.name) != given_.end()) continue;
        given_.push_back(value.name);
        add_parameter(to, value);
      }
    }
  }

  void add_parameter(ProtoMessage& to, const profile::ParameterValue& value) {
    std::int64_t number = 0;
    const char* const end = value.text.data() + value.text.size();
    const auto read = std::from_chars(value.text.data(), end, number);
    // pprof treats a number of 0 as missing.
    if (!value.numeric || read.ec != std::errc{} || read.ptr != end || number == 0) {
      return add_label(to, value.name, value.text);
    }
    ProtoMessage one;
    one.number(label::kKey, string(value.name));
    one.integer(label::kNum, number);
    to.message(sample::kLabel, one);
  }

  void write_sample(const profile::Cell& cell, std::uint64_t nanoseconds) {
    if (cell.statistics.visits == 0 && nanoseconds == 0) return;
    ProtoMessage path, values, one;
    for (profile::NodeId node = cell.node; node.defined();
         node = tree_.nodes[node.value()].parent) {
      const RegionId region = tree_.nodes[node.value()].region;
      path.varint(1 + (region.defined() ? region.value() : tree_.definitions.regions.size()));
    }
    values.varint(cell.statistics.visits);
    values.varint(nanoseconds);
    for (const exchange::PathValue kind : values_.kinds()) {
      values.varint(values_.value(kind, cell.node, nanoseconds));
    }
    one.text(sample::kLocationId, path.bytes());
    one.text(sample::kValue, values.bytes());
    add_parameters(one, cell.node);
    // The labels of the thread are the same for all its samples.
    head_.text(profile_field::kSample, one.bytes() + thread_labels_.bytes());
    if (head_.bytes().size() >= 1 << 16) pass();
  }

  void write_facts() {
    const ClockProperties& clock = tree_.definitions.clock;
    if (clock.realtime) head_.number(profile_field::kTimeNanos, *clock.realtime);
    head_.number(profile_field::kDurationNanos, clock_.nanoseconds(clock.length));
    head_.number(profile_field::kComment, string(options_.title));
    head_.number(profile_field::kComment, string(options_.creator));
  }

  const profile::CallTree& tree_;
  const Options& options_;
  Destination& out_;
  exchange::Tracks tracks_;
  exchange::RunClock clock_;
  exchange::PathValues values_;
  ProtoMessage head_;  // the next bytes to write
  ProtoMessage thread_labels_;
  std::vector<std::string_view> given_;
  std::unordered_map<std::string, std::uint64_t> strings_;
  std::vector<std::string_view> order_;  // of strings_
};

void write_paths(const profile::CallTree& tree, const Options& options, Destination& out) {
  out.compress();
  PprofWriter(tree, options, out).write();
}

}  // namespace

const exchange::Format kFormat = {
    .name = "pprof",
    .suffix = "pb.gz",
    .opened_by = "go tool pprof, https://pprof.me, speedscope",
    .of_paths = write_paths,
    .text = false,
    .whole_stacks = true,
};

}  // namespace timeloom::pprof
