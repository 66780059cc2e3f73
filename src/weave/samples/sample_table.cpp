#include "weave/samples/sample_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "core/run_properties.hpp"

namespace timeloom::weave {
namespace {

std::string formatted_place(const std::string& library, std::uint64_t address) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), address, 16).ptr;
  return library + "+0x" + std::string(digits.begin(), end);
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
    if (mapping == nullptr) return {};
    const auto object = process_.objects.find(mapping->object);
    if (object == process_.objects.end()) return {};
    const std::string library(file_name(object->second));
    return {library, function_in(object->second, library, address - mapping->bias)};
  }

  // `library+0x1234`, the start of the function, where it has no name.
  std::string function_in(const CodeObject& object, const std::string& library,
                          std::uint64_t address) {
    auto name = names_.find(object, address, symbols::CodeNames::Line::kNone);
    if (name) return std::move(name->name);
    const auto start = names_.start_of_function(object, address);
    return start ? formatted_place(library, *start) : std::string();
  }

  SampleTable& table_;
  const spool::ProcessDefinitions& process_;
  symbols::CodeNames& names_;
  std::vector<ObjectMapping> mappings_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  // addresses that one object had
};

std::uint32_t SampleTable::code_id(Code code) {
  const auto next = static_cast<std::uint32_t>(codes_.size());
  const auto [known, is_new] = code_ids_.try_emplace(std::move(code), next);
  if (is_new) codes_.push_back(known->first);
  return known->second;
}

void SampleTable::add(const spool::SampleData& data, const spool::ProcessDefinitions& process,
                      const ProcessIds& ids, symbols::CodeNames& names) {
  if (data.period_ns == 0) return;
  periods_.insert(data.period_ns);
  threads_ += data.threads;
  timers_ += data.timers;
  lost_ += data.lost;
  samples_ += data.samples.size();
  Resolver resolver(*this, process, names);
  for (const spool::ThreadSample& sample : data.samples) {
    const bool known = process.regions.contains(sample.region);
    const std::uint32_t region = known ? ids.regions[sample.region] : IdMap::kNone;
    Sum& sum = sums_[{region, resolver.code(sample)}];
    ++sum.samples;
    sum.ns += sample.weight_ns;
    if (!known) continue;
    Sum& of_line = lines_[{region, sample.line}];
    ++of_line.samples;
    of_line.ns += sample.weight_ns;
  }
}

std::vector<run::SampleRow> SampleTable::rows(const Definitions& definitions) const {
  std::vector<run::SampleRow> rows;
  for (const auto& [key, sum] : sums_) {
    run::SampleRow row;
    if (key.region < definitions.regions.size()) {
      const Region& region = definitions.regions[key.region];
      row.function = region.name;
      row.file = region.file;
      row.line = region.first_line;
    }
    row.library = codes_[key.code].library;
    row.symbol = codes_[key.code].symbol;
    row.samples = sum.samples;
    row.ns = sum.ns;
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &run::SampleRow::ns);
  return rows;
}

std::vector<run::LineRow> SampleTable::lines(const Definitions& definitions) const {
  // In the order of the file. Regions of one function may differ in what its rows do not have.
  using FunctionKey = std::tuple<std::string_view, std::uint32_t, std::string_view>;
  std::map<FunctionKey, std::map<std::uint32_t, Sum>> functions;
  for (const auto& [of, sum] : lines_) {
    const auto [id, line] = of;
    if (id >= definitions.regions.size()) continue;
    const Region& region = definitions.regions[id];
    Sum& all = functions[{region.file, region.first_line, region.name}][line];
    all.samples += sum.samples;
    all.ns += sum.ns;
  }
  std::vector<run::LineRow> rows;
  for (const auto& [function, lines] : functions) {
    if (lines.rbegin()->first == 0) continue;  // no line is known
    const auto& [file, first_line, name] = function;
    for (const auto& [line, sum] : lines) {
      rows.push_back({std::string(name), std::string(file), first_line, line, sum.samples, sum.ns});
    }
  }
  return rows;
}

void SampleTable::describe(std::map<std::string, std::string>& properties) const {
  if (periods_.empty()) return;
  properties[kSampleCount] = std::to_string(samples_);
  properties[kSamplePeriod] = std::to_string(*periods_.begin());
  properties[kSampleThreads] = std::to_string(threads_);
  properties[kSampleTimers] = std::to_string(timers_);
  if (lost_ != 0) properties[kSamplesLost] = std::to_string(lost_);
}

}  // namespace timeloom::weave
