// The file lines.csv.
#include "run/line_rows.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace timeloom::run {
namespace {

TEST(LineRows, AreReadAsTheyWereWritten) {
  const std::vector<LineRow> rows = {{"app.work", "/a, b/\"x\".py", 12, 14, 40, 40'000'000},
                                     {"f<int, long>\n", "", 0, 0, 2, 1},
                                     {"g", "y.py", 3, UINT32_MAX, UINT64_MAX, UINT64_MAX}};
  const std::vector<LineRow> read = parse_lines(line_text(rows));
  ASSERT_EQ(read.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(read[i].function, rows[i].function);
    EXPECT_EQ(read[i].file, rows[i].file);
    EXPECT_EQ(read[i].first_line, rows[i].first_line);
    EXPECT_EQ(read[i].source_line, rows[i].source_line);
    EXPECT_EQ(read[i].samples, rows[i].samples);
    EXPECT_EQ(read[i].ns, rows[i].ns);
  }
}

TEST(LineRows, AreRefusedWhereTheyAreDamaged) {
  const std::string whole = line_text({{"f", "x.py", 1, 2, 4, 5}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    if (size == whole.find('\n') + 1) continue;  // only the headings
    EXPECT_THROW(parse_lines(whole.substr(0, size)), Error) << size;
  }
  EXPECT_THROW(parse_lines(whole + "f,x.py,1,-2,4,5\n"), Error);
  EXPECT_THROW(parse_lines(whole + "f,x.py,1,2,4,5,6\n"), Error);
}

}  // namespace
}  // namespace timeloom::run
