#include "weave/samples/sample_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/known_directory.hpp"
#include "core/run_properties.hpp"
#include "core/samples/estimated_time.hpp"
#include "core/text/joined.hpp"
#include "os/process.hpp"
#include "symbols/generated_code.hpp"

namespace timeloom::weave {
namespace {

std::string formatted_place(const std::string& library, std::uint64_t address) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), address, 16).ptr;
  return library + "+0x" + std::string(digits.begin(), end);
}

run::SampleSums::FunctionOf functions_in(const Definitions& definitions) {
  return [&definitions](std::uint32_t id) -> std::optional<run::SampledFunction> {
    if (id >= definitions.regions.size()) return std::nullopt;
    const Region& region = definitions.regions[id];
    return run::SampledFunction{region.name, region.file, region.first_line};
  };
}

}  // namespace

// Finds the functions of the addresses of one process.
class SampleTable::Resolver {
 public:
  Resolver(SampleTable& table, const spool::ProcessDefinitions& process, symbols::CodeNames& names)
      : table_(table), process_(process), names_(names), mappings_(process.mappings) {
    std::ranges::stable_sort(mappings_, {}, &ObjectMapping::ticks);
  }

  std::uint32_t code(const spool::Sample& sample) {
    const auto known = known_.find(sample.address);
    if (known != known_.end()) return known->second;
    bool only_one = true;
    const ObjectMapping* const mapping = mapping_at(sample, only_one);
    const std::uint32_t found = table_.code_id(code_in(mapping, sample.address));
    if (only_one) known_.emplace(sample.address, found);
    return found;
  }

 private:
  // The last one that was seen before the sample, else the first one after it: objects are looked
  // for from time to time.
  const ObjectMapping* mapping_at(const spool::Sample& sample, bool& only_one) const {
    const ObjectMapping* found = nullptr;
    for (const ObjectMapping& mapping : mappings_) {
      if (sample.address < mapping.begin || sample.address - mapping.begin >= mapping.size)
        continue;
      only_one = only_one && found == nullptr;
      if (found == nullptr || mapping.ticks <= sample.ticks) found = &mapping;
    }
    return found;
  }

  Code code_in(const ObjectMapping* mapping, std::uint64_t address) {
    if (mapping == nullptr) return {{}, std::string(generated().name_at(address))};
    const auto object = process_.objects.find(mapping->object);
    if (object == process_.objects.end()) return {};
    const std::string library(file_name(object->second));
    return {library, function_in(object->second, library, address - mapping->bias)};
  }

  // `library+0x1234`, the start of the function, where it has no name. Where the file was
  // removed or replaced, it is the start of a piece of the code.
  std::string function_in(const CodeObject& object, const std::string& library,
                          std::uint64_t address) {
    auto name = names_.find(object, address, symbols::CodeNames::Line::kNone);
    if (name) return std::move(name->name);
    const auto start = names_.start_of_function(object, address);
    if (start) return formatted_place(library, *start);
    if (!object.path.starts_with('/') || names_.has_file(object)) return {};
    constexpr std::uint64_t kPiece = 256;
    table_.unfound_.insert(library);
    return formatted_place(library, address - address % kPiece);
  }

  // Read when the first sample lies in no file.
  const symbols::GeneratedCode& generated() {
    if (generated_) return *generated_;
    symbols::GeneratedCode::Life life{};
    if (const auto& syncs = process_.clock_syncs; !syncs.empty()) {
      life = {syncs.front().realtime_ns, process_.ended ? syncs.back().realtime_ns : 0};
    }
    const bool here = process_.process.hostname == os::hostname();
    generated_ = here ? symbols::GeneratedCode::of_process(process_.process.process_id, life)
                      : symbols::GeneratedCode();
    if (!generated_->refusal().empty()) table_.refused_names_ = generated_->refusal();
    return *generated_;
  }

  SampleTable& table_;
  const spool::ProcessDefinitions& process_;
  symbols::CodeNames& names_;
  std::vector<ObjectMapping> mappings_;
  std::optional<symbols::GeneratedCode> generated_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  // addresses that one object had
};

// Follows the stacks of one thread after the other; their numbers are numbers of the file.
class SampleTable::StackNumbers {
 public:
  StackNumbers(SampleTable& table, const spool::SampleData& data, const ProcessIds& ids)
      : table_(table), data_(data), ids_(ids) {}

  std::uint32_t stack(const spool::ThreadSample& sample) {
    if (sample.location != std::exchange(location_, sample.location)) numbers_.clear();
    if (!sample.has_stack) return sample_file::kNone;
    numbers_.resize(std::min<std::size_t>(numbers_.size(), sample.shared));
    for (std::uint32_t i = 0; i < sample.count; ++i) push(data_.frames[sample.first + i]);
    return innermost();
  }

 private:
  std::uint32_t innermost() const {
    return numbers_.empty() ? sample_file::kNone : numbers_.back();
  }

  // A region without a definition is left out.
  void push(std::uint32_t frame) {
    const std::uint32_t region = ids_.regions[frame & ~kUnrecordedFrame];
    if (region == IdMap::kNone) return numbers_.push_back(innermost());
    table_.regions_.insert(region);
    numbers_.push_back(table_.file_.stack(innermost(), region, (frame & kUnrecordedFrame) != 0));
  }

  SampleTable& table_;
  const spool::SampleData& data_;
  const ProcessIds& ids_;
  std::uint32_t location_ = UINT32_MAX;
  std::vector<std::uint32_t> numbers_;  // of the frames, the outermost first
};

std::uint32_t SampleTable::code_id(Code code) {
  const auto next = static_cast<std::uint32_t>(codes_.size());
  const auto [known, is_new] = code_ids_.try_emplace(std::move(code), next);
  if (is_new) codes_.push_back({known->first.library, known->first.symbol});
  return known->second;
}

void SampleTable::add(const spool::SampleData& data, const spool::ProcessDefinitions& process,
                      const ProcessIds& ids, symbols::CodeNames& names, const Places& places) {
  if (data.period_ns == 0) return;
  periods_.insert(data.period_ns);
  threads_ += data.threads;
  timers_ += data.timers;
  user_events_ += data.user_events;
  unsampled_ns_ += data.unsampled_ns;
  cut_ += data.cut;
  if (failure_ == 0) failure_ = data.failure;
  lost_ += data.lost;
  samples_ += data.samples.size();
  Resolver resolver(*this, process, names);
  StackNumbers stacks(*this, data, ids);
  for (const spool::ThreadSample& sample : data.samples) {
    sample_file::Sample single{places.since_begin(sample.ticks), sample.weight_ns};
    if (process.regions.contains(sample.region)) single.region = ids.regions[sample.region];
    single.code = resolver.code(sample);
    single.line = sample.line;
    if (places.with_stacks) single.stack = stacks.stack(sample);
    if (single.region != sample_file::kNone) regions_.insert(single.region);
    sums_.add(single.region, single.code, single.line, single.weight_ns);
    file_.add(places.location_of(sample.location), single);
  }
}

std::vector<run::SampleRow> SampleTable::rows(const Definitions& definitions) const {
  return sums_.rows(functions_in(definitions), [this](std::uint32_t code) {
    return run::SampledCode{codes_[code].library, codes_[code].symbol};
  });
}

std::vector<run::LineRow> SampleTable::lines(const Definitions& definitions) const {
  return sums_.lines(functions_in(definitions));
}

std::string SampleTable::take_file(const Definitions& definitions) {
  const auto function_of = functions_in(definitions);
  std::vector<sample_file::Function> functions;
  for (const std::uint32_t region : regions_) {
    auto function = function_of(region).value_or(run::SampledFunction());
    functions.push_back(
        {region, std::move(function.name), std::move(function.file), function.line});
  }
  return file_.take(functions, codes_);
}

void SampleTable::describe(std::map<std::string, std::string>& properties) const {
  if (periods_.empty()) return;
  properties[kSampleCount] = std::to_string(samples_);
  properties[kSamplePeriod] = std::to_string(*periods_.begin());
  properties[kSampleThreads] = std::to_string(threads_);
  properties[kSampleTimers] = std::to_string(timers_);
  if (user_events_ != 0) properties[kSampleUserEvents] = std::to_string(user_events_);
  if (unsampled_ns_ != 0) properties[kUnsampledTime] = std::to_string(unsampled_ns_);
  if (cut_ != 0) properties[kCutStacks] = std::to_string(cut_);
  if (failure_ != 0) properties[kSampleFailure] = reason_of(failure_);
  if (lost_ != 0) properties[kSamplesLost] = std::to_string(lost_);
  if (!refused_names_.empty()) properties[kRefusedNames] = refused_names_;
  if (!unfound_.empty()) {
    constexpr std::size_t kMostNamed = 5;
    std::vector<std::string> names(unfound_.begin(), unfound_.end());
    if (names.size() > kMostNamed) {
      names[kMostNamed - 1] = std::to_string(names.size() - kMostNamed + 1) + " others";
      names.resize(kMostNamed);
    }
    properties[kUnfoundLibraries] = joined(names, ", ");
  }
}

}  // namespace timeloom::weave
