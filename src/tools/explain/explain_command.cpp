// `timeloom explain TL012`: the meaning of messages by their ids.

#include <memory>
#include <string>
#include <vector>

#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/explain/message_entries.hpp"
#include "tools/text/output.hpp"
#include "tools/text/wrong_usage.hpp"

namespace timeloom::tools {

namespace {

std::string explained(const std::vector<MessageEntry>& entries, const std::string& word) {
  const std::string id = message_id(word);
  if (id.empty()) {
    throw WrongUsage("'" + word + "' is not the id of a message, such as " + entries.front().id +
                     " [TL435]");
  }
  const MessageEntry& entry = nearest_entry(entries, id);
  if (entry.id != id) {
    throw WrongUsage("there is no message " + id + "; the nearest is " + entry.id + " [TL435]");
  }
  return entry_text(entry);
}

int run_explain(const std::vector<std::string>& words) {
  if (words.empty()) {
    throw WrongUsage("an id is missing; write, for example: timeloom explain TL001 [TL435]");
  }
  const std::vector<MessageEntry> entries = message_entries(messages_page());
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : "\n") + explained(entries, word);
  return print(text);
}

}  // namespace

Command register_explain(CLI::App& program) {
  const auto ids = std::make_shared<std::vector<std::string>>();
  CommandOptions known(program, "explain", "Explain messages by the ids at their ends");
  known.positional("ID", *ids, "TL012, tl012 or 12");
  return {known.app(), [ids] { return run_explain(*ids); }};
}

}  // namespace timeloom::tools
