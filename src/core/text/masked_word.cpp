#include "core/text/masked_word.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <tuple>
#include <utility>

#include "core/text/token_forms.hpp"

namespace timeloom {
namespace {

// At the end of any name: PGPASSWORD.
constexpr std::array<std::string_view, 5> kEndings = {"password", "passwords", "passwd",
                                                      "passphrase", "passcode"};
// Of options, also as the last part of a longer name: --github-token.
constexpr std::array<std::string_view, 40> kNames = {
    "pwd",           "pw",        "token",         "secret",      "credential",  "credentials",
    "api-key",       "apikey",    "access-key",    "accesskey",   "private-key", "privatekey",
    "secret-key",    "secretkey", "auth-key",      "account-key", "accountkey",  "encryption-key",
    "jwt",           "bearer",    "authorization", "cookie",      "otp",         "signature",
    "totp",          "psk",       "sessionid",     "session-id",  "api-keys",    "basic-auth",
    "master-key",    "mfa-code",  "signing-key",   "license-key", "mnemonic",    "seed-phrase",
    "recovery-code", "sessid",    "phpsessid",     "jsessionid"};
// Only as the whole name: --sort-key is not a secret.
constexpr std::array<std::string_view, 6> kWholeNames = {"key", "pass", "auth",
                                                         "pin", "sig",  "pat"};
// Before "pass" in names that do not name a password: --two-pass, bypass, --lowpass. DB_PASS and
// --storepass do.
constexpr std::array<std::string_view, 27> kOtherPasses = {
    "by",    "com",  "low",  "high",    "band",     "all",  "sur",    "tres",  "over",
    "under", "one",  "two",  "three",   "multi",    "many", "single", "first", "second",
    "third", "last", "next", "forward", "backward", "1",    "2",      "per",   "full"};

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

// "db-pass", "storepass"; not "pass" alone.
bool is_some_pass(std::string_view name) {
  constexpr std::string_view kPass = "pass";
  if (!name.ends_with(kPass) || name.size() == kPass.size()) return false;
  name.remove_suffix(kPass.size());
  if (name.ends_with('-')) name.remove_suffix(1);
  return std::ranges::none_of(kOtherPasses,
                              [&](std::string_view one) { return name.ends_with(one); });
}

// Also in the midst of other texts, where a `key` is mostly no secret.
bool is_sure_name(std::string_view option) {
  const std::string name = plain_name(option);
  if (name.starts_with("no-")) return false;
  return is_some_pass(name) ||
         std::ranges::any_of(kEndings, [&](std::string_view one) { return name.ends_with(one); }) ||
         std::ranges::any_of(kNames, [&](std::string_view one) { return is_last_part(name, one); });
}

// The end of the value in JSON, without its quotes, that begins at `at`; `quote`: 0 for none.
std::size_t end_of_value(const std::string& word, std::size_t at, char quote) {
  if (quote == 0) return std::min(word.find_first_of(",}] \t\n", at), word.size());
  for (; at < word.size() && word[at] != quote; ++at) {
    if (word[at] == '\\') ++at;
  }
  return std::min(at, word.size());
}

// The start of the name that ends at `end`.
std::size_t begin_of_name(const std::string& word, std::size_t end) {
  std::size_t at = end;
  while (at > 0 && (std::isalnum(static_cast<unsigned char>(word[at - 1])) != 0 ||
                    word[at - 1] == '_' || word[at - 1] == '-' || word[at - 1] == '.')) {
    --at;
  }
  return at;
}

// The user of a URL that is not a name: letters and digits of a token.
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

// user:password@host:5432, which is not a URL; the places of the password's first character and of
// its end.
std::pair<std::size_t, std::size_t> password_before_port(std::string_view word) {
  const std::size_t host = word.rfind('@');
  if (host == std::string_view::npos) return {};
  const std::size_t port = word.find(':', host);
  const std::size_t begin = word.substr(0, host).find(':');
  if (begin >= host || port == std::string_view::npos) return {};
  const std::string_view number = word.substr(port + 1, word.find_first_of("/?,", port) - port - 1);
  const bool is_port = !number.empty() && number.size() <= 5 &&
                       number.find_first_not_of("0123456789") == std::string_view::npos;
  const bool fits =
      is_port && word.substr(0, port).find_first_of("/ \t\n\"'") == std::string_view::npos;
  return fits ? std::pair{begin + 1, host} : std::pair<std::size_t, std::size_t>{};
}

// Java's and CMake's definitions have no blank before the name: -Dtoken=x.
bool names_secret(std::string_view option) {
  if (is_name_of_secret(option)) return true;
  return option.starts_with("-D") && is_name_of_secret(option.substr(2));
}

}  // namespace

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned value = 0;
    const std::string_view digits = text.substr(at + 1, 2);
    const auto end = digits.data() + digits.size();
    const bool coded = text[at] == '%' && digits.size() == 2 &&
                       std::from_chars(digits.data(), end, value, 16).ptr == end;
    result += coded ? static_cast<char>(value) : text[at];
    if (coded) at += 2;
  }
  return result;
}

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

void Masker::mask_from(std::string& word, std::size_t at) {
  if (at < word.size()) hide(word, at, std::string::npos);
}

void Masker::mask_after_colon(std::string& word) {
  const std::size_t colon = word.find(':');
  const std::size_t value = std::min(word.find_first_not_of(kBlanks, colon + 1), word.size());
  if (colon != std::string::npos && value < word.size()) hide(word, value, word.size() - value);
}

// The addresses of hooks, whose path is the secret.
void Masker::mask_hooks(std::string& word) {
  for (const std::string_view hook : {"hooks.slack.com/services/", "/api/webhooks/"}) {
    const std::size_t at = word.find(hook);
    if (at == std::string::npos) continue;
    const std::size_t path = at + hook.size();
    const std::size_t end = std::min(word.find_first_of("?#\"' \t\n", path), word.size());
    if (end > path) hide(word, path, end - path);
  }
}

// user:password@ and token@ behind the // of every URL in a word, and user:password@host:port.
void Masker::mask_urls(std::string& word) {
  if (const auto [begin, end] = password_before_port(word); end > begin) {
    hide(word, begin, end - begin);
  }
  for (std::size_t at = word.find("//"); at != std::string::npos; at = word.find("//", at)) {
    const bool within = at > 0 && std::isalnum(static_cast<unsigned char>(word[at - 1])) != 0;
    at += 2;
    if (within) continue;
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

// The values of parameters in the query of a URL: ?token=abc&key=abc; of OAuth's ?code=abc, if it
// looks like a token.
void Masker::mask_queries(std::string& word) {
  for (std::size_t at = word.find('?'); at != std::string::npos;
       at = word.find_first_of("?&", at)) {
    const std::size_t name = ++at;
    const std::size_t end = std::min(word.find_first_of("&#\"' \t\n", name), word.size());
    const std::size_t equals = word.find('=', name);
    if (equals > end) continue;
    const std::string parameter =
        percent_decoded(std::string_view(word).substr(name, equals - name));
    const std::string_view value = std::string_view(word).substr(equals + 1, end - equals - 1);
    if (!is_name_of_secret(parameter) && (parameter != "code" || !is_token(value))) continue;
    hide(word, equals + 1, end - equals - 1);
    at = equals;
  }
}

// The value of a header of HTTP: Authorization: Bearer abc, X-Api-Key:abc, also password : abc.
void Masker::mask_header(std::string& word) {
  for (std::size_t colon = word.find(':'); colon != std::string::npos;
       colon = word.find(':', colon + 1)) {
    const std::size_t name_end = word.find_last_not_of(kBlanks, colon - 1) + 1;
    const std::size_t name = begin_of_name(word, colon == 0 ? 0 : name_end);
    if (name > 0 && std::string_view("= \t\n\"'").find(word[name - 1]) == std::string_view::npos)
      continue;
    const bool blank = word.substr(colon, 2) == ": ";
    const std::string_view text = std::string_view(word).substr(name, name_end - name);
    if (colon == 0 || name_end == name || !(blank ? is_name_of_secret(text) : is_sure_name(text)))
      continue;
    const std::size_t value = colon + (blank ? 2 : 1);
    if (value < word.size() || blank) hide(word, value, std::string::npos);
    return;
  }
}

// Members of objects in JSON, {"token": "abc"}, or of a dict of Python, {'token': 'abc'}.
void Masker::mask_members(std::string& word, char mark) {
  for (std::size_t quote = word.find(mark); quote != std::string::npos;) {
    const std::size_t name = quote + 1;
    const std::size_t end = end_of_value(word, name, mark);
    const std::size_t colon = word.find_first_not_of(kBlanks, end + 1);
    if (colon == std::string::npos) return;
    if (word[colon] != ':') {
      quote = word.find(mark, end + 1);
      continue;
    }
    std::size_t value = word.find_first_not_of(kBlanks, colon + 1);
    if (value == std::string::npos) return;
    const bool quoted = word[value] == mark;
    if (quoted) ++value;
    const std::size_t after = end_of_value(word, value, quoted ? mark : 0);
    if (is_name_of_secret(std::string_view(word).substr(name, end - name)) && after > value) {
      value = hide(word, value, after - value);
    } else {
      value = quoted ? after : value;
    }
    quote = word.find(mark, quoted ? value + 1 : value);
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
  for (const std::string_view scheme : {"Bearer ", "Basic "}) {
    if (!word.starts_with(scheme) || word.find(' ', scheme.size()) != std::string::npos) continue;
    hide(word, scheme.size(), std::string::npos);
    return false;
  }
  mask_tokens(word);
  mask_urls(word);
  mask_hooks(word);
  mask_queries(word);
  for (const char mark : {'"', '\''}) mask_members(word, mark);
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
