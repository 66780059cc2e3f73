#include "core/text/name_pattern.hpp"

#include <fnmatch.h>

#include <utility>

namespace timeloom {

NamePattern::NamePattern(std::string text) : text_(std::move(text)), pieces_(1) {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    char byte = text_[i];
    const bool escaped = byte == '\\' && i + 1 < text_.size();
    if (!escaped && (byte == '?' || byte == '[' || byte == '\\')) {
      kind_ = Kind::kOther;
      return;
    }
    if (byte == '*') {
      kind_ = Kind::kStars;
      pieces_.emplace_back();
      continue;
    }
    if (escaped) byte = text_[++i];
    pieces_.back() += byte;
  }
}

bool NamePattern::matches_stars(const std::string& name) const {
  const std::string &first = pieces_.front(), &last = pieces_.back();
  if (name.size() < first.size() + last.size()) return false;
  if (!name.starts_with(first) || !name.ends_with(last)) return false;
  std::size_t at = first.size();
  const std::size_t end = name.size() - last.size();
  for (std::size_t i = 1; i + 1 < pieces_.size(); ++i) {
    at = name.find(pieces_[i], at);
    if (at == std::string::npos || at + pieces_[i].size() > end) return false;
    at += pieces_[i].size();
  }
  return true;
}

bool NamePattern::matches(const std::string& name) const {
  switch (kind_) {
    case Kind::kWord: return name == word();
    case Kind::kStars: return matches_stars(name);
    case Kind::kOther: break;
  }
  return name.starts_with(pieces_.front()) && fnmatch(text_.c_str(), name.c_str(), 0) == 0;
}

}  // namespace timeloom
