#include "core/text/masked_word.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <tuple>

#include "core/text/token_forms.hpp"

namespace timeloom {
namespace {

// At the end of any name: PGPASSWORD.
constexpr std::array<std::string_view, 4> kEndings = {"password", "passwd", "passphrase",
                                                      "passcode"};
// Of options, also as the last part of a longer name: --github-token.
constexpr std::array<std::string_view, 24> kNames = {
    "pwd",        "pw",        "token",         "secret",      "credential",  "credentials",
    "api-key",    "apikey",    "access-key",    "accesskey",   "private-key", "privatekey",
    "secret-key", "secretkey", "auth-key",      "account-key", "accountkey",  "encryption-key",
    "jwt",        "bearer",    "authorization", "cookie",      "otp",         "signature"};
// Only as the whole name: --sort-key is no secret.
constexpr std::array<std::string_view, 5> kWholeNames = {"key", "pass", "auth", "pin", "sig"};

constexpr std::size_t kShortest = 6;   // of a secret that is looked for in other texts
constexpr std::size_t kLongUser = 16;  // of a URL: a token, not a name
constexpr char kBlanks[] = " \t\n";

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

// Also in the midst of other texts, where a `key` is mostly no secret.
bool is_sure_name(std::string_view option) {
  const std::string name = plain_name(option);
  if (name.starts_with("no-")) return false;
  return std::ranges::any_of(kEndings, [&](std::string_view one) { return name.ends_with(one); }) ||
         std::ranges::any_of(kNames, [&](std::string_view one) { return is_last_part(name, one); });
}

// The end of the value in JSON, without its quotes, that begins at `at`.
std::size_t end_of_value(const std::string& word, std::size_t at, bool quoted) {
  if (!quoted) return std::min(word.find_first_of(",}] \t\n", at), word.size());
  for (; at < word.size() && word[at] != '"'; ++at) {
    if (word[at] == '\\') ++at;
  }
  return std::min(at, word.size());
}

// The begin of the name that ends at `end`.
std::size_t begin_of_name(const std::string& word, std::size_t end) {
  std::size_t at = end;
  while (at > 0 && (std::isalnum(static_cast<unsigned char>(word[at - 1])) != 0 ||
                    word[at - 1] == '_' || word[at - 1] == '-' || word[at - 1] == '.')) {
    --at;
  }
  return at;
}

// The user of a URL that is no name: letters and digits of a token.
bool is_token(std::string_view user) {
  const auto is = [](int (*kind)(int)) {
    return [kind](char c) { return kind(static_cast<unsigned char>(c)) != 0; };
  };
  return user.size() >= kLongUser && user.find('.') == std::string_view::npos &&
         std::ranges::any_of(user, is(std::isdigit)) && std::ranges::any_of(user, is(std::isalpha));
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

}  // namespace

bool is_name_of_secret(std::string_view option) {
  return is_sure_name(option) ||
         std::ranges::find(kWholeNames, plain_name(option)) != kWholeNames.end();
}

std::size_t Masker::hide(std::string& word, std::size_t at, std::size_t size) {
  const std::string secret = word.substr(at, size);
  if (secret.size() >= kShortest && secret.find(kMask) == std::string::npos)
    secrets_.push_back(secret);
  word.replace(at, size, kMask);
  return at + sizeof kMask - 1;
}

void Masker::mask_all(std::string& word) { hide(word, 0, word.size()); }

void Masker::mask_after_colon(std::string& word) {
  const std::size_t colon = word.find(':');
  const std::size_t value = std::min(word.find_first_not_of(kBlanks, colon + 1), word.size());
  if (colon != std::string::npos && value < word.size()) hide(word, value, word.size() - value);
}

// user:password@ and token@ behind the :// of every URL in a word.
void Masker::mask_urls(std::string& word) {
  for (std::size_t at = word.find("://"); at != std::string::npos; at = word.find("://", at)) {
    at += 3;
    const std::size_t end = std::min(word.find_first_of("/?#\"' \t\n", at), word.size());
    const std::size_t host = word.substr(0, end).rfind('@');
    if (host == std::string::npos || host < at) continue;
    const std::size_t colon = word.find(':', at);
    if (colon < host) {
      hide(word, colon + 1, host - colon - 1);
    } else if (is_token(std::string_view(word).substr(at, host - at))) {
      hide(word, at, host - at);
    }
  }
}

// The values of parameters in the query of a URL: ?token=abc&key=abc.
void Masker::mask_queries(std::string& word) {
  for (std::size_t at = word.find('?'); at != std::string::npos;
       at = word.find_first_of("?&", at)) {
    const std::size_t name = ++at;
    const std::size_t end = std::min(word.find_first_of("&#\"' \t\n", name), word.size());
    const std::size_t equals = word.find('=', name);
    if (equals > end || !is_name_of_secret(std::string_view(word).substr(name, equals - name))) {
      continue;
    }
    hide(word, equals + 1, end - equals - 1);
    at = equals;
  }
}

// The value of a header of HTTP: Authorization: Bearer abc, X-Api-Key:abc.
void Masker::mask_header(std::string& word) {
  for (std::size_t colon = word.find(':'); colon != std::string::npos;
       colon = word.find(':', colon + 1)) {
    const std::size_t name = begin_of_name(word, colon);
    if (name > 0 && std::string_view("= \t\n\"'").find(word[name - 1]) == std::string_view::npos)
      continue;
    const bool blank = word.substr(colon, 2) == ": ";
    const std::string_view text = std::string_view(word).substr(name, colon - name);
    if (colon == name || !(blank ? is_name_of_secret(text) : is_sure_name(text))) continue;
    const std::size_t value = colon + (blank ? 2 : 1);
    if (value < word.size() || blank) hide(word, value, std::string::npos);
    return;
  }
}

// Members of objects in JSON: {"token": "abc"}.
void Masker::mask_members(std::string& word) {
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
      value = hide(word, value, after - value);
    } else {
      value = quoted ? after : value;
    }
    quote = word.find('"', quoted ? value + 1 : value);
  }
}

// Pairs of a list, or of a text: Server=x;Password=abc, host=x password=abc.
void Masker::mask_pairs(std::string& word) {
  for (std::size_t equals = word.find('='); equals != std::string::npos;
       equals = word.find('=', equals + 1)) {
    const std::size_t name = begin_of_name(word, equals);
    if (!is_sure_name(std::string_view(word).substr(name, equals - name))) continue;
    std::size_t value = equals + 1;
    const bool quoted = value < word.size() && (word[value] == '"' || word[value] == '\'');
    const std::string ends = quoted ? std::string(1, word[value++]) : " \t\n;,&#\"')}";
    const std::size_t end = std::min(word.find_first_of(ends, value), word.size());
    if (end > value) equals = hide(word, value, end - value) - 1;
  }
}

void Masker::mask_tokens(std::string& word) {
  for (auto [at, size] = find_token(word, 0); size != 0;
       std::tie(at, size) = find_token(word, at)) {
    at = hide(word, at, size);
  }
}

bool Masker::mask_word(std::string& word) {
  mask_tokens(word);
  mask_urls(word);
  mask_queries(word);
  if (word.find('"') != std::string::npos) mask_members(word);
  const std::size_t equals = end_of_name(word);
  if (names_secret(std::string_view(word).substr(0, equals))) {
    if (equals == std::string::npos) return word.starts_with('-');
    hide(word, equals + 1, std::string::npos);
    return false;
  }
  mask_header(word);
  mask_pairs(word);
  return word.ends_with(':') &&
         is_name_of_secret(std::string_view(word).substr(0, word.size() - 1));
}

}  // namespace timeloom
