// The regions of a run by the numbers that they have in its file of samples. Readers may number
// them anew.
//
// A constant value, which refers to its arguments. Throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>

#include "core/definitions.hpp"
#include "formats/sample_file/sample_file_reader.hpp"

namespace timeloom::tools {

class RegionsOfFile {
 public:
  RegionsOfFile(const sample_file::Reader& file, const Definitions& definitions)
      : file_(file), definitions_(definitions) {
    for (std::uint32_t i = 0; i < definitions.regions.size(); ++i) {
      by_function_.try_emplace(key_of(definitions.regions[i]), RegionId{i});
    }
  }
  // Undefined: the run has no such region.
  RegionId operator()(std::uint32_t number) const {
    const sample_file::Function& function = *file_.function(number);
    const FunctionKey key(function.name, function.file, function.line);
    const bool same =
        number < definitions_.regions.size() && key_of(definitions_.regions[number]) == key;
    if (same) return RegionId{number};
    const auto found = by_function_.find(key);
    return found == by_function_.end() ? RegionId{} : found->second;
  }

 private:
  using FunctionKey = std::tuple<std::string_view, std::string_view, std::uint32_t>;
  static FunctionKey key_of(const Region& region) {
    return {region.name, region.file, region.first_line};
  }
  const sample_file::Reader& file_;
  const Definitions& definitions_;
  std::map<FunctionKey, RegionId> by_function_;
};

}  // namespace timeloom::tools
