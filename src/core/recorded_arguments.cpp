#include "core/recorded_arguments.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace timeloom {
namespace {

// Of options, also as the last part of a longer name: --db-password.
constexpr std::array<std::string_view, 15> kNames = {
    "password",   "passwd",      "passphrase",  "pwd",      "token",
    "secret",     "credential",  "credentials", "api-key",  "apikey",
    "access-key", "private-key", "secret-key",  "auth-key", "encryption-key"};
// Only as the whole name: --sort-key is no secret.
constexpr std::array<std::string_view, 4> kWholeNames = {"key", "pass", "auth", "authorization"};

// In lower case, without dashes before it; `_` and `.` separate words as `-` does.
std::string plain_name(std::string_view option) {
  option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
  std::string name(option);
  for (char& c : name) {
    c = c == '_' || c == '.' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
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

// Masks the secrets in `word`; true: the next word is one.
bool mask_word(std::string& word) {
  mask_urls(word);
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
