#include "core/text/token_forms.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace timeloom {
namespace {

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return is_alnum(c) || c == '_' || c == '-'; }

bool is_dotted(char c) { return is_word(c) || c == '.'; }

// What follows the prefix: at least so many characters of a kind.
struct Form {
  std::string_view prefix;
  std::size_t least;
  bool (*allowed)(char);
  bool random;  // it has to look like a token, since other words begin so, too
};
constexpr std::array<Form, 31> kForms = {{
    {"ghp_", 20, is_alnum, false},     {"gho_", 20, is_alnum, false},
    {"ghu_", 20, is_alnum, false},     {"ghs_", 20, is_alnum, false},
    {"ghr_", 20, is_alnum, false},     {"github_pat_", 20, is_word, false},
    {"glpat-", 16, is_word, false},    {"sk-", 20, is_word, true},
    {"sk_live_", 16, is_alnum, false}, {"rk_live_", 16, is_alnum, false},
    {"sk_test_", 16, is_alnum, false}, {"rk_test_", 16, is_alnum, false},
    {"xoxb-", 10, is_word, false},     {"xoxp-", 10, is_word, false},
    {"xoxa-", 10, is_word, false},     {"xoxr-", 10, is_word, false},
    {"xoxs-", 10, is_word, false},     {"xapp-", 10, is_word, false},
    {"hf_", 20, is_alnum, true},       {"npm_", 20, is_alnum, false},
    {"pypi-", 32, is_word, true},      {"AIza", 30, is_word, true},
    {"AKIA", 16, is_alnum, false},     {"ASIA", 16, is_alnum, false},
    {"dop_v1_", 32, is_alnum, false},  {"doo_v1_", 32, is_alnum, false},
    {"dor_v1_", 32, is_alnum, false},  {"SG.", 40, is_dotted, true},
    {"ya29.", 20, is_dotted, true},    {"gsk_", 20, is_alnum, true},
    {"whsec_", 20, is_alnum, true},
}};

std::size_t run_of(std::string_view text, std::size_t at, bool (*allowed)(char)) {
  const std::size_t begin = at;
  while (at < text.size() && allowed(text[at])) ++at;
  return at - begin;
}

bool is_mixed(std::string_view text) {
  const auto has = [&](int (*kind)(int)) {
    return std::ranges::any_of(text,
                               [&](char c) { return kind(static_cast<unsigned char>(c)) != 0; });
  };
  return has(std::isupper) && has(std::islower);
}

// A part without dashes that is longer than words are, with a digit or without.
bool has_long_part(std::string_view text) {
  constexpr std::size_t kWithDigit = 20, kWithout = 30;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view part = text.substr(at, run_of(text, at, is_alnum));
    const bool digit = part.find_first_of("0123456789") != std::string_view::npos;
    if (part.size() >= (digit ? kWithDigit : kWithout)) return true;
    at += part.size();
  }
  return false;
}

bool looks_random(std::string_view text) { return is_mixed(text) || has_long_part(text); }

// The size of the token of a service that begins at `at`; 0: none does.
std::size_t size_of_service_token(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  for (const Form& form : kForms) {
    if (!rest.starts_with(form.prefix)) continue;
    const std::size_t size = run_of(text, at + form.prefix.size(), form.allowed);
    const bool fits =
        size >= form.least && (!form.random || looks_random(rest.substr(form.prefix.size(), size)));
    if (fits) return form.prefix.size() + size;
  }
  return 0;
}

// eyJ….….…: JSON in base64, its three parts with dots between.
std::size_t size_of_web_token(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("eyJ")) return 0;
  std::size_t end = at;
  for (int part = 0; part < 3; ++part) {
    const std::size_t size = run_of(text, end, is_word);
    if (part < 2 && (size < 6 || end + size >= text.size() || text[end + size] != '.')) return 0;
    end += size + (part < 2 ? 1 : 0);
  }
  return end - at;
}

// A private key between its first and its last line.
std::size_t size_of_key(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (!rest.starts_with("-----BEGIN ")) return 0;
  const std::size_t end = rest.find("-----", 11);
  if (end == std::string_view::npos || !rest.substr(0, end).ends_with("PRIVATE KEY")) return 0;
  const std::size_t last = rest.find("-----END ", end);
  if (last == std::string_view::npos) return rest.size();
  const std::size_t close = rest.find("-----", last + 9);
  return close == std::string_view::npos ? rest.size() : close + 5;
}

}  // namespace

std::pair<std::size_t, std::size_t> find_token(std::string_view text, std::size_t at) {
  for (; at < text.size(); ++at) {
    const bool within = at > 0 && is_word(text[at - 1]) && is_word(text[at]) && text[at] != '-';
    if (within) continue;
    std::size_t size = size_of_service_token(text, at);
    if (size == 0) size = size_of_web_token(text, at);
    if (size == 0) size = size_of_key(text, at);
    if (size != 0) return {at, size};
  }
  return {text.size(), 0};
}

}  // namespace timeloom
