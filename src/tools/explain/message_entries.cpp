#include "tools/explain/message_entries.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "os/embedded_file.hpp"

TIMELOOM_EMBED_FILE(timeloom_messages, TIMELOOM_MESSAGES);

namespace timeloom::tools {

namespace {

constexpr std::size_t kDigits = 3;

// "[the text](page.md#part)" as "the text (page.md)", and without the page where the text names it.
std::string without_links(std::string_view text) {
  std::string plain;
  for (;;) {
    const std::size_t middle = text.find("](");
    const std::size_t end = text.find(')', middle);
    if (end == std::string_view::npos) return plain.append(text);
    const std::size_t open = text.rfind('[', middle);
    if (open == std::string_view::npos) return plain.append(text);
    const std::string_view label = text.substr(open + 1, middle - open - 1);
    const std::string_view target = text.substr(middle + 2, end - middle - 2);
    const std::string_view page = target.substr(0, target.find('#'));
    plain.append(text.substr(0, open)).append(label);
    if (!page.empty() && page != label) plain.append(" (").append(page).append(")");
    text.remove_prefix(end + 1);
  }
}

std::string plain_cell(std::string_view cell) {
  while (cell.starts_with(' ')) cell.remove_prefix(1);
  while (cell.ends_with(' ')) cell.remove_suffix(1);
  std::string text = without_links(cell);
  std::erase(text, '`');
  return text;
}

std::vector<std::string_view> cells_of(std::string_view row) {
  std::vector<std::string_view> cells;
  while (row.starts_with('|')) {
    row.remove_prefix(1);
    const std::size_t end = std::min(row.find('|'), row.size());
    if (end < row.size()) cells.push_back(row.substr(0, end));
    row.remove_prefix(end);
  }
  return cells;
}

int number_of(std::string_view id) {
  int number = 0;
  std::from_chars(id.data() + 2, id.data() + id.size(), number);
  return number;
}

}  // namespace

std::vector<MessageEntry> message_entries(std::string_view page) {
  constexpr std::string_view kAnchorEnd = "</a>";  // stands before the id
  std::vector<MessageEntry> entries;
  while (!page.empty()) {
    const std::size_t end = std::min(page.find('\n'), page.size());
    const std::vector<std::string_view> cells = cells_of(page.substr(0, end));
    page.remove_prefix(std::min(end + 1, page.size()));
    if (cells.size() < 3) continue;
    const std::size_t anchor = cells[0].find(kAnchorEnd);
    if (anchor == std::string_view::npos) continue;
    entries.push_back({plain_cell(cells[0].substr(anchor + kAnchorEnd.size())),
                       plain_cell(cells[1]), plain_cell(cells[2]),
                       cells.size() > 3 ? plain_cell(cells[3]) : std::string()});
  }
  return entries;
}

std::string_view messages_page() noexcept { return TIMELOOM_EMBEDDED_TEXT(timeloom_messages); }

std::string message_id(std::string_view word) {
  if (word.starts_with('[') && word.ends_with(']')) word = word.substr(1, word.size() - 2);
  if (word.size() > 2 && (word[0] | 0x20) == 't' && (word[1] | 0x20) == 'l') word.remove_prefix(2);
  const bool digits = word.find_first_not_of("0123456789") == std::string_view::npos;
  if (word.empty() || word.size() > kDigits || !digits) return {};
  return "TL" + std::string(kDigits - word.size(), '0').append(word);
}

const MessageEntry& nearest_entry(const std::vector<MessageEntry>& entries, std::string_view id) {
  const auto distance = [&](const MessageEntry& entry) {
    return std::abs(number_of(entry.id) - number_of(id));
  };
  return *std::ranges::min_element(entries, {}, distance);
}

std::string entry_text(const MessageEntry& entry) {
  const std::string meaning =
      entry.id + "  " + entry.message + "\n  meaning:     " + entry.meaning + "\n";
  return entry.remedy.empty() ? meaning : meaning + "  what to do:  " + entry.remedy + "\n";
}

}  // namespace timeloom::tools
