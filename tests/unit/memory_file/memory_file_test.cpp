// The file memory.timeloom: it is read as it was written, and refused where it is damaged.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../support/temp_directory.hpp"
#include "core/error.hpp"
#include "formats/memory_file/memory_file_reader.hpp"
#include "formats/memory_file/memory_file_writer.hpp"

namespace timeloom::memory_file {
namespace {

namespace fs = std::filesystem;

Process first_process() {
  Process process;
  process.group = 3;
  process.interval = 524'288;
  process.each = true;
  process.start_ns = 17;
  process.live_at_start = 4096;
  process.paths.push_back({kNone, kNone, true, {5, 1, 5}, {}, {}});
  process.paths.push_back({});
  process.paths.push_back({1, 7, false, {100, 2, 40}, {60, 1, 60}, {0, 0, 0}});
  return process;
}

const std::vector<Block> kBlocks = {
    {100, false, 2, 60, 4156}, {90, false, 0, 5, 4161}, {400, true, 0, 0, 4101}};

class MemoryFile : public testing::Test {
 protected:
  fs::path put(const std::string& bytes) {
    const fs::path file = fs::path(directory_.path()) / "memory.timeloom";
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    return file;
  }
  static std::string small_file() {
    Writer writer;
    writer.add(first_process(), kBlocks);
    Process second;
    second.exact = true;
    second.paths.resize(2);
    writer.add(second, {});
    return writer.take();
  }
  static std::vector<Block> blocks_of(Reader& reader, std::uint32_t group, std::uint64_t paths) {
    std::vector<Block> found;
    reader.each_block(group, paths, [&](const Block& block) {
      found.push_back(block);
      return true;
    });
    return found;
  }

  test::TempDirectory directory_;
};

TEST_F(MemoryFile, IsReadAsItWasWritten) {
  Reader reader(put(small_file()));
  ASSERT_EQ(reader.groups(), (std::vector<std::uint32_t>{3, 0}));
  const Process read = reader.process(3), expected = first_process();
  EXPECT_EQ(read.interval, expected.interval);
  EXPECT_TRUE(read.each && !read.exact);
  EXPECT_EQ(read.start_ns, 17u);
  EXPECT_EQ(read.live_at_start, 4096u);
  EXPECT_EQ(read.paths, expected.paths);
  EXPECT_EQ(blocks_of(reader, 3, 3), kBlocks);
  EXPECT_TRUE(reader.process(0).exact);
  EXPECT_EQ(blocks_of(reader, 0, 2), std::vector<Block>());
}

TEST_F(MemoryFile, StopsWhenNoMoreIsWanted) {
  Reader reader(put(small_file()));
  int taken = 0;
  reader.each_block(3, 3, [&](const Block&) { return ++taken < 2; });
  EXPECT_EQ(taken, 2);
}

TEST_F(MemoryFile, AnEmptyOneIsNotWritten) { EXPECT_TRUE(Writer().empty()); }

TEST_F(MemoryFile, EachDamagedByteIsFound) {
  const std::string sound = small_file();
  for (std::size_t at = 0; at < sound.size(); ++at) {
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x21);
    const fs::path file = put(damaged);
    try {
      Reader reader(file);
      for (const std::uint32_t group : reader.groups()) {
        const Process process = reader.process(group);
        blocks_of(reader, group, process.paths.size());
      }
      ADD_FAILURE() << "byte " << at;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("memory.timeloom is damaged"), std::string::npos);
    }
  }
}

TEST_F(MemoryFile, ACutFileIsRefused) {
  const std::string sound = small_file();
  for (std::size_t size = 0; size < sound.size(); ++size) {
    EXPECT_THROW(Reader(put(sound.substr(0, size))), Error) << size;
  }
  EXPECT_THROW(Reader(put(sound + "x")), Error);
}

TEST_F(MemoryFile, AProcessThatComesTwiceIsRefused) {
  Writer writer;
  writer.add(first_process(), kBlocks);
  writer.add(first_process(), {});
  EXPECT_THROW(Reader(put(writer.take())), Error);
}

// A body whose check is right may have numbers that are wrong.
TEST_F(MemoryFile, NumbersBeyondTheirLimitsAreRefused) {
  const auto written = [&](const Process& process, const std::vector<Block>& blocks) {
    Writer writer;
    writer.add(process, blocks);
    return put(writer.take());
  };
  Process process = first_process();
  process.paths[2].parent = 2;
  EXPECT_THROW(Reader(written(process, {})).process(3), Error);
  const std::vector<std::vector<Block>> wrong = {
      {{1, false, 3, 60, 60}},                                           // no such path
      {{1, true, 0, 0, 60}},                                             // its own death
      {{1, false, 2, 60, 60}, {2, true, 2, 0, 0}},                       // a birth that comes later
      {{1, false, 2, 60, 60}, {2, true, 0, 0, 0}, {3, true, 1, 0, 0}}};  // a death dies
  for (const std::vector<Block>& blocks : wrong) {
    Reader reader(written(first_process(), blocks));
    EXPECT_THROW(blocks_of(reader, 3, 3), Error);
  }
}

}  // namespace
}  // namespace timeloom::memory_file
