#include "core/text/recorded_arguments.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "core/text/masked_word.hpp"

namespace timeloom {
namespace {

// Of curl, wget and others: their value is user:password.
constexpr std::array<std::string_view, 4> kUserOptions = {"-u", "-U", "--user", "--proxy-user"};
constexpr std::array<std::string_view, 2> kHeaderOptions = {"-H", "--header"};
// Of curl: name=value, with more pairs after semicolons. `-b 32` of other programs has no name.
constexpr std::string_view kCookieOption = "-b";
// Between the name of a header and its secret.
constexpr std::array<std::string_view, 4> kSchemes = {"Bearer", "Basic", "Token", "Digest"};

template <typename Words>
bool has(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Not the number of a user and of a group, nor a URL.
bool is_user_and_password(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon + 1 == text.size() || text.front() == '-')
    return false;
  if (text.substr(colon).starts_with("://")) return false;
  return text.find_first_not_of("0123456789:") != std::string_view::npos;
}

// Where the value of the option that `word` begins with begins in it; npos: it has none there.
std::size_t value_in(std::string_view word, std::span<const std::string_view> options) {
  for (const std::string_view option : options) {
    if (!word.starts_with(option) || word.size() == option.size()) continue;
    const bool whole = option.starts_with("--");
    if (!whole) return option.size();
    if (word[option.size()] == '=') return option.size() + 1;
  }
  return std::string_view::npos;
}

bool names_secret_header(std::string_view value) {
  const std::size_t colon = value.find(':');
  return colon != std::string_view::npos && is_name_of_secret(value.substr(0, colon));
}

// The value of an option for a user (also of Samba's, user%password), a cookie or a header; true:
// there is nothing else in it.
bool mask_value(Masker& masker, std::string_view option, std::string& word, std::size_t at) {
  const std::string_view value = std::string_view(word).substr(at);
  const std::size_t percent = value.find('%');
  if (option == "-U" && percent != std::string_view::npos && percent > 0) {
    masker.mask_from(word, at + percent + 1);
    return true;
  }
  const std::size_t equals = value.find('=');
  if (option == kCookieOption && equals != std::string_view::npos && equals > 0) {
    masker.mask_from(word, at + equals + 1);
    return true;
  }
  const bool user = has(kUserOptions, option) && is_user_and_password(value);
  if (!user && !(has(kHeaderOptions, option) && names_secret_header(value))) return false;
  std::string rest(value);
  masker.mask_after_colon(rest);
  word.replace(at, std::string::npos, rest);
  return true;
}

bool mask_glued_value(Masker& masker, std::string& word) {
  for (const std::span<const std::string_view> options :
       {std::span<const std::string_view>(kUserOptions),
        std::span<const std::string_view>(kHeaderOptions)}) {
    const std::size_t at = value_in(word, options);
    if (at == std::string_view::npos) continue;
    const std::string option = word.starts_with("-U") ? "-U" : std::string(options.front());
    if (mask_value(masker, option, word, at)) return true;
  }
  return false;
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

bool is_part_of_word(const std::string& text, std::size_t at, std::size_t size) {
  const auto goes_on = [&](std::size_t place) {
    const auto c = static_cast<unsigned char>(text[place]);
    return std::isalnum(c) != 0 || c == '_' || c == '.';
  };
  return (at > 0 && goes_on(at - 1)) || (at + size < text.size() && goes_on(at + size));
}

std::string without_backslashes(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    plain += text[at];
  }
  return plain;
}

// Secrets in a text that is quoted once more: {\"token\":\"abc\"}, password%3Dabc. Such a word is
// then kept as the text.
void mask_within(Masker& masker, std::string& word) {
  for (std::string (*const decode)(std::string_view) : {without_backslashes, percent_decoded}) {
    const std::string plain = decode(word);
    if (plain == word) continue;
    std::string masked = plain;
    masker.mask_word(masked);
    if (masked != plain) word = std::move(masked);
  }
}

void mask_words(Masker& masker, std::vector<std::string>& words) {
  bool secret = false;
  std::string_view before;
  for (std::string& word : words) {
    const std::string option(before);
    if (secret && has(kSchemes, word)) continue;
    if (secret && !word.starts_with("--")) {
      masker.mask_all(word);
      secret = false;
    } else if (mask_value(masker, option, word, 0) || mask_glued_value(masker, word)) {
      secret = false;
    } else {
      secret = masker.mask_word(word);
      mask_within(masker, word);
    }
    before = word;
  }
}

}  // namespace

RecordArguments record_arguments_of(std::string_view value) noexcept {
  if (value == "all") return RecordArguments::kAll;
  return value == "none" ? RecordArguments::kNone : RecordArguments::kMasked;
}

std::vector<std::string> recorded_arguments(std::vector<std::string> words, RecordArguments which,
                                            std::size_t named) {
  if (which == RecordArguments::kAll) return words;
  if (which == RecordArguments::kNone) words.resize(std::min(words.size(), named));
  Masker masker;
  mask_words(masker, words);
  return words;
}

std::vector<std::string> secrets_in(std::vector<std::string> words) {
  Masker masker;
  mask_words(masker, words);
  std::vector<std::string> secrets = masker.secrets();
  // The longest first, as one may be a part of another.
  std::ranges::sort(secrets, [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return secrets;
}

std::string without_secrets(std::string text, std::span<const std::string> secrets) {
  for (const std::string& secret : secrets) {
    const bool letters = std::ranges::all_of(secret, is_letter);
    for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
      if (letters && is_part_of_word(text, at, secret.size())) {
        ++at;
        continue;
      }
      text.replace(at, secret.size(), kMask);
      at += sizeof kMask - 1;
    }
  }
  return text;
}

}  // namespace timeloom
