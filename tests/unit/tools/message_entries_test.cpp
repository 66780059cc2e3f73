#include "tools/explain/message_entries.hpp"

#include <gtest/gtest.h>

namespace timeloom::tools {
namespace {

constexpr std::string_view kPage =
    "# Messages\n\n| id | message | meaning | what to do |\n|---|---|---|---|\n"
    "| <a id=\"tl012\"></a>TL012 | `no run in …`, `In [N]` | see [run.md](run.md#runs) | "
    "[a limit](overhead.md#a-limit), [here](#top) |\n"
    "\n| line | meaning |\n|---|---|\n| `a \\` | b |\n"
    "| <a id=\"tl201\"></a>TL201 | `x` | the meaning [half |\n"
    "| <a id=\"tl301\"></a>TL301 | `cut off";

TEST(MessageEntries, AreTheRowsWithAnAnchorInPlainText) {
  const std::vector<MessageEntry> entries = message_entries(kPage);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entry_text(entries[0]),
            "TL012  no run in …, In [N]\n  meaning:     see run.md\n"
            "  what to do:  a limit (overhead.md), here\n");
  EXPECT_EQ(entry_text(entries[1]), "TL201  x\n  meaning:     the meaning [half\n");
}

TEST(MessageEntries, OfThePageAreThere) {
  EXPECT_GT(message_entries(messages_page()).size(), 100u);
}

TEST(MessageEntries, AreFoundByTheNearestNumber) {
  const std::vector<MessageEntry> entries = message_entries(kPage);
  EXPECT_EQ(nearest_entry(entries, "TL012").id, "TL012");
  EXPECT_EQ(nearest_entry(entries, "TL100").id, "TL012");
  EXPECT_EQ(nearest_entry(entries, "TL999").id, "TL201");
}

TEST(MessageIds, AreReadInEveryForm) {
  for (const char* word : {"TL012", "tl012", "12", "012", "tl12", "[TL012]"}) {
    EXPECT_EQ(message_id(word), "TL012") << word;
  }
  for (const char* word : {"", "TL", "TL1234", "12a", "XX012", "-1", "[]"}) {
    EXPECT_EQ(message_id(word), "") << word;
  }
}

}  // namespace
}  // namespace timeloom::tools
