#include "doors/omnitrace/tools/omnitrace_metadata.hpp"

#include <array>
#include <ctime>
#include <set>

#include "doors/omnitrace/format/json_report.hpp"
#include "tools/run/json_text.hpp"

namespace timeloom::tools {

namespace {

using nlohmann::ordered_json;

std::string launched(const Definitions& definitions, const char* format) {
  const auto seconds =
      static_cast<std::time_t>(definitions.clock.realtime.value_or(0) / 1'000'000'000);
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &local)};
}

ordered_json info_of(const Definitions& definitions) {
  ordered_json info;
  const RunFacts facts = facts_of(definitions);
  info["HOSTNAME"] = facts.host;
  info["LAUNCH_DATE"] = launched(definitions, "%F");
  info["LAUNCH_TIME"] = launched(definitions, "%H:%M");
  info["COMMAND"] = facts.program;
  info["WRITTEN_BY"] = definitions.creator;
  return info;
}

std::string_view type_of(OmnitraceType type) {
  switch (type) {
    case OmnitraceType::kBool: return "bool";
    case OmnitraceType::kNumber: return "int";
    case OmnitraceType::kReal: return "double";
    case OmnitraceType::kString: return "string";
  }
  return "";
}

ordered_json settings_of(const OmnitraceSettings& settings) {
  ordered_json all = ordered_json::object();
  for (const OmnitraceVariable& variable : all_omnitrace_variables()) {
    ordered_json& one = all[std::string(variable.name)];
    one["name"] = variable.name;
    one["environ"] = variable.name;
    one["description"] = variable.meaning;
    one["data_type"] = type_of(variable.type);
    one["initial"] = variable.default_value;
    one["value"] = settings.text(variable.name);
  }
  return all;
}

}  // namespace

std::string omnitrace_metadata(const OmnitraceSettings& settings, const WrittenFiles& files,
                               const Definitions& definitions) {
  ordered_json output = ordered_json::object();
  for (const auto& [kind, of_kind] : files) {
    for (const auto& [key, file] : of_kind) {
      output[kind].push_back({{"key", key}, {"value", ordered_json::array({file})}});
    }
  }
  ordered_json metadata;
  metadata["info"] = info_of(definitions);
  metadata["output"] = std::move(output);
  metadata["settings"] = settings_of(settings);
  ordered_json all;
  all["omnitrace"]["metadata"] = std::move(metadata);
  return json_text(all) + "\n";
}

std::string omnitrace_functions(const omnitrace::Calls& calls, const omnitrace::Rows& rows) {
  std::map<std::string, std::set<std::uint64_t>> hashes;
  for (const omnitrace::Row& row : rows.rows) {
    const std::string& label = calls.labels[row.label];
    hashes[label].insert(omnitrace::hash_of(label) ^ row.depth);
  }
  ordered_json functions = ordered_json::object();
  for (const auto& [label, of_label] : hashes) functions[label] = of_label;
  ordered_json all;
  all["omnitrace"]["functions"] = std::move(functions);
  return json_text(all) + "\n";
}

}  // namespace timeloom::tools
