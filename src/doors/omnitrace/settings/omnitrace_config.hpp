// Configuration files of Omnitrace: lines KEY = VALUE, JSON, or XML (omnitrace_xml.hpp).
//
// Plain functions, for any thread. Throw Error with the file in the message.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace timeloom {

struct ConfigLine {
  std::string key;
  std::string value;
  std::string origin;  // "omnitrace.cfg:3"
};

using Lookup = std::function<std::string(std::string_view)>;  // empty: there is none

// The keys of a file in their order; its name shows which of these forms it has. `environment`
// gives the values that replace $env:NAME.
std::vector<ConfigLine> read_omnitrace_config(const std::string& path, const Lookup& environment);

// The same for a text. The origins begin with `name`.
std::vector<ConfigLine> parse_omnitrace_config(std::string_view text, const std::string& name,
                                               const Lookup& environment);
std::vector<ConfigLine> parse_omnitrace_json(std::string_view text, const std::string& name);

}  // namespace timeloom
