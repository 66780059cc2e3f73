// The file samples.csv.
#include "run/sample_rows.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "../support/temp_directory.hpp"
#include "core/error.hpp"

namespace timeloom::run {
namespace {

TEST(SampleRows, AreReadAsTheyWereWritten) {
  const std::vector<SampleRow> rows = {
      {"app.work", "/a, b/\"x\".py", 12, "libc.so.6", "memcpy", 40, 40'000'000},
      {"", "", 0, "libx.so", "f<int, long>\n", 2, 1},
      {"g", "", 0, "", "", UINT64_MAX, UINT64_MAX}};
  const std::vector<SampleRow> read = parse_samples(sample_text(rows));
  ASSERT_EQ(read.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(read[i].function, rows[i].function);
    EXPECT_EQ(read[i].file, rows[i].file);
    EXPECT_EQ(read[i].line, rows[i].line);
    EXPECT_EQ(read[i].library, rows[i].library);
    EXPECT_EQ(read[i].symbol, rows[i].symbol);
    EXPECT_EQ(read[i].samples, rows[i].samples);
    EXPECT_EQ(read[i].ns, rows[i].ns);
  }
}

TEST(SampleRows, AreRefusedWhereTheyAreDamaged) {
  const std::string whole = sample_text({{"f", "x.py", 1, "libc", "memcpy", 4, 5}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const bool only_headings = size == whole.find('\n') + 1;
    if (only_headings) continue;
    EXPECT_THROW(parse_samples(whole.substr(0, size)), Error) << size;
  }
  EXPECT_THROW(parse_samples(whole + "f,x.py,-1,libc,memcpy,4,5\n"), Error);
  EXPECT_THROW(parse_samples(whole + "f,x.py,1,libc,memcpy,4,5,6\n"), Error);
  EXPECT_THROW(parse_samples(whole + "f,x.py,1,libc,memcpy,4\n"), Error);
}

// A file that is cut at a limit would lack rows, or end in half of one.
TEST(SampleRows, OfAFileThatIsTooLargeAreRefused) {
  const test::TempDirectory run;
  EXPECT_TRUE(read_sample_rows(run.path()).empty());
  const std::filesystem::path file = run / "samples.csv";
  std::ofstream(file) << sample_text({{"f", "x.py", 1, "libc", "memcpy", 4, 5}});
  EXPECT_EQ(read_sample_rows(run.path()).size(), 1u);
  std::filesystem::resize_file(file, std::uintmax_t{64} << 20);
  try {
    read_sample_rows(run.path());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "samples.csv is damaged or of another version; weave the run again, or remove the "
              "file [TL460]");
  }
}

}  // namespace
}  // namespace timeloom::run
