#include "symbols/demangled_size.hpp"

#include <algorithm>
#include <array>

namespace timeloom::symbols {
namespace {

constexpr std::uint64_t kWordSize =
    24;  // of a builtin type, an operator, a qualifier, with separators
constexpr std::uint64_t kLibrarySize = 128;  // of an abbreviation such as Ss
constexpr std::size_t kMostBrackets = 256;   // brackets

constexpr std::uint64_t plus(std::uint64_t a, std::uint64_t b) noexcept {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) noexcept {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }

// Reads the name once. Anything that it does not follow makes it `lost`.
class SizeReader {
 public:
  // `least`: what a reference counts as, at least. `pack`: the largest number of elements of a
  // pack.
  SizeReader(std::string_view text, std::uint64_t least, std::uint64_t pack) noexcept
      : text_(text), longest_part_(least), pack_(pack) {}

  void read() noexcept {
    take_special();
    while (!lost_ && at_ < text_.size()) step();
    if (depth_ != 0) lost_ = true;
  }
  // As read() for a name that is not followed: references count as everything so far.
  void read_all() noexcept {
    while (at_ < text_.size()) {
      const char c = next();
      if (is_digit(c)) {
        --at_;
        total_ = plus(total_, take_source_name());
      } else if (c == 'S' || c == 'T') {
        total_ = plus(total_, plus(total_, kLibrarySize));
      } else {
        // A pack repeats what it stands before; a name is repeated as the name of a constructor.
        const bool repeats = c == 'D' || c == 'C';
        total_ = plus(repeats ? times(total_, 2) : total_, kWordSize);
      }
    }
  }

  bool lost() const noexcept { return lost_; }
  std::uint64_t total() const noexcept { return total_; }
  std::uint64_t longest_part() const noexcept { return longest_part_; }
  std::uint64_t largest_pack() const noexcept { return largest_pack_; }

 private:
  enum class Kind : std::uint8_t { kList, kName, kLiteral };
  struct Group {
    Kind kind = Kind::kList;
    char bracket = 0;
    std::uint64_t sum = 0;
    std::uint64_t element = 0;
    std::uint64_t repeat = 1;  // of the element, by a pack
    std::uint64_t elements = 0;
    unsigned pending = 0;  // elements that belong to the present one
  };

  char peek(std::size_t ahead = 0) const noexcept {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  char next() noexcept { return at_ < text_.size() ? text_[at_++] : '\0'; }
  Group& group() noexcept { return groups_[depth_]; }

  void add(std::uint64_t size) noexcept {
    Group& to = group();
    size = times(size, to.repeat);
    to.element = plus(to.element, size);
    to.sum = plus(to.sum, size);
    total_ = plus(total_, size);
    longest_part_ = std::max(longest_part_, to.element);
  }
  // The next element of a list; everything in a name belongs together.
  void begin_element() noexcept {
    Group& to = group();
    if (to.kind == Kind::kName) return;
    if (to.pending > 0) {
      --to.pending;
      return;
    }
    to.element = 0;
    to.repeat = 1;
    ++to.elements;
  }
  // Belongs to the element that comes next.
  void qualify(unsigned elements = 1) noexcept {
    if (group().kind == Kind::kName) return add(kWordSize);
    if (group().pending == 0) {
      begin_element();
      group().pending = elements;
    } else {
      group().pending += elements - 1;
    }
    add(kWordSize);
  }
  void open(char bracket, Kind kind, bool continues) noexcept {
    if (!continues) begin_element();
    if (depth_ + 1 == kMostBrackets) {
      lost_ = true;
      return;
    }
    groups_[++depth_] = {.kind = kind, .bracket = bracket};
  }
  void close() noexcept {
    if (depth_ == 0) {
      lost_ = true;
      return;
    }
    const Group inner = groups_[depth_--];
    if (inner.bracket == 'I' || inner.bracket == 'J') {
      largest_pack_ = std::max(largest_pack_, inner.elements);
    }
    add(plus(inner.sum, kWordSize));
    // The entity of a local name follows, or the number of a lambda.
    if (inner.bracket == 'Z') group().pending += group().kind == Kind::kName ? 0 : 1;
    if (inner.bracket == 'U') skip_number();
  }

  void skip_number() noexcept {
    while (is_digit(peek()) || is_upper(peek())) ++at_;
    if (next() != '_') lost_ = true;
  }
  std::uint64_t take_source_name() noexcept {
    std::uint64_t size = 0;
    while (is_digit(peek()) && size < text_.size())
      size = size * 10 + static_cast<std::uint64_t>(next() - '0');
    if (size == 0 || size > text_.size() - at_) {
      lost_ = true;
      return kWordSize;
    }
    at_ += static_cast<std::size_t>(size);
    longest_name_ = std::max(longest_name_, size);
    return plus(size, kWordSize);
  }

  void take_special() noexcept {
    const char first = peek(), second = peek(1);
    if ((first == 'T' && (second == 'h' || second == 'v')) || first == 'G') {
      const bool virtual_base = second == 'v';
      if (first == 'G' && second != 'V') lost_ = true;
      at_ += 2;
      if (first == 'T') {
        for (int numbers = virtual_base ? 2 : 1; numbers > 0; --numbers) {
          if (peek() == 'n') ++at_;
          skip_number();
        }
      }
      add(kLibrarySize);
    } else if (first == 'T' && (second == 'V' || second == 'T' || second == 'I' || second == 'S')) {
      at_ += 2;
      add(kLibrarySize);
    } else if (is_lower(first)) {
      take_operator();
    }
  }
  void take_operator() noexcept {
    begin_element();
    at_ = std::min(at_ + 2, text_.size());
    add(kWordSize);
  }

  void take_reference() noexcept {  // behind S
    const char c = peek();
    begin_element();
    if (c == 't') {
      ++at_;
      add(kWordSize);
      if (group().kind != Kind::kName) ++group().pending;
      if (is_lower(peek())) take_operator();
      return;
    }
    if (is_lower(c)) {
      ++at_;
      return add(kLibrarySize);
    }
    skip_number();
    add(plus(longest_part_, kWordSize));
  }
  void take_parameter() noexcept {  // behind T
    if (!is_digit(peek()) && peek() != '_') {
      lost_ = true;
      return;
    }
    begin_element();
    skip_number();
    add(plus(longest_part_, kWordSize));
  }
  void take_d() noexcept {  // behind D
    const char c = next();
    if (group().kind == Kind::kName && is_digit(c)) return add(plus(longest_name_, kWordSize));
    if (c == 'p') {
      qualify();
      group().repeat = times(group().repeat, std::max<std::uint64_t>(pack_, 1));
      return;
    }
    if (c == 'v' && is_digit(peek())) {
      qualify();
      return skip_number();
    }
    constexpr std::string_view kPlain = "isuacnefdh";
    if (kPlain.find(c) == std::string_view::npos) {
      lost_ = true;
      return;
    }
    begin_element();
    add(kWordSize);
  }
  void take_u() noexcept {  // behind U
    const char c = next();
    if (c == 'l') return open('U', Kind::kList, false);
    if (c != 't') {
      lost_ = true;
      return;
    }
    begin_element();
    skip_number();
    add(kWordSize);
  }
  void take_literal() noexcept {  // behind L
    const bool in_arguments = group().bracket == 'I' || group().bracket == 'J';
    if (!in_arguments) return;  // a name with internal linkage
    begin_element();
    if (peek() == '_') {
      lost_ = true;
      return;
    }
    open('L', Kind::kLiteral, true);
  }
  // The value of a literal, up to its end.
  void take_value() noexcept {
    const std::size_t end = std::min(text_.find('E', at_), text_.size());
    add(end - at_);
    at_ = end;
  }

  void step() noexcept {
    if (group().kind == Kind::kLiteral && group().elements > 0 && group().pending == 0 &&
        peek() != 'E' && peek() != 'I') {
      return take_value();
    }
    if (is_digit(peek())) {
      begin_element();
      return add(take_source_name());
    }
    const char c = next();
    const bool in_name = group().kind == Kind::kName;
    switch (c) {
      case 'N': return open('N', Kind::kName, false);
      case 'I': return open('I', Kind::kList, true);
      case 'J': return open('J', Kind::kList, false);
      case 'F': return open('F', Kind::kList, false);
      case 'Z': return open('Z', Kind::kList, false);
      case 'L': return take_literal();
      case 'E': return close();
      case 'S': return take_reference();
      case 'T': return take_parameter();
      case 'D': return take_d();
      case 'U': return take_u();
      case 'Y': return;
      case 'B':
        if (!in_name) ++group().pending;
        return;
      case 'M': return in_name ? lose() : qualify(2);
      case 'C':
        if (!in_name) return qualify();
        if (!is_digit(next())) lose();
        return add(plus(longest_name_, kWordSize));
      case 'A':
        qualify();
        if (!is_digit(peek()) && peek() != '_') lose();
        return skip_number();
      case 'P':
      case 'R':
      case 'O':
      case 'K':
      case 'V':
      case 'r': return in_name && is_lower(c) ? (--at_, take_operator()) : qualify();
      case 'u': return qualify();
      default: break;
    }
    if (!is_lower(c)) return lose();
    if (in_name) {
      --at_;
      return take_operator();
    }
    begin_element();
    add(kWordSize);
  }
  void lose() noexcept { lost_ = true; }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::array<Group, kMostBrackets> groups_{};
  std::size_t depth_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t longest_part_;
  std::uint64_t longest_name_ = 0;
  std::uint64_t largest_pack_ = 0;
  std::uint64_t pack_;
  bool lost_ = false;
};

}  // namespace

std::uint64_t most_demangled(std::string_view mangled) noexcept {
  const std::string_view text = mangled.starts_with("_Z") ? mangled.substr(2) : mangled;
  // A parameter of a template stands for an argument that may come later, which again may have one
  // of a template around it: each time, the longest part of the time before.
  std::uint64_t least = 0, pack = 0, total = 0;
  for (int round = 0; round < 3; ++round) {
    SizeReader reader(text, least, pack);
    reader.read();
    if (reader.lost()) {
      SizeReader all(text, 0, 0);
      all.read_all();
      return all.total();
    }
    total = reader.total();
    pack = std::max(pack, reader.largest_pack());
    if (round == 0 && text.find('T') == std::string_view::npos) break;
    least = round == 0 ? 0 : reader.longest_part();
  }
  return total;
}

}  // namespace timeloom::symbols
