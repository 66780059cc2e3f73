#include "core/text/token_forms.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace timeloom {
namespace {

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return is_alnum(c) || c == '_' || c == '-'; }

// What follows the prefix: at least so many characters.
struct Form {
  std::string_view prefix;
  std::size_t least;
  bool dashes;  // also - and _
  bool mixed;   // capitals and small letters: other words begin so, too
};
constexpr std::array<Form, 22> kForms = {{
    {"ghp_", 20, false, false},     {"gho_", 20, false, false}, {"ghu_", 20, false, false},
    {"ghs_", 20, false, false},     {"ghr_", 20, false, false}, {"github_pat_", 20, true, false},
    {"glpat-", 16, true, false},    {"sk-", 20, true, true},    {"sk_live_", 16, false, false},
    {"rk_live_", 16, false, false}, {"xoxb-", 10, true, false}, {"xoxp-", 10, true, false},
    {"xoxa-", 10, true, false},     {"xoxr-", 10, true, false}, {"xoxs-", 10, true, false},
    {"xapp-", 10, true, false},     {"hf_", 20, false, true},   {"npm_", 20, false, false},
    {"pypi-", 32, true, true},      {"AIza", 30, true, true},   {"AKIA", 16, false, false},
    {"ASIA", 16, false, false},
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

// The size of the token of a service that begins at `at`; 0: none does.
std::size_t size_of_service_token(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  for (const Form& form : kForms) {
    if (!rest.starts_with(form.prefix)) continue;
    const std::size_t size =
        run_of(text, at + form.prefix.size(), form.dashes ? is_word : is_alnum);
    const bool fits =
        size >= form.least && (!form.mixed || is_mixed(rest.substr(form.prefix.size(), size)));
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
