// Omnitrace's own reports are formatted again from their numbers, and match to the character.
#include "doors/omnitrace/format/text_report.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "support/bytes.hpp"

namespace timeloom::omnitrace {
namespace {

namespace fs = std::filesystem;

std::string stripped(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// The numbers of a report and its form.
struct Parsed {
  explicit Parsed(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line) && !line.starts_with("|-")) {
      const std::string words = stripped(line.substr(1, line.size() - 2));
      form.description += (form.description.empty() ? "" : " ") + words;
    }
    std::getline(lines, line);
    const std::string headers = line;
    has_units = headers.find("UNITS") != std::string::npos;
    if (headers.find("MEAN") == std::string::npos) form.columns = Columns::kSumOnly;
    if (headers.find("SUM") == std::string::npos) form.columns = Columns::kNoSum;
    std::getline(lines, line);
    for (std::size_t at = 1; at < line.size();) {
      const std::size_t end = line.find('|', at);
      ends.push_back(end);
      at = end + 1;
    }
    while (std::getline(lines, line) && !line.starts_with("|-")) take(line);
  }

  void take(const std::string& line) {
    std::vector<std::string> cells;
    std::size_t begin = 1;
    for (const std::size_t end : ends) {
      cells.push_back(line.substr(begin + 1, end - begin - 2));
      begin = end + 1;
    }
    const bool first = !stripped(cells[0]).empty();
    if (first) {
      const std::size_t end = cells[0].find_last_not_of(' ');
      rows.push_back({cells[0].substr(0, end + 1),
                      std::stoll(cells[1]),
                      static_cast<std::uint32_t>(std::stoul(cells[2])),
                      {}});
    }
    const std::size_t value = first ? 0 : 1;
    const std::string metric = cells[3].substr(0, cells[3].find_last_not_of(' ') + 1);
    if (form.metrics.size() <= value) form.metrics.push_back(metric);
    if (has_units && form.units.size() <= value) form.units.push_back(stripped(cells[4]));
    std::size_t next = has_units ? 5 : 4;
    Numbers& numbers = rows.back().values[value];
    precision =
        stripped(cells[next]).find('.') == std::string::npos
            ? 0
            : static_cast<int>(stripped(cells[next]).size() - stripped(cells[next]).find('.') - 1);
    if (form.columns != Columns::kNoSum) numbers.sum = std::stod(cells[next++]);
    if (form.columns == Columns::kSumOnly) return;
    for (double* one : {&numbers.mean, &numbers.min, &numbers.max, &numbers.variance,
                        &numbers.deviation, &numbers.self}) {
      *one = std::stod(cells[next++]);
    }
    form.self_precision = stripped(cells.back()).find('.') == std::string::npos ? 0 : 1;
  }

  TextForm form;
  std::vector<TextRow> rows;
  std::vector<std::size_t> ends;  // of the columns
  int precision = 0;
  bool has_units = false;
};

std::string laid_out(const TextForm& form, const std::vector<TextRow>& rows) {
  std::string text;
  write_text_report(
      form, rows.size(), [&](std::size_t i) { return rows[i]; },
      [&](std::string_view piece) { text += piece; });
  return text;
}

TEST(TextReport, IsThatOfOmnitraceToTheCharacter) {
  std::size_t reports = 0;
  for (const fs::directory_entry& file :
       fs::directory_iterator(fs::path(TIMELOOM_TEST_DATA) / "omnitrace-reports")) {
    if (file.path().extension() != ".txt") continue;
    const std::string text = test::read_bytes(file.path());
    Parsed parsed(text);
    parsed.form.precision = parsed.form.mean_precision = parsed.precision;
    if (parsed.precision == 1) parsed.form.least_width = 6;
    if (parsed.precision == 0 && parsed.form.columns == Columns::kAll) parsed.form.least_width = 3;
    EXPECT_EQ(laid_out(parsed.form, parsed.rows), text) << file.path();
    EXPECT_EQ(parsed.rows.size(), 30u);
    ++reports;
  }
  EXPECT_EQ(reports, 8u);
}

TextForm trips() {
  TextForm form;
  form.description = "Counts number of invocations";
  form.metrics = {"trip_count"};
  form.columns = Columns::kSumOnly;
  form.precision = 0;
  return form;
}

TextRow trip(std::string label, std::int64_t count) {
  TextRow row{std::move(label), count, 0, {}};
  row.values[0].sum = static_cast<double>(count);
  return row;
}

TEST(TextReport, HasTheColumnsOfAFlatProfile) {
  EXPECT_EQ(laid_out(trips(),
                     {trip("|0>>> run", 1), trip("|0>>> fib", 177), trip("|0>>> inefficient", 1)}),
            "|-----------------------------------------------------------|\n"
            "|                COUNTS NUMBER OF INVOCATIONS               |\n"
            "|-----------------------------------------------------------|\n"
            "|      LABEL        | COUNT  | DEPTH  |   METRIC   |  SUM   |\n"
            "|-------------------|--------|--------|------------|--------|\n"
            "| |0>>> run         |      1 |      0 | trip_count |      1 |\n"
            "| |0>>> fib         |    177 |      0 | trip_count |    177 |\n"
            "| |0>>> inefficient |      1 |      0 | trip_count |      1 |\n"
            "|-----------------------------------------------------------|\n");
}

TEST(TextReport, ShortensSeparatesAndLeavesOutWhatWasNotVisited) {
  TextForm form = trips();
  form.max_width = 24;
  form.separator_freq = 2;
  EXPECT_EQ(laid_out(form, {trip("|0>>> a_very_long_name_of_a_function", 1),
                            trip("|0>>> \xc3\xa4", 2), trip("|0>>> open\n", 0)}),
            "|------------------------------------------------------------------|\n"
            "|                   COUNTS NUMBER OF INVOCATIONS                   |\n"
            "|------------------------------------------------------------------|\n"
            "|          LABEL           | COUNT  | DEPTH  |   METRIC   |  SUM   |\n"
            "|--------------------------|--------|--------|------------|--------|\n"
            "| |0>>> a_very_long_nam... |      1 |      0 | trip_count |      1 |\n"
            "| |0>>> \xc3\xa4                  |      2 |      0 | trip_count |      2 |\n"
            "|--------------------------|--------|--------|------------|--------|\n"
            "| |0>>> open?              |      - |      - | trip_count |      - |\n"
            "|------------------------------------------------------------------|\n");
  form.max_width = 10;
  EXPECT_NE(laid_out(form, {trip("|0>>> abcdefgh", 1)}).find("| |0>>> abcd |"), std::string::npos);
}

TEST(TextReport, OfNothingIsAnEmptyTable) {
  EXPECT_EQ(laid_out(trips(), {}),
            "|--------------------------------------------|\n"
            "|        COUNTS NUMBER OF INVOCATIONS        |\n"
            "|--------------------------------------------|\n"
            "| LABEL  | COUNT  | DEPTH  | METRIC |  SUM   |\n"
            "|--------|--------|--------|--------|--------|\n"
            "|--------------------------------------------|\n");
}

}  // namespace
}  // namespace timeloom::omnitrace
