#include "core/filter/filter_file.hpp"

#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "os/read_file.hpp"

namespace timeloom {

namespace {

// A larger file does not contain rules: it is a device, or other data.
constexpr std::size_t kLargest = 64 << 20;

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
// stays: it means the same to fnmatch(3).
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
  Parser(Parsed& filter, const std::string& name) : filter_(filter), name_(name) {}

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
    if (ended && text.ends_with('\r')) text.remove_suffix(1);
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
      rule_ = {word == kInclude, false, NamePattern("")};
      return;
    }
    if (!in_rule_) unexpected(word);
    if (word == kMangled || word == kDemangled) {
      if (block_ != Block::kRegions) unexpected(word);
      rule_.mangled = word == kMangled;
      return;
    }
    rule_.pattern = NamePattern(std::string(word));
    (block_ == Block::kFiles ? filter_.files : filter_.regions).add(rule_);
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
    throw Error(name_ + ", line " + std::to_string(line_number_) + ": " + what + " [TL119]");
  }

  Parsed& filter_;
  const std::string& name_;
  std::size_t line_number_ = 0;
  Block block_ = Block::kNone;
  bool in_rule_ = false;
  Rule rule_;
};

FilterFile FilterFile::parse(std::string_view text, const std::string& name) {
  auto parsed = std::make_shared<Parsed>();
  Parser(*parsed, name).parse(text);
  FilterFile filter;
  if (!parsed->files.rules.empty() || !parsed->regions.rules.empty()) {
    filter.parsed_ = std::move(parsed);
  }
  return filter;
}

std::string FilterFile::read(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    throw Error("cannot read the filter file " + file.string() + ": it is a directory [TL120]");
  }
  int failed = 0;
  std::string text = os::read_file(file.string(), kLargest + 1, &failed);
  if (failed != 0) {
    throw Error("cannot read the filter file " + file.string() + ": " + std::strerror(failed) +
                " [TL120]");
  }
  if (text.size() > kLargest) {
    throw Error("cannot read the filter file " + file.string() +
                ": it is larger than 64 MiB [TL120]");
  }
  return text;
}

FilterFile FilterFile::load(const std::filesystem::path& file) {
  return parse(read(file), file.string());
}

void FilterFile::Rules::add(const Rule& rule) {
  rules.push_back(rule);
  const auto number = static_cast<std::uint32_t>(rules.size());
  if (rule.pattern.is_word()) {
    words[rule.mangled ? 1 : 0][rule.pattern.word()] = number;
  } else {
    others.push_back(number);
  }
}

// A rule is tried only if it could change the answer: the last match decides, and a list of
// only includes excludes nothing.
bool FilterFile::Rules::exclude(std::span<const std::string> names,
                                std::span<const std::string> mangled_names) const {
  std::uint32_t last = 0;
  const std::span<const std::string> asked[] = {names, mangled_names};
  for (const bool mangled : {false, true}) {
    for (const std::string& name : asked[mangled]) {
      const auto found = words[mangled].find(name);
      if (found != words[mangled].end()) last = std::max(last, found->second);
    }
  }
  for (auto number = others.rbegin(); number != others.rend() && *number > last; ++number) {
    const Rule& rule = rules[*number - 1];
    const auto matches = [&](const std::string& name) { return rule.pattern.matches(name); };
    if (std::ranges::any_of(asked[rule.mangled], matches)) last = *number;
  }
  return last != 0 && !rules[last - 1].include;
}

bool FilterFile::excluded(const std::string& file, std::span<const std::string> names,
                          std::span<const std::string> mangled_names) const {
  if (empty()) return false;
  return (!file.empty() && parsed_->files.exclude({&file, 1}, {})) ||
         (!names.empty() && parsed_->regions.exclude(names, mangled_names));
}

bool FilterFile::excluded(const std::string& file, const std::string& name,
                          const std::string& mangled_name) const {
  const std::span<const std::string> names(&name, name.empty() ? 0 : 1);
  return excluded(file, names, mangled_name.empty() ? names : std::span(&mangled_name, 1));
}

}  // namespace timeloom
