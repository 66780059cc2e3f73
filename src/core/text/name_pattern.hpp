// A pattern as in fnmatch(3), prepared for comparison with many names: most patterns of real
// filters are plain words, or words with a * in them, for which fnmatch(3) itself takes ten times
// as long.
//
// A plain value; matches() may be called from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace timeloom {

class NamePattern {
 public:
  explicit NamePattern(std::string text);

  bool matches(const std::string& name) const;
  // Whether it is a plain word; then word() is the only name that it matches.
  bool is_word() const noexcept { return kind_ == Kind::kWord; }
  const std::string& word() const noexcept { return pieces_.front(); }
  friend bool operator==(const NamePattern& a, const NamePattern& b) { return a.text_ == b.text_; }

 private:
  enum class Kind : std::uint8_t { kWord, kStars, kOther };
  bool matches_stars(const std::string& name) const;

  std::string text_;
  Kind kind_ = Kind::kWord;
  std::vector<std::string> pieces_;  // between the stars; of kOther its literal prefix
};

}  // namespace timeloom
