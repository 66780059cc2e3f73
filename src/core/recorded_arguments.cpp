#include "core/recorded_arguments.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace timeloom {
namespace {

// At the end of any name: PGPASSWORD.
constexpr std::array<std::string_view, 3> kEndings = {"password", "passwd", "passphrase"};
// Of options, also as the last part of a longer name: --github-token.
constexpr std::array<std::string_view, 12> kNames = {
    "pwd",    "token",      "secret",      "credential", "credentials", "api-key",
    "apikey", "access-key", "private-key", "secret-key", "auth-key",    "encryption-key"};
// Only as the whole name: --sort-key is no secret.
constexpr std::array<std::string_view, 4> kWholeNames = {"key", "pass", "auth", "authorization"};

// In lower case, without dashes before it; `_`, `.` and a capital separate words as `-` does.
std::string plain_name(std::string_view option) {
  option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
  std::string name;
  bool after_small = false;  // dbPassword is two words
  for (const unsigned char c : option) {
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

// Masks the secrets in `word`; true: the next word is one.
bool mask_word(std::string& word) {
  mask_urls(word);
  mask_queries(word);
  mask_header(word);
  const std::size_t equals = word.find('=');
  if (!is_name_of_secret(std::string_view(word).substr(0, equals))) return false;
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
