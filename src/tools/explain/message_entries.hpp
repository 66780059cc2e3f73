// The entries of docs/warnings.md: for each id of a message its wording, its meaning, and the
// remedy. The page is compiled into the program.
//
// Plain values and pure functions, for any thread. Throw std::bad_alloc only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace timeloom::tools {

// In plain text, without links and the signs of code.
struct MessageEntry {
  std::string id;  // "TL012"
  std::string message;
  std::string meaning;
  std::string remedy;  // empty: the message or the meaning has it
};

// The entries in the order of the page; rows of other tables give none.
std::vector<MessageEntry> message_entries(std::string_view page);

// The page as it was built in.
std::string_view messages_page() noexcept;

// "tl12", "12" and "TL012" are "TL012"; empty: the word is not an id.
std::string message_id(std::string_view word);

// The id with the nearest number. REQUIRES: there is an entry, and `id` is one of message_id().
const MessageEntry& nearest_entry(const std::vector<MessageEntry>& entries, std::string_view id);

std::string entry_text(const MessageEntry& entry);

}  // namespace timeloom::tools
