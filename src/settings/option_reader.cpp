#include "settings/option_reader.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "settings/setting_words.hpp"
#include "settings/settings.hpp"

namespace timeloom {
namespace {

bool is_long(std::string_view name) { return name.starts_with("--"); }

bool accepts(const Option& option, const std::string& value) {
  return std::ranges::find(option.accepted, lower(value)) != option.accepted.end();
}

}  // namespace

std::optional<OptionWords> OptionReader::next() {
  if (!pending_.empty()) {
    OptionWords found = read_word(std::exchange(pending_, {}));
    found.opens_word = false;
    return found;
  }
  if (words_.empty()) return {};
  const std::string& word = words_.front();
  if (!word.starts_with('-') || word == "-" || word == "--") return {};
  words_ = words_.subspan(1);
  return read_word(word);
}

OptionWords OptionReader::read_word(const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  const std::string* const written = equals == std::string::npos ? nullptr : &value;
  if (const Option* const option = find(name)) return taken(*option, name, written);
  if (!is_long(name)) return read_short(word);
  const Option& option = find_shortened(name);
  return taken(option, option.name(), written);
}

// The longest name that the word begins with; what follows is its value, or further options.
OptionWords OptionReader::read_short(const std::string& word) {
  std::size_t size = word.size();
  while (size > 1 && find(word.substr(0, size)) == nullptr) --size;
  const std::string name = word.substr(0, std::max<std::size_t>(size, 2));
  const Option* const option = find(name);
  if (option == nullptr) refuse(name);
  const std::string rest = word.substr(name.size());
  if (option->most == 0) {
    if (rest.starts_with('-')) refuse(word);
    pending_ = "-" + rest;
    return taken(*option, name, nullptr);
  }
  OptionWords found = taken(*option, name, &rest);
  found.attached = true;
  return found;
}

const Option* OptionReader::find(std::string_view name) const {
  for (const OptionTable* table : grammar_.tables) {
    for (const Option& option : *table) {
      if (std::ranges::find(option.names, name) != option.names.end()) return &option;
    }
  }
  return nullptr;
}

const Option& OptionReader::find_shortened(const std::string& name) const {
  std::vector<const Option*> found;
  for (const OptionTable* table : grammar_.tables) {
    for (const Option& option : *table) {
      if (option.name().starts_with(name)) found.push_back(&option);
    }
  }
  if (!grammar_.shortened || found.empty()) refuse(name);
  if (found.size() == 1) return *found.front();
  std::vector<std::string_view> names;
  for (const Option* option : found) names.push_back(option->name());
  throw Error(name + " may be " + joined(names) + "; write one of them [TL105]");
}

OptionWords OptionReader::taken(const Option& option, const std::string& name,
                                const std::string* value) {
  OptionWords words{&option, name, {}};
  if (value == nullptr) {
    take_values(words);
  } else if (option.most == 0) {
    throw Error(name + " takes no value [TL106]");
  } else if (!option.accepted.empty() && !accepts(option, *value)) {
    throw Error(name + ": '" + *value + "' is not accepted; write " + option.wanted + " [TL101]");
  } else {
    words.values = {*value};
  }
  return words;
}

// Takes values from the words that follow.
void OptionReader::take_values(OptionWords& words) {
  const Option& option = *words.option;
  while (words.values.size() < option.most && !option.joined && !words_.empty()) {
    const bool must = words.values.size() < option.least && words_.front() != "--";
    if (!must && !may_take(option)) break;
    words.values.push_back(words_.front());
    words_ = words_.subspan(1);
  }
  if (words.values.size() < option.least) {
    throw Error(words.name + " needs a value: " + option.wanted + " [TL108]");
  }
}

bool OptionReader::may_take(const Option& option) const {
  const std::string& word = words_.front();
  return option.accepted.empty() ? !word.starts_with('-') : accepts(option, word);
}

void OptionReader::refuse(const std::string& name) const {
  const std::string unknown = "unknown option " + name + "; ";
  const std::string positive = name.starts_with("--no-") ? "--" + name.substr(5) : "";
  if (find(positive) != nullptr)
    throw Error(unknown + positive + " is not a switch, leave it out [TL109]");
  std::vector<std::string_view> known;
  for (const OptionTable* table : grammar_.tables) {
    for (const Option& option : *table) {
      if (is_long(option.name())) known.push_back(std::string_view(option.name()).substr(2));
    }
  }
  const std::string_view nearest =
      is_long(name) ? nearest_name(std::string_view(name).substr(2), known) : std::string_view();
  throw Error(
      unknown +
      (nearest.empty() ? "see " + grammar_.help : "did you mean --" + std::string(nearest) + "?") +
      " [TL109]");
}

}  // namespace timeloom
