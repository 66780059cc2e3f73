#include "core/filter_file.hpp"

#include <fnmatch.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/error.hpp"

namespace timeloom {

namespace {

constexpr std::string_view kFilesBegin = "SCOREP_FILE_NAMES_BEGIN";
constexpr std::string_view kFilesEnd = "SCOREP_FILE_NAMES_END";
constexpr std::string_view kRegionsBegin = "SCOREP_REGION_NAMES_BEGIN";
constexpr std::string_view kRegionsEnd = "SCOREP_REGION_NAMES_END";
constexpr std::string_view kExclude = "EXCLUDE";
constexpr std::string_view kInclude = "INCLUDE";
constexpr std::string_view kMangled = "MANGLED";
constexpr std::string_view kDemangled = "DEMANGLED";

bool is_separator(char byte) { return byte == ' ' || byte == '\t' || byte == '\r'; }

// Up to the first # that has no backslash before it.
std::string_view without_comment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && (i == 0 || line[i - 1] != '\\')) return line.substr(0, i);
  }
  return line;
}

// Words are separated by blanks without a backslash before them. The backslash
// stays: to fnmatch(3) it says the same.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    const bool end = i == line.size() || (is_separator(line[i]) && (i == 0 || line[i - 1] != '\\'));
    if (!end) continue;
    if (i > begin) words.push_back(line.substr(begin, i - begin));
    begin = i + 1;
  }
  return words;
}

}  // namespace

class FilterFile::Parser {
 public:
  Parser(FilterFile& filter, const std::string& name) : filter_(filter), name_(name) {}

  void parse(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_number_;
      line(text.substr(0, end), end < text.size());
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

 private:
  enum class Block : std::uint8_t { kNone, kFiles, kRegions };

  void line(std::string_view text, bool ended) {
    const std::string_view content = without_comment(text);
    const bool whole = content.size() == text.size();
    if (whole && ended && content.ends_with('\\')) {
      fail("a line cannot be continued with a backslash at its end");
    }
    for (const std::string_view word : words_of(content)) take(word);
  }

  void take(std::string_view word) {
    if (word == kFilesBegin) return begin(word, Block::kFiles);
    if (word == kRegionsBegin) return begin(word, Block::kRegions);
    if (word == kFilesEnd) return end(word, Block::kFiles);
    if (word == kRegionsEnd) return end(word, Block::kRegions);
    if (block_ == Block::kNone) unexpected(word);
    if (word == kExclude || word == kInclude) {
      in_rule_ = true;
      rule_ = {word == kInclude, false, {}};
      return;
    }
    if (!in_rule_) unexpected(word);
    if (word == kMangled || word == kDemangled) {
      if (block_ != Block::kRegions) unexpected(word);
      rule_.mangled = word == kMangled;
      return;
    }
    rule_.pattern = word;
    (block_ == Block::kFiles ? filter_.file_rules_ : filter_.region_rules_).push_back(rule_);
  }

  void begin(std::string_view word, Block block) {
    if (block_ != Block::kNone) unexpected(word);
    block_ = block;
    in_rule_ = false;
  }

  void end(std::string_view word, Block block) {
    if (block_ != block) unexpected(word);
    block_ = Block::kNone;
  }

  [[noreturn]] void unexpected(std::string_view word) const {
    fail("Unexpected token '" + std::string(word) + "'");
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(name_ + ", line " + std::to_string(line_number_) + ": " + what);
  }

  FilterFile& filter_;
  const std::string& name_;
  std::size_t line_number_ = 0;
  Block block_ = Block::kNone;
  bool in_rule_ = false;
  Rule rule_;
};

FilterFile FilterFile::parse(std::string_view text, const std::string& name) {
  FilterFile filter;
  Parser(filter, name).parse(text);
  return filter;
}

FilterFile FilterFile::load(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    throw Error("cannot read the filter file " + file.string() + ": it is a directory");
  }
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) {
    throw Error("cannot read the filter file " + file.string() + ": " + std::strerror(errno));
  }
  return parse(text, file.string());
}

// One after the other: a rule is only asked when it could change the answer, so
// the last that applies decides, and rules that only include exclude nothing.
bool FilterFile::excluded_by(const std::vector<Rule>& rules, const std::string& name,
                             const std::string& mangled_name) {
  if (name.empty()) return false;
  bool excluded = false;
  for (const Rule& rule : rules) {
    if (rule.include != excluded) continue;
    const std::string& text = rule.mangled && !mangled_name.empty() ? mangled_name : name;
    const int result = fnmatch(rule.pattern.c_str(), text.c_str(), 0);
    if (result == 0) excluded = !excluded;
    if (result != 0 && result != FNM_NOMATCH) return false;  // rather too much than too little
  }
  return excluded;
}

bool FilterFile::excluded(const std::string& file, const std::string& name,
                          const std::string& mangled_name) const {
  return excluded_by(file_rules_, file, {}) || excluded_by(region_rules_, name, mangled_name);
}

}  // namespace timeloom
