#include "formats/packed/packed_definitions.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/mpi/communicator_groups.hpp"

namespace timeloom::packed {
namespace {

// Reading and writing visit the same fields in the same order: see pass().
class DefinitionOutput {
 public:
  static constexpr bool kReads = false;
  template <typename T>
  void number(const T& value) {
    put_varint(bytes_, static_cast<std::uint64_t>(value));
  }
  template <typename T>
  void choice(const T& value, T) {
    number(value);
  }
  // Undefined ids are small numbers.
  template <typename I>
  void id(const I& value) {
    put_varint(bytes_, static_cast<typename I::rep>(value.value() + 1));
  }
  void text(const std::string& text) {
    number(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  template <typename T, typename Function>
  void each(const std::vector<T>& all, Function function) {
    number(all.size());
    for (const T& one : all) function(*this, one);
  }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

class DefinitionInput {
 public:
  static constexpr bool kReads = true;
  explicit DefinitionInput(ByteSpan bytes) : reader_(bytes) {}

  template <typename T>
  void number(T& value) {
    const std::uint64_t read = reader_.varint();
    if constexpr (std::is_same_v<T, bool>) {
      value = read != 0;
    } else {
      value = static_cast<T>(read);
      if (static_cast<std::uint64_t>(value) != read) reader_.fail();
    }
  }
  template <typename T>
  void choice(T& value, T last) {
    const std::uint64_t read = reader_.varint();
    if (read > static_cast<std::uint64_t>(last)) return reader_.fail();
    value = static_cast<T>(read);
  }
  template <typename I>
  void id(I& value) {
    typename I::rep next = 0;
    number(next);
    value = I(static_cast<typename I::rep>(next - 1));
  }
  void text(std::string& text) {
    const ByteSpan bytes = reader_.bytes(reader_.varint());
    text.assign(bytes.begin(), bytes.end());
  }
  // Grows while elements are read: each has at least one byte in the file.
  template <typename T, typename Function>
  void each(std::vector<T>& all, Function function) {
    std::uint64_t count = reader_.varint();
    if (count > reader_.left()) return reader_.fail();
    for (all.clear(); count > 0 && !reader_.failed(); --count) function(*this, all.emplace_back());
  }
  bool is_whole() const noexcept { return !reader_.failed() && reader_.at_end(); }
  bool has_more() const noexcept { return !reader_.at_end(); }

 private:
  ByteReader reader_;
};

void pass_text(auto& stream, auto& text) { stream.text(text); }

void pass_clock(auto& stream, auto& clock) {
  stream.number(clock.ticks_per_second);
  stream.number(clock.begin);
  stream.number(clock.length);
  bool known = clock.realtime.has_value();
  std::uint64_t realtime = clock.realtime.value_or(0);
  stream.number(known);
  stream.number(realtime);
  if constexpr (std::remove_reference_t<decltype(stream)>::kReads) {
    if (known) clock.realtime = realtime;
  }
}

void pass_region(auto& stream, auto& region) {
  stream.text(region.name);
  stream.text(region.canonical_name);
  stream.text(region.file);
  stream.text(region.group);
  stream.number(region.first_line);
  stream.number(region.last_line);
  stream.choice(region.paradigm, Paradigm::kMemory);
  stream.choice(region.role, RegionRole::kReallocate);
}

void pass_group(auto& stream, auto& group) {
  stream.text(group.name);
  stream.text(group.hostname);
  stream.number(group.process_id);
  stream.text(group.executable);
  stream.each(group.arguments, [](auto& s, auto& one) { pass_text(s, one); });
  stream.id(group.creator);
  stream.text(group.ending);
  stream.text(group.alias);
}

void pass_metric(auto& stream, auto& metric) {
  stream.text(metric.name);
  stream.text(metric.unit);
  stream.text(metric.description);
  stream.choice(metric.type, MetricValueType::kDouble);
  stream.choice(metric.source, MetricSource::kOther);
  stream.choice(metric.mode, MetricMode::kAccumulatedStart);
  stream.number(metric.binary);
  // A file may contain any exponent; units have small ones.
  constexpr std::int32_t kMost = 1000;
  auto shifted = static_cast<std::uint32_t>(std::clamp(metric.exponent, -kMost, kMost) + kMost);
  stream.number(shifted);
  if constexpr (std::remove_reference_t<decltype(stream)>::kReads) {
    metric.exponent =
        std::min<std::int32_t>(static_cast<std::int32_t>(shifted & 0xffff), 2 * kMost) - kMost;
  }
  stream.text(metric.set);
}

void pass_communicator(auto& stream, auto& one) {
  stream.text(one.name);
  stream.id(one.parent);
  stream.number(one.self);
  stream.each(one.members, [](auto& s, auto& member) { s.id(member); });
  stream.number(one.identity);
}

void pass_location(auto& stream, auto& location) {
  stream.id(location.id);
  stream.text(location.name);
  stream.id(location.group);
  stream.choice(location.type, LocationType::kUnknown);
  stream.number(location.thread_id);
  stream.text(location.alias);
}

void pass_handle(auto& stream, auto& handle) {
  stream.text(handle.name);
  stream.text(handle.file);
  stream.choice(handle.paradigm, IoParadigm::kOther);
  stream.id(handle.parent);
  stream.number(handle.pre_created);
  stream.number(handle.access);
  stream.number(handle.status);
}

void pass_marker(auto& stream, auto& marker) {
  auto time = ticks(marker.time);
  stream.number(time);
  if constexpr (std::remove_reference_t<decltype(stream)>::kReads) marker.time = Timestamp{time};
  stream.id(marker.location);
  stream.text(marker.text);
}

void pass_parameter(auto& stream, auto& parameter) {
  stream.text(parameter.name);
  stream.choice(parameter.type, ParameterType::kString);
}

void pass_context(auto& stream, auto& context) {
  stream.text(context.name);
  stream.text(context.device);
  stream.id(context.process);
}

// Of runs with accelerators only.
void pass_accelerators(auto& stream, auto& all) {
  stream.each(all.contexts, [](auto& s, auto& one) { pass_context(s, one); });
  for (auto& location : all.locations) {
    stream.id(location.context);
    stream.id(location.feeder);
  }
}

void pass_definitions(auto& stream, auto& all) {
  pass_clock(stream, all.clock);
  stream.text(all.creator);
  stream.text(all.machine_name);
  stream.each(all.strings, [](auto& s, auto& one) { pass_text(s, one); });
  stream.each(all.regions, [](auto& s, auto& one) { pass_region(s, one); });
  stream.each(all.groups, [](auto& s, auto& one) { pass_group(s, one); });
  stream.each(all.parameters, [](auto& s, auto& one) { pass_parameter(s, one); });
  stream.each(all.metrics, [](auto& s, auto& one) { pass_metric(s, one); });
  stream.each(all.communicators, [](auto& s, auto& one) { pass_communicator(s, one); });
  stream.each(all.locations, [](auto& s, auto& one) { pass_location(s, one); });
  stream.each(all.io_handles, [](auto& s, auto& one) { pass_handle(s, one); });
  stream.each(all.markers, [](auto& s, auto& one) { pass_marker(s, one); });
}

void pass_end(auto& stream, auto& end) {
  pass_clock(stream, end.clock);
  std::vector<std::pair<std::string, std::string>> properties(end.properties.begin(),
                                                              end.properties.end());
  stream.each(properties, [](auto& s, auto& one) {
    s.text(one.first);
    s.text(one.second);
  });
  if constexpr (std::remove_reference_t<decltype(stream)>::kReads) {
    end.properties.insert(properties.begin(), properties.end());
  }
  stream.each(end.locations, [](auto& s, auto& one) {
    s.number(one.events);
    s.number(one.packed);
    s.number(one.blocks);
  });
}

template <typename I, typename T>
bool is_defined(I id, const std::vector<T>& table) {
  return !id.defined() || id.value() < table.size();
}

// Whether all references lead to something, and locations are in order.
bool is_consistent(const Definitions& all) {
  if (all.clock.ticks_per_second == 0) return false;
  const auto of_group = [&](const Location& one) {
    return one.id.defined() && one.group.value() < all.groups.size();
  };
  const auto of_accelerator = [&](const Location& one) {
    return is_defined(one.context, all.contexts);
  };
  return std::ranges::all_of(all.locations, of_group) &&
         std::ranges::all_of(all.locations, of_accelerator) &&
         std::ranges::all_of(all.contexts,
                             [&](auto& one) { return one.process.value() < all.groups.size(); }) &&
         std::ranges::adjacent_find(all.locations, std::ranges::greater_equal(), &Location::id) ==
             all.locations.end() &&
         std::ranges::all_of(all.groups,
                             [&](auto& one) { return is_defined(one.creator, all.groups); }) &&
         std::ranges::all_of(
             all.communicators,
             [&](auto& one) { return is_defined(one.parent, all.communicators); }) &&
         std::ranges::all_of(all.io_handles,
                             [&](auto& one) { return is_defined(one.parent, all.io_handles); });
}

}  // namespace

Bytes bytes_of(const Definitions& definitions) {
  DefinitionOutput output;
  pass_definitions(output, definitions);
  if (!definitions.contexts.empty()) pass_accelerators(output, definitions);
  return output.take();
}

bool read_definitions(ByteSpan bytes, Definitions& definitions) {
  DefinitionInput input(bytes);
  pass_definitions(input, definitions);
  if (input.has_more()) pass_accelerators(input, definitions);
  return input.is_whole() && is_consistent(definitions);
}

Bytes bytes_of(const OriginalFiles& files) {
  DefinitionOutput output;
  output.text(files.anchor);
  output.text(files.definitions);
  return output.take();
}

bool read_original(ByteSpan bytes, OriginalFiles& files) {
  DefinitionInput input(bytes);
  input.text(files.anchor);
  input.text(files.definitions);
  return input.is_whole();
}

Bytes bytes_of(const RunEnd& end) {
  DefinitionOutput output;
  pass_end(output, end);
  return output.take();
}

bool read_end(ByteSpan bytes, RunEnd& end) {
  DefinitionInput input(bytes);
  pass_end(input, end);
  return input.is_whole() && end.clock.ticks_per_second != 0;
}

}  // namespace timeloom::packed
