#include "core/locks/lock_facts.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace timeloom {
namespace {

constexpr std::uint64_t kMostRows = 100000;  // that a run is believed to have

constexpr bool is_plain_byte(char c) {
  return c > ' ' && c != '%' && static_cast<unsigned char>(c) < 0x7f;
}

// Words with blanks between; other bytes than plain characters are %XX, an empty word is "%".
class WordWriter {
 public:
  void add(std::string_view word) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    if (!text_.empty()) text_ += ' ';
    if (word.empty()) text_ += '%';
    for (const char c : word) {
      if (is_plain_byte(c)) {
        text_ += c;
      } else {
        const auto byte = static_cast<unsigned char>(c);
        (text_ += '%') += kDigits[byte >> 4];
        text_ += kDigits[byte & 15];
      }
    }
  }
  void add(std::uint64_t number) { add(std::to_string(number)); }
  void add(const LockLine& line) {
    add(line.file);
    add(line.function);
    add(std::uint64_t{line.line});
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Reads them back; after a word that is missing or malformed, good() is false.
class WordReader {
 public:
  explicit WordReader(std::string_view text) : rest_(text) {}
  bool good() const noexcept { return good_; }

  std::string text() {
    const std::string_view word = next();
    std::string text;
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (word[i] != '%') {
        text += word[i];
        continue;
      }
      if (word.size() == 1) return text;
      unsigned byte = 0;
      const char* const end = word.data() + std::min(i + 3, word.size());
      const auto read = std::from_chars(word.data() + i + 1, end, byte, 16);
      good_ = good_ && read.ptr == word.data() + i + 3;
      text += static_cast<char>(byte);
      i += 2;
    }
    return text;
  }
  std::uint64_t number() {
    const std::string_view word = next();
    std::uint64_t number = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
    good_ =
        good_ && !word.empty() && read.ec == std::errc{} && read.ptr == word.data() + word.size();
    return number;
  }
  LockLine line() {
    LockLine line;
    line.file = text();
    line.function = text();
    line.line = static_cast<std::uint32_t>(std::min<std::uint64_t>(number(), UINT32_MAX));
    return line;
  }

 private:
  std::string_view next() {
    good_ = good_ && !rest_.empty();
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(std::min(word.size() + 1, rest_.size()));
    return word;
  }
  std::string_view rest_;
  bool good_ = true;
};

std::string to_text(const LockRow& row) {
  WordWriter words;
  words.add(row.line);
  words.add(row.maker);
  for (const std::uint64_t number :
       {std::uint64_t{static_cast<std::uint8_t>(row.kind)}, std::uint64_t{row.unmade}, row.locks,
        row.processes, row.refused, row.foreign, row.takes, row.held, row.waits, row.waited,
        row.threads, std::uint64_t{row.holders.size()}, std::uint64_t{row.waiters.size()}}) {
    words.add(number);
  }
  for (const LockHolder& one : row.holders) {
    words.add(one.line);
    for (const std::uint64_t number : {one.takes, one.held, one.longest, one.blocked})
      words.add(number);
  }
  for (const LockWaiter& one : row.waiters) {
    words.add(one.line);
    for (const std::uint64_t number :
         {one.location, one.process, one.thread, one.waits, one.waited, one.longest})
      words.add(number);
  }
  return words.take();
}

LockHolder read_holder(WordReader& words) {
  LockHolder holder;
  holder.line = words.line();
  for (std::uint64_t* to : {&holder.takes, &holder.held, &holder.longest, &holder.blocked})
    *to = words.number();
  return holder;
}

LockWaiter read_waiter(WordReader& words) {
  LockWaiter waiter;
  waiter.line = words.line();
  for (std::uint64_t* to : {&waiter.location, &waiter.process, &waiter.thread, &waiter.waits,
                            &waiter.waited, &waiter.longest})
    *to = words.number();
  return waiter;
}

std::optional<LockRow> read_row(std::string_view text) {
  WordReader words(text);
  LockRow row;
  row.line = words.line();
  row.maker = words.text();
  const std::uint64_t kind = words.number();
  if (kind < 1 || kind > 5) return std::nullopt;
  row.kind = static_cast<LockRowKind>(kind);
  row.unmade = words.number() != 0;
  for (std::uint64_t* to : {&row.locks, &row.processes, &row.refused, &row.foreign, &row.takes,
                            &row.held, &row.waits, &row.waited, &row.threads})
    *to = words.number();
  const std::uint64_t holders = words.number(), waiters = words.number();
  for (std::uint64_t i = 0; i < holders && words.good(); ++i)
    row.holders.push_back(read_holder(words));
  for (std::uint64_t i = 0; i < waiters && words.good(); ++i)
    row.waiters.push_back(read_waiter(words));
  return words.good() ? std::optional(std::move(row)) : std::nullopt;
}

std::string to_text(const StuckThread& thread) {
  WordWriter words;
  for (const std::uint64_t number : {std::uint64_t{static_cast<std::uint8_t>(thread.by)},
                                     thread.circle, thread.location, thread.process, thread.waited})
    words.add(number);
  words.add(thread.waits_at);
  words.add(thread.made_at);
  words.add(thread.maker);
  words.add(thread.taken_at);
  return words.take();
}

std::optional<StuckThread> read_stuck(std::string_view text) {
  WordReader words(text);
  StuckThread thread;
  const std::uint64_t by = words.number();
  if (by > 3) return std::nullopt;
  thread.by = static_cast<StuckBy>(by);
  for (std::uint64_t* to : {&thread.circle, &thread.location, &thread.process, &thread.waited})
    *to = words.number();
  thread.waits_at = words.line();
  thread.made_at = words.line();
  thread.maker = words.text();
  thread.taken_at = words.line();
  return words.good() ? std::optional(std::move(thread)) : std::nullopt;
}

// Six digits, so that the properties are in order.
std::string numbered(const char* key, std::size_t number) {
  std::string digits = std::to_string(number);
  return key + std::string(6 - std::min<std::size_t>(6, digits.size()), '0') + digits;
}

template <typename Row>
void read_all(const RunProperties& properties, const char* key,
              std::optional<Row> (*read)(std::string_view), std::vector<Row>& rows) {
  const std::string prefix = key;
  for (auto found = properties.lower_bound(prefix);
       found != properties.end() && found->first.starts_with(prefix) && rows.size() < kMostRows;
       ++found) {
    if (std::optional<Row> row = read(found->second)) rows.push_back(*std::move(row));
  }
}

}  // namespace

void put_locks(const LockFacts& facts, RunProperties& properties) {
  if (!facts.recorded) return;
  properties[kLocks] = std::to_string(facts.lost);
  for (std::size_t i = 0; i < facts.rows.size(); ++i)
    properties[numbered(kLockRow, i)] = to_text(facts.rows[i]);
  for (std::size_t i = 0; i < facts.stuck.size(); ++i)
    properties[numbered(kStuckRow, i)] = to_text(facts.stuck[i]);
}

LockFacts locks_in(const RunProperties& properties) {
  LockFacts facts;
  const auto found = properties.find(kLocks);
  if (found == properties.end()) return facts;
  facts.recorded = true;
  facts.lost = WordReader(found->second).number();
  read_all(properties, kLockRow, read_row, facts.rows);
  read_all(properties, kStuckRow, read_stuck, facts.stuck);
  return facts;
}

}  // namespace timeloom
