#include "run/sample_sums.hpp"

#include <algorithm>
#include <tuple>

namespace timeloom::run {

void SampleSums::add(std::uint32_t function, std::uint32_t code, std::uint32_t line,
                     std::uint64_t ns) {
  codes_[{function, code}].add({1, ns});
  if (function != kNoFunction) lines_[{function, line}].add({1, ns});
}

std::vector<SampleRow> SampleSums::rows(const FunctionOf& function_of,
                                        const CodeOf& code_of) const {
  std::vector<SampleRow> rows;
  for (const auto& [key, sum] : codes_) {
    const SampledFunction function = function_of(key.first).value_or(SampledFunction());
    const SampledCode code = code_of(key.second);
    rows.push_back({function.name, function.file, function.line, code.library, code.symbol,
                    sum.samples, sum.ns});
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &SampleRow::ns);
  return rows;
}

std::vector<LineRow> SampleSums::lines(const FunctionOf& function_of) const {
  // Numbers of one function may differ in what its rows do not have.
  using FunctionKey = std::tuple<std::string, std::uint32_t, std::string>;
  std::map<FunctionKey, std::map<std::uint32_t, Sum>> functions;
  for (const auto& [of, sum] : lines_) {
    const std::optional<SampledFunction> function = function_of(of.first);
    if (!function) continue;
    functions[{function->file, function->line, function->name}][of.second].add(sum);
  }
  std::vector<LineRow> rows;
  for (const auto& [function, lines] : functions) {
    if (lines.rbegin()->first == 0) continue;  // no line is known
    const auto& [file, first_line, name] = function;
    for (const auto& [line, sum] : lines) {
      rows.push_back({name, file, first_line, line, sum.samples, sum.ns});
    }
  }
  return rows;
}

}  // namespace timeloom::run
