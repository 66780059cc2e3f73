#include "doors/omnitrace/settings/omnitrace_names.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "core/error.hpp"
#include "os/resolved_path.hpp"
#include "settings/launched_rank.hpp"

namespace timeloom {
namespace fs = std::filesystem;
namespace {

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

// A part of a name: no slash, no control character, and no directory of the system.
std::string harmless(std::string text) {
  for (char& byte : text) {
    if (byte == '/' || static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) byte = '_';
  }
  return text == "." || text == ".." ? "_" : text;
}

std::string time_text(std::time_t time, const std::string& format) {
  std::tm local{};
  localtime_r(&time, &local);
  std::array<char, 512> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format.c_str(), &local)};
}

std::string tag_of(const std::string& command) {
  std::string name = fs::path(command).filename().string();
  if (name.ends_with(".py") && name.size() > 3) name.resize(name.size() - 3);
  return name;
}

std::string joined_words(const std::vector<std::string>& words, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < words.size(); ++i) text += (i > from ? "_" : "") + words[i];
  return text;
}

class Keys {
 public:
  Keys(const OmnitraceSettings& omnitrace, const OmnitraceFacts& facts)
      : omnitrace_(omnitrace), facts_(facts) {}

  // The value of the text between the percent signs; none: it is not a key.
  std::optional<std::string> of(std::string_view key) const {
    constexpr std::string_view kHash = "_hash";
    if (key.ends_with(kHash)) {
      const auto text = of_command(key.substr(0, key.size() - kHash.size()));
      return text ? std::optional(md5(*text)) : std::nullopt;
    }
    if (const auto text = of_command(key)) return text;
    if (const auto text = of_system(key)) return text;
    return of_braces(key);
  }

  // %m and its like, which need no second sign; none: it is not a key.
  std::optional<std::string> of_letter(char letter) const {
    switch (letter) {
      case 'm': return of("argt_hash");
      case 'p': return of("pid");
      case 'j': return of("job");
      case 'r': return of("rank");
      case 's': return of("size");
      default: return std::nullopt;
    }
  }

  // env{NAME} and cfg{NAME}.
  std::optional<std::string> of_braces(std::string_view key) const {
    if (key.size() < 6 || key[3] != '{' || key.back() != '}') return std::nullopt;
    const std::string_view name = key.substr(4, key.size() - 5);
    if (key.starts_with("env")) return facts_.variable(name);
    if (!key.starts_with("cfg")) return std::nullopt;
    const OmnitraceVariable* variable = find_omnitrace_variable(name);
    if (variable == nullptr) variable = find_omnitrace_variable("OMNITRACE_" + std::string(name));
    return variable == nullptr ? std::string() : omnitrace_.text(variable->name);
  }

 private:
  std::optional<std::string> of_command(std::string_view key) const {
    const std::vector<std::string>& words = facts_.command;
    const std::string tag = words.empty() ? "python" : tag_of(words[0]);
    if (key == "tag") return tag;
    if (key == "argv") return joined_words(words, 0);
    if (key == "args") return joined_words(words, 1);
    if (key == "argt") {
      const std::string rest = joined_words(words, 1);
      return rest.empty() ? tag : tag + "_" + rest;
    }
    if (!key.starts_with("arg")) return std::nullopt;
    const auto place = number_in(key.substr(3));
    if (!place) return std::nullopt;
    return *place < words.size() ? words[*place] : std::string();
  }

  std::optional<std::string> of_system(std::string_view key) const {
    const auto number = [](std::uint64_t value) { return std::to_string(value); };
    if (key == "pid") return number(facts_.process);
    if (key == "ppid") return number(facts_.parent);
    if (key == "pgid") return number(facts_.group);
    if (key == "psid") return number(facts_.session);
    if (key == "psize" || key == "size") return number(facts_.ranks);
    if (key == "job") return number(number_in(facts_.variable("SLURM_JOB_ID")).value_or(0));
    if (key == "rank") return number(facts_.rank.value_or(0));
    if (key == "nid") return number(facts_.rank.value_or(facts_.process));
    if (key == "launch_time") {
      return time_text(facts_.launch, omnitrace_.text("OMNITRACE_TIME_FORMAT"));
    }
    return std::nullopt;
  }

  const OmnitraceSettings& omnitrace_;
  const OmnitraceFacts& facts_;
};

// A relative path that stays below where it starts.
std::string staying(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    const bool folder = end < path.size();
    path.remove_prefix(std::min(end + 1, path.size()));
    if (folder && (part.empty() || part == ".")) continue;
    result += folder && part == ".." ? "_" : part;
    if (folder) result += '/';
  }
  return result;
}

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Why nothing can be written there; empty: it can. `place`: the directory that was made.
std::string make_directories(const fs::path& directory, const std::string& prefix,
                             os::ResolvedPath& place) {
  place = os::make_directories(directory.empty() ? "." : directory.string());
  if (!place.link.empty()) return place.link + " is a link of another user";
  int error = 0;
  const os::Directory made = place.open_unlisted(&error);
  if (error == 0 && ::faccessat(made.fd(), ".", W_OK | X_OK, 0) != 0) error = errno;
  if (error != 0) return std::strerror(error);
  const os::ResolvedPath below =
      os::make_directories((directory / (prefix + "x")).parent_path().string());
  if (!below.link.empty()) return below.link + " is a link of another user";
  return below.error != 0 ? std::strerror(below.error) : std::string();
}

// A message about the users besides this one who may change the files; empty: there are none.
std::string others_in(const OmnitracePlace& place, const os::ResolvedPath& made) {
  int error = 0;
  const os::Directory directory = made.open_unlisted(&error);
  if (error != 0 || !directory.is_of_another_user()) return {};
  return place.directory + " belongs to user " + std::to_string(directory.owner(&error)) +
         ", who can change the files [TL722]";
}

}  // namespace

std::string with_keys(std::string_view text, const OmnitraceSettings& omnitrace,
                      const OmnitraceFacts& facts) {
  const Keys keys(omnitrace, facts);
  std::string result;
  while (!text.empty()) {
    const bool percent = text.front() == '%';
    const std::size_t end = text.find(percent ? '%' : '}', 1);
    if ((percent || text.front() == '$') && end != std::string_view::npos) {
      const std::string_view inner = text.substr(1, end - (percent ? 1 : 0));
      if (const auto value = percent ? keys.of(inner) : keys.of_braces(inner)) {
        result += harmless(*value);
        text.remove_prefix(end + 1);
        continue;
      }
    }
    if (percent && text.size() > 1) {
      const auto value = keys.of_letter(text[1]);
      if (value) {
        result += harmless(*value);
        text.remove_prefix(2);
        continue;
      }
    }
    result += text.front();
    text.remove_prefix(1);
  }
  return result;
}

OmnitraceFacts facts_of_this_process(std::vector<std::string> command,
                                     const char* const* environment) {
  OmnitraceFacts facts;
  facts.command = std::move(command);
  facts.process = static_cast<std::uint64_t>(::getpid());
  facts.parent = static_cast<std::uint64_t>(::getppid());
  facts.group = static_cast<std::uint64_t>(::getpgrp());
  facts.session = static_cast<std::uint64_t>(::getsid(0));
  facts.launch = std::time(nullptr);
  facts.variable = variables_of(environment);
  if (const auto launched = launched_rank(facts.variable)) {
    facts.rank = launched->rank;
    facts.ranks = std::max<std::uint64_t>(launched->size, 1);
  }
  return facts;
}

OmnitracePlace place_of(const OmnitraceSettings& omnitrace, const OmnitraceFacts& facts) {
  OmnitracePlace place;
  place.directory = with_keys(omnitrace.text("OMNITRACE_OUTPUT_PATH"), omnitrace, facts);
  if (place.directory.empty()) place.directory = ".";
  if (omnitrace.flag("OMNITRACE_TIME_OUTPUT")) {
    const std::string time =
        harmless(time_text(facts.launch, omnitrace.text("OMNITRACE_TIME_FORMAT")));
    if (!time.empty()) place.directory += "/" + time;
  }
  const std::string prefix = omnitrace.text("OMNITRACE_OUTPUT_PREFIX");
  place.prefix = staying(with_keys(prefix, omnitrace, facts));
  if (!prefix.empty() && is_alphanumeric(prefix.back())) place.prefix += "-";
  if (facts.rank) {
    place.suffix = "-" + std::to_string(*facts.rank);
  } else if (omnitrace.flag("OMNITRACE_USE_PID")) {
    place.suffix = "-" + std::to_string(facts.process);
  }
  place.perfetto = with_keys(omnitrace.text("OMNITRACE_PERFETTO_FILE"), omnitrace, facts);
  if (!fs::path(place.perfetto).is_absolute()) place.perfetto = staying(place.perfetto);
  return place;
}

std::string perfetto_file_name(const OmnitracePlace& place) {
  const fs::path perfetto(place.perfetto);
  if (perfetto.is_absolute()) return place.perfetto;
  const std::string extension = perfetto.extension().string();
  return file_name(place, (perfetto.parent_path() / perfetto.stem()).string(),
                   extension.size() < 2 ? "proto" : std::string_view(extension).substr(1));
}

std::string as_text(const OmnitracePlace& place) {
  return place.prefix + "\n" + place.suffix + "\n" + place.perfetto;
}

OmnitracePlace place_from_text(std::string_view text) {
  OmnitracePlace place;
  const std::size_t first = text.find('\n');
  const std::size_t second = first == std::string_view::npos ? first : text.find('\n', first + 1);
  if (second == std::string_view::npos) throw Error("the names of the run cannot be read [TL717]");
  place.prefix = text.substr(0, first);
  place.suffix = text.substr(first + 1, second - first - 1);
  place.perfetto = text.substr(second + 1);
  const bool absolute = fs::path(place.perfetto).is_absolute();
  const bool stays = place.prefix == staying(place.prefix) &&
                     place.suffix.find('/') == std::string::npos &&
                     (absolute || place.perfetto == staying(place.perfetto));
  if (!stays) throw Error("the names of the run lead out of its directory [TL717]");
  return place;
}

std::string make_place(OmnitracePlace& place, bool told) {
  os::ResolvedPath made;
  const std::string why = make_directories(place.directory, place.prefix, made);
  if (why.empty()) return told ? std::string() : others_in(place, made);
  const std::string note =
      "cannot write to " + place.directory + ": " + why + "; the files go to ./ [TL721]";
  place.directory = ".";
  // The folder of the prefix may be what cannot be written to, or may be led elsewhere.
  if (!make_directories(place.directory, place.prefix, made).empty()) {
    place.prefix = fs::path(place.prefix).filename().string();
  }
  return note;
}

RunDescription describe(const OmnitraceSettings& omnitrace, const OmnitracePlace& place) {
  RunDescription description = describe(omnitrace);
  description.properties[kOmnitraceNamesProperty] = as_text(place);
  return description;
}

std::string file_name(const OmnitracePlace& place, std::string_view name,
                      std::string_view extension) {
  return place.prefix + std::string(name) + place.suffix + "." + std::string(extension);
}

}  // namespace timeloom
