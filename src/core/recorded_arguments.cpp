#include "core/recorded_arguments.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace timeloom {
namespace {

// At the end of any name: PGPASSWORD.
constexpr std::array<std::string_view, 3> kEndings = {"password", "passwd", "passphrase"};
// Of options, also as the last part of a longer name: --github-token.
constexpr std::array<std::string_view, 14> kNames = {
    "pwd",    "token",      "secret",      "credential", "credentials", "api-key",        "jwt",
    "apikey", "access-key", "private-key", "secret-key", "auth-key",    "encryption-key", "bearer"};
// Only as the whole name: --sort-key is no secret.
constexpr std::array<std::string_view, 5> kWholeNames = {"key", "pass", "auth", "authorization",
                                                         "pin"};

// In lower case, without dashes before it; `_`, `.` and a capital separate words as `-` does.
std::string plain_name(std::string_view option) {
  option.remove_prefix(std::min(option.find_first_not_of("-/"), option.size()));
  std::string name;
  bool after_small = false;  // dbPassword is two words
  for (const char character : option) {
    const auto c = static_cast<unsigned char>(character);
    if (after_small && std::isupper(c) != 0) name += '-';
    after_small = std::islower(c) != 0;
    name += c == '_' || c == '.' ? '-' : static_cast<char>(std::tolower(c));
  }
  return name;
}

bool is_last_part(const std::string& name, std::string_view part) {
  if (!name.ends_with(part)) return false;
  return name.size() == part.size() || name[name.size() - part.size() - 1] == '-';
}

// user:password@ behind the :// of every URL in a word.
void mask_urls(std::string& word) {
  for (std::size_t at = word.find("://"); at != std::string::npos; at = word.find("://", at)) {
    at += 3;
    const std::size_t end = std::min(word.find_first_of("/?#\"' \t\n", at), word.size());
    const std::size_t host = word.substr(0, end).rfind('@');
    const std::size_t colon = word.find(':', at);
    if (host == std::string::npos || host < at || colon > host) continue;
    word.replace(colon + 1, host - colon - 1, kMask);
  }
}

// The values of parameters in the query of a URL: ?token=abc&key=abc.
void mask_queries(std::string& word) {
  for (std::size_t at = word.find('?'); at != std::string::npos;
       at = word.find_first_of("?&", at)) {
    const std::size_t name = ++at;
    const std::size_t end = std::min(word.find_first_of("&#\"' \t\n", name), word.size());
    const std::size_t equals = word.find('=', name);
    if (equals > end || !is_name_of_secret(std::string_view(word).substr(name, equals - name))) {
      continue;
    }
    word.replace(equals + 1, end - equals - 1, kMask);
    at = equals;
  }
}

// The value of a header of HTTP: Authorization: Bearer abc.
void mask_header(std::string& word) {
  const std::size_t colon = word.find(": ");
  if (colon == std::string::npos || colon == 0) return;
  const std::size_t before = word.find_last_of("= \t\n\"'", colon - 1);
  const std::size_t name = before == std::string::npos ? 0 : before + 1;
  if (!is_name_of_secret(std::string_view(word).substr(name, colon - name))) return;
  word.replace(colon + 2, std::string::npos, kMask);
}

// The end of the value in JSON, without its quotes, that begins at `at`.
std::size_t end_of_value(const std::string& word, std::size_t at, bool quoted) {
  if (!quoted) return std::min(word.find_first_of(",}] \t\n", at), word.size());
  for (; at < word.size() && word[at] != '"'; ++at) {
    if (word[at] == '\\') ++at;
  }
  return std::min(at, word.size());
}

// Members of objects in JSON: {"token": "abc"}.
void mask_members(std::string& word) {
  constexpr char kBlanks[] = " \t\n";
  for (std::size_t quote = word.find('"'); quote != std::string::npos;) {
    const std::size_t name = quote + 1;
    const std::size_t end = end_of_value(word, name, true);
    const std::size_t colon = word.find_first_not_of(kBlanks, end + 1);
    if (colon == std::string::npos) return;
    if (word[colon] != ':') {
      quote = word.find('"', end + 1);
      continue;
    }
    std::size_t value = word.find_first_not_of(kBlanks, colon + 1);
    if (value == std::string::npos) return;
    const bool quoted = word[value] == '"';
    if (quoted) ++value;
    const std::size_t after = end_of_value(word, value, quoted);
    if (is_name_of_secret(std::string_view(word).substr(name, end - name)) && after > value) {
      word.replace(value, after - value, kMask);
      value += sizeof kMask - 1;
    } else {
      value = quoted ? after : value;
    }
    quote = word.find('"', quoted ? value + 1 : value);
  }
}

// The end of the name of the option or variable that `word` begins with: --token=x, /token:x.
std::size_t end_of_name(const std::string& word) {
  return word.find(word.starts_with('/') ? ':' : '=');
}

// Java's and CMake's definitions have no blank before the name: -Dtoken=x.
bool names_secret(std::string_view option) {
  if (is_name_of_secret(option)) return true;
  return option.starts_with("-D") && is_name_of_secret(option.substr(2));
}

// Masks the secrets in `word`; true: the next word is one.
bool mask_word(std::string& word) {
  mask_urls(word);
  mask_queries(word);
  mask_header(word);
  mask_members(word);
  const std::size_t equals = end_of_name(word);
  if (!names_secret(std::string_view(word).substr(0, equals))) return false;
  if (equals == std::string::npos) return word.starts_with('-');
  word.replace(equals + 1, std::string::npos, kMask);
  return false;
}

}  // namespace

RecordArguments record_arguments_of(std::string_view value) noexcept {
  if (value == "all") return RecordArguments::kAll;
  return value == "none" ? RecordArguments::kNone : RecordArguments::kMasked;
}

bool is_name_of_secret(std::string_view option) {
  const std::string name = plain_name(option);
  return std::ranges::find(kWholeNames, name) != kWholeNames.end() ||
         std::ranges::any_of(kEndings, [&](std::string_view one) { return name.ends_with(one); }) ||
         std::ranges::any_of(kNames, [&](std::string_view one) { return is_last_part(name, one); });
}

std::vector<std::string> recorded_arguments(std::vector<std::string> words, RecordArguments which,
                                            std::size_t named) {
  if (which == RecordArguments::kAll) return words;
  if (which == RecordArguments::kNone) words.resize(std::min(words.size(), named));
  bool secret = false;
  for (std::string& word : words) {
    if (secret && !word.starts_with("--")) {
      word = kMask;
      secret = false;
    } else {
      secret = mask_word(word);
    }
  }
  return words;
}

}  // namespace timeloom
