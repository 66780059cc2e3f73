// Files of rules. On its own because of the size of the TOML library.
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <array>
#include <fstream>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "tools/check/check_rule.hpp"

namespace timeloom::tools {

namespace {

constexpr char kShape[] = "; write rules = [\"visits(load) <= 3\", ...]";

// A larger file is none of rules, but a device or the data of something else.
constexpr std::size_t kLargest = 64 << 20;

std::string rules_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text;
  std::array<char, 1 << 16> piece;
  while (in && text.size() <= kLargest) {
    in.read(piece.data(), piece.size());
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (!in.is_open() || in.bad()) {
    throw Error("cannot read " + file.string() + "; name a TOML file with rules");
  }
  if (text.size() > kLargest) {
    throw Error("cannot read " + file.string() +
                ": it is larger than 64 MiB; name a TOML file with rules");
  }
  return text;
}

toml::table table_of(const std::filesystem::path& file) {
  const std::string text = rules_text(file);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw Error(file.string() + ", line " + std::to_string(error.source().begin.line) + ": " +
                std::string(error.description()));
  }
}

}  // namespace

std::vector<std::string> load_rules(const std::filesystem::path& file) {
  const toml::table table = table_of(file);
  for (const auto& [key, value] : table) {
    if (key.str() == "rules") continue;
    throw Error(file.string() + ": '" + std::string(key.str()) + "' is not known" + kShape);
  }
  const toml::array* const rules = table["rules"].as_array();
  if (rules == nullptr || rules->empty()) throw Error(file.string() + ": no rules in it" + kShape);
  std::vector<std::string> texts;
  for (const toml::node& rule : *rules) {
    const std::optional<std::string> text = rule.value_exact<std::string>();
    if (!text) throw Error(file.string() + ": a rule that is no string" + kShape);
    texts.push_back(*text);
  }
  return texts;
}

}  // namespace timeloom::tools
