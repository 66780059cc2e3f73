#include "formats/packed/packed_file.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "../support/temp_directory.hpp"
#include "../support/thorough.hpp"
#include "core/checksum.hpp"
#include "core/error.hpp"
#include "formats/packed/host_file.hpp"
#include "formats/packed/packed.hpp"
#include "formats/packed/packed_definitions.hpp"
#include "packed_story.hpp"

namespace timeloom::packed {
namespace {

namespace fs = std::filesystem;

class PackedFile : public testing::Test {
 protected:
  fs::path write(const Story& run, const char* name = "run.packed", std::uint64_t number = 77) {
    const fs::path file = fs::path(directory_.path()) / name;
    fs::remove(file);
    const auto sink = create(file, number);
    tell(run, *sink);
    return file;
  }

  // A section with its head, as it lies in the file.
  struct Part {
    SectionHead head;
    std::string body;
  };

  static std::vector<Part> parts_of(const fs::path& file) {
    const std::string bytes = text_of(file);
    std::vector<Part> parts;
    const FileReader reader(file);
    for (const Section& section : reader.sections()) {
      const std::size_t size = (section.head.size + 7) / 8 * 8;
      parts.push_back({section.head, bytes.substr(section.at, size)});
    }
    return parts;
  }
  static void put(const fs::path& file, const std::vector<Part>& parts) {
    std::string bytes;
    for (const Part& part : parts) {
      bytes.append(reinterpret_cast<const char*>(&part.head), sizeof part.head);
      bytes += part.body;
    }
    put_text(file, bytes);
  }
  static std::string text_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static void put_text(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  }
  static void seal(SectionHead& head) {
    std::uint64_t words[7];
    std::memcpy(words, &head, sizeof words);
    head.head_check = words_check(words);
  }

  static std::string property(const RunSource& source, const char* name) {
    const auto found = source.definitions().properties.find(name);
    return found == source.definitions().properties.end() ? "" : found->second;
  }

  test::TempDirectory directory_;
};

// 1,500 processes of one long command line become a hundredth of their size.
TEST_F(PackedFile, HoldsDefinitionsThatRepeatThemselves) {
  Story run = story();
  for (int i = 0; i < 1500; ++i) {
    run.definitions.properties["command " + std::to_string(i)] = std::string(2000, 'x');
  }
  EXPECT_EQ(open(write(run))->definitions().properties.size(), run.definitions.properties.size());
}

// Sizes are not allocations: a file with a hole claims a terabyte.
TEST_F(PackedFile, ReadsNoHole) {
  const fs::path file = write(story());
  std::vector<Part> parts = parts_of(file);
  parts.resize(1);
  Part hole = parts_of(file).at(1);
  hole.head.size = std::uint64_t{1} << 40;
  seal(hole.head);
  parts.push_back(hole);
  put(file, parts);
  std::error_code error;
  fs::resize_file(file, (std::uint64_t{1} << 40) + (1 << 20), error);
  if (error) GTEST_SKIP() << "no file of this size here";
  const FileReader reader(file);
  ASSERT_EQ(reader.sections().size(), 2u);
  Bytes body;
  EXPECT_FALSE(reader.read(reader.sections()[1], body));
  EXPECT_TRUE(body.empty());
}

TEST_F(PackedFile, HoldsTheRun) {
  const Story run = story();
  const auto source = open(write(run));
  EXPECT_EQ(events_of(*source), run.events);
  const Definitions& read = source->definitions();
  Definitions with_clock = run.definitions;
  with_clock.clock = read.clock;
  EXPECT_EQ(bytes_of(read), bytes_of(with_clock));
  EXPECT_EQ(read.properties, run.definitions.properties);
  EXPECT_EQ(read.locations[1].name, "Рабочий");
  EXPECT_EQ(read.locations[1].alias, "Master");
  EXPECT_EQ(read.locations[2].context, ContextId{0});
  EXPECT_EQ(read.locations[2].feeder, LocationId{0});
  ASSERT_EQ(read.contexts.size(), 1u);
  EXPECT_EQ(read.contexts[0].name, "CUDA Context 1");
  EXPECT_EQ(read.contexts[0].device, "0");
  EXPECT_EQ(read.contexts[0].process, LocationGroupId{0});
  EXPECT_EQ(read.groups[1].ending, "ended by SIGTERM");
  EXPECT_EQ(read.groups[1].creator, LocationGroupId{0});
  EXPECT_EQ(read.metrics[1].exponent, -9);
  EXPECT_EQ(read.communicators[0].members, run.definitions.communicators[0].members);
  EXPECT_FALSE(read.communicators[0].parent.defined());
  EXPECT_EQ(read.markers[0].text, "фаза");
  EXPECT_EQ(read.io_handles[0].file, "/tmp/a");
  EXPECT_GT(read.locations[0].event_count, 60'000u);
  EXPECT_EQ(read.clock.begin, 500u);
  EXPECT_EQ(read.clock.begin + read.clock.length, ticks(run.events.at(LocationId{0}).back().time));
}

TEST_F(PackedFile, HasTheNumberOfItsRun) {
  EXPECT_EQ(run_number(write(story())), 77u);
  EXPECT_NE(run_number(write(story(), "a.packed", 0)), run_number(write(story(), "b.packed", 0)));
  EXPECT_EQ(unsound_parts(write(story())), 0u);
}

TEST_F(PackedFile, DoesNotReplaceAFile) {
  const fs::path file = write(story());
  EXPECT_THROW(create(file), Error);
}

// The parts are: definitions, three blocks of location 0, one of location 1, the end.
constexpr std::size_t kParts = 6;

TEST_F(PackedFile, LosesADamagedBlockAndNothingElse) {
  const Story run = story();
  const fs::path file = write(run);
  std::vector<Part> parts = parts_of(file);
  ASSERT_EQ(parts.size(), kParts);
  parts[2].body[100] ^= 1;
  put(file, parts);
  const auto source = open(file);
  const auto events = events_of(*source);
  EXPECT_EQ(events.at(LocationId{1}), run.events.at(LocationId{1}));
  const auto& whole = run.events.at(LocationId{0});
  const auto& rest = events.at(LocationId{0});
  EXPECT_TRUE(is_balanced(rest));
  EXPECT_TRUE(std::equal(whole.begin(), whole.begin() + kBlockEvents, rest.begin()));
  const auto last = static_cast<std::ptrdiff_t>(whole.size()) - 2 * kBlockEvents;
  EXPECT_TRUE(std::equal(whole.end() - last, whole.end(), rest.end() - last));
  EXPECT_EQ(property(*source, kLostBlocks), "1");
  EXPECT_EQ(property(*source, kLostEvents), std::to_string(kBlockEvents));
  EXPECT_EQ(property(*source, "timeloom::lost_events"), "12");
  EXPECT_EQ(events_of(*source), events);  // it may be read again
  EXPECT_EQ(property(*source, kLostBlocks), "1");
}

TEST_F(PackedFile, FindsSwappedBlocks) {
  const Story run = story();
  const fs::path file = write(run);
  std::vector<Part> parts = parts_of(file);
  std::swap(parts[1], parts[3]);
  put(file, parts);
  const auto source = open(file);
  EXPECT_EQ(events_of(*source), run.events);
  EXPECT_EQ(property(*source, kLostBlocks), "");
}

TEST_F(PackedFile, TakesARepeatedBlockOnce) {
  const Story run = story();
  const fs::path file = write(run);
  std::vector<Part> parts = parts_of(file);
  parts.insert(parts.begin() + 3, parts[2]);
  put(file, parts);
  const auto source = open(file);
  EXPECT_EQ(events_of(*source), run.events);
  EXPECT_EQ(property(*source, kLostBlocks), "1");
  EXPECT_EQ(property(*source, kLostEvents), "");
}

TEST_F(PackedFile, LeavesOutBlocksOfAnotherRun) {
  const fs::path file = write(story()), other = write(story(), "other.packed", 78);
  std::vector<Part> parts = parts_of(file);
  parts[4] = parts_of(other)[4];
  put(file, parts);
  EXPECT_EQ(unsound_parts(file), 2u);  // one is too many, one is missing
  const auto source = open(file);
  EXPECT_TRUE(events_of(*source).at(LocationId{1}).empty());
  EXPECT_EQ(property(*source, kLostBlocks), "2");
}

TEST_F(PackedFile, LeavesOutABlockWithTheHeadOfAnother) {
  const Story run = story();
  const fs::path file = write(run);
  std::vector<Part> parts = parts_of(file);
  std::swap(parts[1].head, parts[2].head);
  put(file, parts);
  const auto source = open(file);
  for (const auto& [id, events] : events_of(*source)) EXPECT_TRUE(is_balanced(events));
  EXPECT_NE(property(*source, kLostBlocks), "");
}

TEST_F(PackedFile, BelievesNoClaimOfAHead) {
  const Story run = story();
  const fs::path file = write(run);
  for (const auto& claim : std::vector<std::function<void(SectionHead&)>>{
           [](SectionHead& head) { head.size = std::uint64_t{1} << 63; },
           [](SectionHead& head) { head.size = UINT64_MAX; },
           [](SectionHead& head) { head.events = UINT32_MAX; },
           [](SectionHead& head) { head.first = UINT64_MAX; },
           [](SectionHead& head) { head.first = 0; },
           [](SectionHead& head) { head.location = 12345; },
           [](SectionHead& head) { head.version = kVersion + 1; },
           [](SectionHead& head) { head.kind = static_cast<SectionKind>(9); }}) {
    std::vector<Part> parts = parts_of(write(run));
    claim(parts[2].head);
    seal(parts[2].head);
    put(file, parts);
    const auto source = open(file);
    const auto events = events_of(*source);
    EXPECT_EQ(events.at(LocationId{1}), run.events.at(LocationId{1}));
    EXPECT_TRUE(is_balanced(events.at(LocationId{0})));
    EXPECT_EQ(property(*source, kLostEvents), std::to_string(kBlockEvents));
  }
}

TEST_F(PackedFile, CutAnywhereIsReadUpToThere) {
  const Story run = story();
  const fs::path file = write(run);
  const std::string bytes = text_of(file);
  const std::vector<Section> sections = FileReader(file).sections();
  for (std::size_t i = 1; i < sections.size(); ++i) {
    for (const std::uint64_t size : {sections[i].at - sizeof(SectionHead), sections[i].at - 1,
                                     sections[i].at, sections[i].at + 1}) {
      put_text(file, bytes.substr(0, size));
      const auto source = open(file);
      for (const auto& [id, events] : events_of(*source)) EXPECT_TRUE(is_balanced(events));
      EXPECT_EQ(property(*source, kEndIsLost), "1") << size;
      EXPECT_GT(unsound_parts(file), 0u);
    }
  }
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{63}, sections[0].at + 5}) {
    put_text(file, bytes.substr(0, size));
    EXPECT_THROW(open(file), Error) << size;
  }
}

TEST_F(PackedFile, WithAnyByteChangedIsRefusedOrSound) {
  Story run = story();
  run.definitions.regions.resize(20);
  run.events[LocationId{0}] = {{Timestamp{600}, EventKind::kEnter, 3, 0},
                               {Timestamp{650}, EventKind::kEnter, 4, 0},
                               {Timestamp{690}, EventKind::kLeave, 4, 0},
                               {Timestamp{900}, EventKind::kLeave, 3, 0}};
  run.events[LocationId{1}] = run.events[LocationId{0}];
  const fs::path file = write(run);
  const std::string bytes = text_of(file);
  std::size_t refused = 0, unchanged = 0;
  const std::size_t step = test::rounds<std::size_t>(3, 1);
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 0x55);
    put_text(file, other);
    try {
      const auto source = open(file);
      const auto events = events_of(*source);
      for (const auto& [id, one] : events) ASSERT_TRUE(is_balanced(one)) << at;
      const bool lost = !property(*source, kLostBlocks).empty();
      if (!lost) ++unchanged;
      ASSERT_TRUE(lost || events == run.events) << at;
    } catch (const Error& error) {
      ++refused;
      ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
  EXPECT_EQ(unchanged, 0u);
  EXPECT_GT(refused, 64 / step);
}

TEST_F(PackedFile, OfANewerVersionIsRefusedInOneLine) {
  const fs::path file = write(story());
  std::vector<Part> parts = parts_of(file);
  parts[0].head.version = kVersion + 1;
  seal(parts[0].head);
  put(file, parts);
  try {
    open(file);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("newer version"), std::string::npos);
  }
}

// Earlier versions have written such files, too, and the last rank may have a newer one.
TEST_F(PackedFile, AFileOfAHostKeepsItsVersion) {
  const fs::path path = fs::path(directory_.path()) / "packed-host";
  put_text(directory_ / "blocks", "");
  int error = 0;
  const os::File blocks = os::File::open_read(directory_ / "blocks", &error);
  os::File file = os::File::create_exclusive(path.string(), &error);
  ASSERT_TRUE(append_rank(file, 7, 9, Bytes(16), blocks, &error).has_value());
  const std::vector<RankPart> ranks = find_ranks(os::File::open_read(path.string(), &error));
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0].about.head.version, 2u);
}

TEST_F(PackedFile, DefinitionsOfAnotherToolAreKept) {
  Story run = story();
  const OriginalFiles kept{std::string("\0anchor", 7), std::string(100'000, 'd')};
  run.definitions.original = std::make_shared<const OriginalFiles>(kept);
  const fs::path file = write(run);
  const std::vector<Part> parts = parts_of(file);
  ASSERT_EQ(parts[1].head.kind, SectionKind::kOriginal);
  EXPECT_EQ(parts[0].head.version, kVersion);
  const auto source = open(file);
  ASSERT_NE(source->definitions().original, nullptr);
  EXPECT_EQ(source->definitions().original->anchor, kept.anchor);
  EXPECT_EQ(source->definitions().original->definitions, kept.definitions);
  EXPECT_EQ(unsound_parts(file), 0u);
}

TEST_F(PackedFile, LostDefinitionsOfAnotherToolAreCounted) {
  Story run = story();
  run.definitions.original = std::make_shared<const OriginalFiles>(OriginalFiles{"a", "d"});
  const fs::path file = write(run);
  const std::vector<Part> whole = parts_of(file);
  std::vector<Part> parts = whole;
  parts.erase(parts.begin() + 1);
  put(file, parts);
  EXPECT_EQ(open(file)->definitions().original, nullptr);
  EXPECT_EQ(unsound_parts(file), 1u);
  parts = whole;
  parts[1].body[0] = static_cast<char>(parts[1].body[0] ^ 1);
  put(file, parts);
  EXPECT_EQ(open(file)->definitions().original, nullptr);
  EXPECT_EQ(unsound_parts(file), 1u);
  parts = whole;
  parts.insert(parts.begin() + 1, whole[1]);
  put(file, parts);
  EXPECT_NE(open(file)->definitions().original, nullptr);
  EXPECT_EQ(unsound_parts(file), 1u);
}

}  // namespace
}  // namespace timeloom::packed
