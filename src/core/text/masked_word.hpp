// Secrets within one word of a command line: in URLs, headers, JSON, lists of pairs, and secrets
// that are known by their form. docs/run.md has the rules and the names.
//
// Plain values, for any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace timeloom {

inline constexpr char kMask[] = "***";

// Whether the value of an option with this name, with or without its dashes, is a secret.
bool is_name_of_secret(std::string_view option);

// The text with the characters that its codes of two digits stand for: access%5Ftoken.
std::string percent_decoded(std::string_view text);

// Masks words, and keeps the masked texts.
class Masker {
 public:
  // Masks the secrets in `word`; true: the next word is a secret, too.
  bool mask_word(std::string& word);
  // Masks the whole word, the part after the first colon (user:password, Name: value), or the part
  // from `at` on.
  void mask_all(std::string& word);
  void mask_after_colon(std::string& word);
  void mask_from(std::string& word, std::size_t at);

  // The masked texts so far that are long enough to be found again in other texts.
  const std::vector<std::string>& secrets() const noexcept { return secrets_; }

 private:
  // Replaces a part of `word` by the mask; returns the position after the mask.
  std::size_t hide(std::string& word, std::size_t at, std::size_t size);
  void mask_urls(std::string& word);
  void mask_queries(std::string& word);
  void mask_header(std::string& word);
  void mask_hooks(std::string& word);
  void mask_members(std::string& word, char mark);  // the mark of a quotation
  void mask_pairs(std::string& word);
  void mask_tokens(std::string& word);

  std::vector<std::string> secrets_;
};

}  // namespace timeloom
