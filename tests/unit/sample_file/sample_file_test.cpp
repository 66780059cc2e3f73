// The file samples.timeloom: it is read as it was written, and refused where it is damaged.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../support/temp_directory.hpp"
#include "core/error.hpp"
#include "formats/sample_file/sample_file_reader.hpp"
#include "formats/sample_file/sample_file_writer.hpp"

namespace timeloom::sample_file {
namespace {

namespace fs = std::filesystem;

const std::vector<Function> kFunctionsOfRun = {
    {3, "app.work", "/a, b/app.py", 12}, {7, "app.leaf", "", 0}, {9, "", "/x.py", 4}};
const std::vector<Code> kCodesOfRun = {{"libc.so.6", "memcpy"}, {"", ""}};

using Read = std::map<LocationId, std::vector<Sample>>;

class SampleFile : public testing::Test {
 protected:
  fs::path put(const std::string& bytes) {
    const fs::path file = fs::path(directory_.path()) / "samples.timeloom";
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    return file;
  }
  static Read read(const fs::path& file) {
    Read found;
    Reader reader(file);
    reader.each([](LocationId) { return true; },
                [&](LocationId location, const Sample& one) { found[location].push_back(one); });
    return found;
  }
  static std::string small_file() {
    Writer writer;
    const std::uint32_t outer = writer.stack(kNone, 3, false);
    const std::uint32_t inner = writer.stack(outer, 7, true);
    writer.add(LocationId{1}, {100, 5, 3, 0, 14, inner});
    writer.add(LocationId{4}, {50, 6, kNone, 1, 0, kNone});
    writer.add(LocationId{1}, {400, UINT64_MAX, 9, kNone, 12, outer});
    return writer.take(kFunctionsOfRun, kCodesOfRun);
  }

  test::TempDirectory directory_;
};

TEST_F(SampleFile, IsReadAsItWasWritten) {
  const fs::path file = put(small_file());
  Reader reader(file);
  ASSERT_EQ(reader.functions().size(), 3u);
  EXPECT_EQ(reader.function(3)->name, "app.work");
  EXPECT_EQ(reader.function(3)->file, "/a, b/app.py");
  EXPECT_EQ(reader.function(3)->line, 12u);
  EXPECT_EQ(reader.function(4), nullptr);
  ASSERT_EQ(reader.codes().size(), 2u);
  EXPECT_EQ(reader.codes()[0].library, "libc.so.6");
  EXPECT_EQ(reader.codes()[0].symbol, "memcpy");
  EXPECT_EQ(reader.frames(), (std::vector<Frame>{{kNone, 3, false}, {0, 7, true}}));
  const Read expected = {
      {LocationId{1}, {{100, 5, 3, 0, 14, 1}, {400, UINT64_MAX, 9, kNone, 12, 0}}},
      {LocationId{4}, {{50, 6, kNone, 1, 0, kNone}}}};
  EXPECT_EQ(read(file), expected);
}

TEST_F(SampleFile, StacksAreStoredOnce) {
  Writer writer;
  const std::uint32_t outer = writer.stack(kNone, 3, false);
  EXPECT_EQ(writer.stack(outer, 7, false), writer.stack(outer, 7, false));
  EXPECT_NE(writer.stack(outer, 7, false), writer.stack(outer, 7, true));
  EXPECT_EQ(Reader(put(writer.take(kFunctionsOfRun, kCodesOfRun))).frames().size(), 3u);
}

TEST_F(SampleFile, GivesTheWantedLocationsAlone) {
  Reader reader(put(small_file()));
  std::vector<LocationId> found;
  reader.each([](LocationId location) { return location == LocationId{4}; },
              [&](LocationId location, const Sample&) { found.push_back(location); });
  EXPECT_EQ(found, std::vector<LocationId>{LocationId{4}});
}

TEST_F(SampleFile, HasManySamplesInAFewBytesEach) {
  Writer writer;
  Read expected;
  for (std::uint32_t i = 0; i < 3 * kSamplesOfSection / 2; ++i) {
    const LocationId location{i % 7 == 0 ? 2u : 1u};
    const Sample sample{std::uint64_t{i} * 1'000'000, 999'000 + i % 512, 3, i % 2, 10 + i % 5};
    writer.add(location, sample);
    expected[location].push_back(sample);
  }
  const fs::path file = put(writer.take(kFunctionsOfRun, kCodesOfRun));
  EXPECT_EQ(read(file), expected);
  EXPECT_LT(fs::file_size(file), 4u * (3 * kSamplesOfSection / 2));
}

TEST_F(SampleFile, IsRefusedWhereItIsCut) {
  const std::string whole = small_file();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(read(put(whole.substr(0, size))), Error) << size;
  }
  EXPECT_THROW(read(put(whole + '\0')), Error);
}

TEST_F(SampleFile, IsRefusedWhereAByteIsChanged) {
  const std::string whole = small_file();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {1, 128}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      try {
        read(put(damaged));
        ADD_FAILURE() << at;
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("samples.timeloom is damaged"), std::string::npos);
      }
    }
  }
}

// Numbers that the checksums allow, since the writer made them.
TEST_F(SampleFile, IsRefusedWhereANumberHasNoMeaning) {
  const Sample unknown[] = {{1, 1, 4, 0}, {1, 1, 3, 2}, {1, 1, 3, 0, 0, 5}};
  for (const Sample& sample : unknown) {
    Writer writer;
    writer.add(LocationId{1}, sample);
    EXPECT_THROW(read(put(writer.take(kFunctionsOfRun, kCodesOfRun))), Error);
  }
  Writer of_frames;
  of_frames.stack(3, 3, false);
  EXPECT_THROW(read(put(of_frames.take(kFunctionsOfRun, kCodesOfRun))), Error);
}

}  // namespace
}  // namespace timeloom::sample_file
