#include "doors/omnitrace/settings/omnitrace_config.hpp"

#include <cctype>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "doors/omnitrace/settings/omnitrace_xml.hpp"
#include "os/read_file.hpp"
#include "settings/setting_words.hpp"

namespace timeloom {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kLongestFile = 16 << 20;
constexpr std::size_t kLongestValue = 1 << 20;  // $A = $A$A doubles it with each line
constexpr std::size_t kDeepestValue = 100;      // objects and lists inside of each other

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view name_at(std::string_view text, std::size_t place) {
  std::size_t end = place;
  while (end < text.size() && is_name(text[end])) ++end;
  return text.substr(place, end - place);
}

// Puts in what stands for $env:NAME, $NAME and ${NAME}; others stay, such as $env{NAME}, which is a
// key of names of files.
std::string expanded(std::string_view text, const std::map<std::string, std::string>& own,
                     const Lookup& environment, const std::string& origin) {
  constexpr std::string_view kEnvironment = "$env:";
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (result.size() > kLongestValue) throw Error(origin + ": the value is too long [TL711]");
    if (text.substr(i).starts_with(kEnvironment)) {
      const std::string_view name = name_at(text, i + kEnvironment.size());
      result += environment(name);
      i += kEnvironment.size() + name.size();
      continue;
    }
    const bool braces = text.substr(i).starts_with("${");
    const std::string_view name = name_at(text, i + (braces ? 2 : 1));
    const auto found = text[i] == '$' ? own.find(std::string(name)) : own.end();
    if (found != own.end()) {
      result += found->second;
      i += name.size() + (braces ? 3 : 1);
      continue;
    }
    result += text[i++];
  }
  return result;
}

// Throws Error where the stack of a thread might not be enough.
void check_depth(std::size_t depth, const std::string& origin) {
  if (depth > kDeepestValue) throw Error(origin + ": too many values inside of each other [TL711]");
}

std::string scalar(const ordered_json& value, const std::string& origin, std::size_t depth) {
  check_depth(depth, origin);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number()) return value.dump();
  if (value.is_null()) return {};
  if (value.is_array()) {
    std::string text;
    for (const ordered_json& one : value)
      text += (text.empty() ? "" : ",") + scalar(one, origin, depth + 1);
    return text;
  }
  throw Error(origin + ": a value is to be a word, a number or a list of them [TL711]");
}

bool is_variable(std::string_view key) {
  return key.starts_with("OMNITRACE_") || key.starts_with("ROCPROFSYS_");
}

// Settings lie at any depth: { "omnitrace": { "settings": { "OMNITRACE_TRACE": ... }}}.
void collect(const ordered_json& object, const std::string& name, std::vector<ConfigLine>& lines,
             std::size_t depth = 0) {
  check_depth(depth, name);
  for (const auto& [key, value] : object.items()) {
    const std::string origin = name + ": " + key;
    if (is_variable(key)) {
      const bool described = value.is_object() && value.contains("value");
      lines.push_back({key, scalar(described ? value["value"] : value, origin, depth), origin});
    } else if (value.is_object()) {
      collect(value, name, lines, depth + 1);
    } else {
      lines.push_back({key, scalar(value, origin, depth), origin});
    }
  }
}

}  // namespace

std::vector<ConfigLine> parse_omnitrace_config(std::string_view text, const std::string& name,
                                               const Lookup& environment) {
  std::vector<ConfigLine> lines;
  std::map<std::string, std::string> own;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = trimmed(line.substr(0, std::min(line.find('#'), line.size())));
    if (line.empty()) continue;
    const std::string origin = name + ":" + std::to_string(number);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      throw Error(origin + ": '" + std::string(line) + "' is not a line KEY = VALUE [TL711]");
    }
    const std::string key(trimmed(line.substr(0, equals)));
    const std::string value = expanded(trimmed(line.substr(equals + 1)), own, environment, origin);
    if (key.starts_with('$')) {
      own[key.substr(1)] = value;
    } else {
      lines.push_back({key, value, origin});
    }
  }
  return lines;
}

std::vector<ConfigLine> parse_omnitrace_json(std::string_view text, const std::string& name) {
  std::vector<ConfigLine> lines;
  try {
    const ordered_json json = ordered_json::parse(text);
    if (!json.is_object()) throw Error(name + ": no object of settings [TL711]");
    collect(json, name, lines);
  } catch (const ordered_json::exception& error) {
    throw Error(name + " cannot be read as JSON: " + error.what() + " [TL711]");
  }
  return lines;
}

std::vector<ConfigLine> read_omnitrace_config(const std::string& path, const Lookup& environment) {
  int failed = 0;
  const std::string text = os::read_file(path, kLongestFile + 1, &failed);
  if (failed != 0) throw Error("cannot read the configuration file " + path + " [TL712]");
  if (text.size() > kLongestFile)
    throw Error("the configuration file " + path + " is too large [TL712]");
  const std::size_t dot = path.rfind('.');
  const std::string extension = dot == std::string::npos ? "" : lower(path.substr(dot));
  if (extension == ".json") return parse_omnitrace_json(text, path);
  if (extension == ".xml") return parse_omnitrace_xml(text, path);
  return parse_omnitrace_config(text, path, environment);
}

}  // namespace timeloom
