// The three writers of a table that is described once, against whole texts.
#include "tools/report/table/row_table.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace timeloom::tools {
namespace {

struct Ship {
  std::string name;
  std::uint64_t crates = 0;
  std::uint64_t ns = 0;
  bool late = false;
};

RowTable<Ship> ship_table() {
  const auto crates = [](const Ship& ship) {
    return ship.crates == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(ship.crates);
  };
  const auto half = [](const Ship& ship) { return static_cast<double>(ship.crates) / 10000; };
  const auto mark = [](const Ship& ship, const Terminal&) { return ship.late ? "!" : ""; };
  return {"ship",
          {{"name", Unit::kText, &Ship::name},
           {"crates", Unit::kCount, crates, {2, " crates"}},
           {"time_s", Unit::kNanoseconds, &Ship::ns, {1, "  time"}},
           {"late", Unit::kText, &Ship::late, {4, "late", mark}},
           {"", Unit::kShare, half, {3, " share"}}},
          [](const Ship& ship, const Terminal&) { return ship.name; }};
}

const std::vector<Ship> kShips = {{"Anna, of \"Kiel\"", 2500, 1'500'000'000, false},
                                  {"Bo", 0, 250'000'000, true}};

// The text that a function writes to an Output.
template <typename Write>
std::string written(Write write) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  Output output(ends[1]);
  write(output);
  output.flush();
  close(ends[1]);
  std::string text(4096, '\0');
  const ssize_t size = read(ends[0], text.data(), text.size());
  close(ends[0]);
  text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return text;
}

TEST(RowTable, JsonHasTheColumnsWithAKeyInTheirOrder) {
  EXPECT_EQ(ship_table().json(kShips).dump(),
            R"([{"name":"Anna, of \"Kiel\"","crates":2500,"time_s":1.5,"late":false},)"
            R"({"name":"Bo","crates":null,"time_s":0.25,"late":true}])");
  EXPECT_EQ(ship_table().json({}).dump(), "[]");
}

TEST(RowTable, CsvHasTheSameColumnsAndNothingForNull) {
  const auto csv = [](std::span<const Ship> ships) {
    return written([&](Output& output) { ship_table().write_csv(ships, output); });
  };
  EXPECT_EQ(csv(kShips),
            "name,crates,time_s,late\n"
            "\"Anna, of \"\"Kiel\"\"\",2500,1.5,0\n"
            "Bo,,0.25,1\n");
  EXPECT_EQ(csv({}), "name,crates,time_s,late\n");
}

TEST(RowTable, TheTerminalHasTheColumnsWithAPlaceFromLeftToRight) {
  const std::string text =
      written([](Output& output) { ship_table().write(kShips, Terminal{}, output); });
  EXPECT_EQ(text,
            "  time   crates   share  late  ship\n"
            " 1.50s    2,500   25.0%        Anna, of \"Kiel\"\n"
            " 250ms             0.0%     !  Bo\n");
}

TEST(RowTable, LinesHaveTheColumnsOfTheirHeadings) {
  const RowTable<Ship> table = ship_table();
  EXPECT_EQ(table.headings(), "  time  crates  share late");
  const std::string text =
      written([&](Output& output) { table.write_lines(kShips, Terminal{}, output); });
  EXPECT_EQ(text,
            " 1.50s   2,500  25.0%       Anna, of \"Kiel\"\n"
            " 250ms           0.0%    !  Bo\n");
}

}  // namespace
}  // namespace timeloom::tools
