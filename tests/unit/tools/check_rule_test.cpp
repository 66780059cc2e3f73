#include "tools/check/check_rule.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "core/error.hpp"
#include "core/text/message_id.hpp"
#include "support/temp_directory.hpp"

namespace timeloom::tools {
namespace {

std::string read(const std::string& text) {
  const Rule rule = parse_rule(text);
  std::string said = std::string(quantity_name(rule.quantity)) + "[" + rule.region + "]";
  if (rule.any) said = "any " + said;
  const char* const signs[] = {"<", "<=", ">", ">=", "=="};
  return said + signs[static_cast<int>(rule.comparison)] + std::to_string(rule.limit) +
         rule.unit.name;
}

TEST(CheckRule, SaysWhatIsDemandedOfWhat) {
  EXPECT_EQ(read("total(solve) < 2s"), "total[solve]<2.000000s");
  EXPECT_EQ(read("region \"solve\" total < 2s"), "total[solve]<2.000000s");
  EXPECT_EQ(read("region solve self <= 5 %"), "self[solve]<=0.050000%");
  EXPECT_EQ(read("visits(load)<=3"), "visits[load]<=3.000000");
  EXPECT_EQ(read("  any   visits ( a b.* )  >=  1  "), "any visits[a b.*]>=1.000000");
  EXPECT_EQ(read("all mean(f) == 0.5ms"), "mean[f]==0.000500ms");
  EXPECT_EQ(read("overhead < 5%"), "overhead[]<0.050000%");
  EXPECT_EQ(read("wall > 1.5min"), "wall[]>90.000000min");
  EXPECT_EQ(read("processes == 4"), "processes[]==4.000000");
  EXPECT_EQ(read(R"(max('it\'s (\\) "x"') < 3us)"), "max[it's (\\) \"x\"]<0.000003us");
  EXPECT_EQ(read("region 'any' min < 7ns"), "min[any]<0.000000ns");
  EXPECT_EQ(read("all total(total) < 2\u00b5s"), "total[total]<0.000002\u00b5s");
}

TEST(CheckRule, MemoryIsOfTheRunOrOfRegions) {
  EXPECT_EQ(read("peak < 2GB"), "peak[]<2000000000.000000GB");
  EXPECT_EQ(read("peak(memory) < 2 GiB"), "peak[]<2147483648.000000GiB");
  EXPECT_EQ(read("held(memory) < 10MB"), "held[]<10000000.000000MB");
  EXPECT_EQ(read("held(*.load) < 1kB"), "held[*.load]<1000.000000kB");
  EXPECT_EQ(read("allocations(solve) < 1000"), "allocations[solve]<1000.000000");
  EXPECT_EQ(read("any allocated(solve) >= 7B"), "any allocated[solve]>=7.000000B");
}

TEST(CheckRule, TimesAreExact) {
  EXPECT_EQ(parse_rule("total(f) < 300ms").limit, 0.3);
  EXPECT_EQ(parse_rule("total(f) < 123456789ns").limit, 0.123456789);
  EXPECT_EQ(parse_rule("total(f) < 7%").limit, 0.07);
  EXPECT_EQ(parse_rule("wall < 0.1min").limit, 6);
}

std::string refused(const std::string& text) {
  try {
    parse_rule(text);
  } catch (const Error& error) {
    const std::string what = error.what();
    const std::string head = "rule '" + text + "': ";
    EXPECT_TRUE(what.ends_with(" [TL407]")) << what;
    return what.starts_with(head) ? std::string(without_id(what.substr(head.size())))
                                  : "not headed: " + what;
  }
  return "accepted";
}

TEST(CheckRule, RefusesWrongUnitsOfMemory) {
  const std::string units = " takes bytes with their unit (B, kB, MB, GB, KiB, MiB, GiB)";
  EXPECT_EQ(refused("peak < 20"), "peak" + units);
  EXPECT_EQ(refused("held(f) < 20s"), "held" + units);
  EXPECT_EQ(refused("allocated < 5%"), "allocated" + units);
  EXPECT_EQ(refused("peak(f) < 2GB"), "peak is a value of the run, not of a region");
  EXPECT_EQ(refused("allocations < 2MB"), "allocations takes a number without a unit");
  EXPECT_EQ(refused("wall < 2MB"), "wall takes a time with its unit (ns, us, ms, s, min)");
}

TEST(CheckRule, RefusesWhatMakesNoSense) {
  const std::string kinds =
      "; there are total, self, visits, min, max, mean, work, waiting, allocations, "
      "allocated, held, peak, wall, gc, overhead, "
      "efficiency, balance, communication, threads, processes, and waiting_ with unknown, "
      "processor, gil, lock, thread, message, io, time";
  EXPECT_EQ(refused(""), "a quantity is missing" + kinds);
  EXPECT_EQ(refused("< 5"), "a quantity is missing" + kinds);
  EXPECT_EQ(refused("count(f) < 5"), "'count' is not a quantity" + kinds);
  EXPECT_EQ(refused("any"), "a quantity is missing" + kinds);
  EXPECT_EQ(refused("region f < 5"), "a quantity is missing" + kinds);
  EXPECT_EQ(refused("total < 2s"), "of which region? Write total(NAME)");
  EXPECT_EQ(refused("wall(f) < 2s"), "wall is a value of the run, not of a region");
  EXPECT_EQ(refused("region f overhead < 2%"), "overhead is a value of the run, not of a region");
  EXPECT_EQ(refused("any wall < 2s"), "'any' and 'all' go with regions only");
  EXPECT_EQ(refused("visits() < 2"), "the name of the region is missing");
  EXPECT_EQ(refused("visits('') < 2"), "the name of the region is missing");
  EXPECT_EQ(refused("visits('f < 2"), "the name of the region has no closing quote");
  EXPECT_EQ(refused("visits(f < 2"), "a ')' is missing");
  EXPECT_EQ(refused("visits(f)"), "a comparison is missing: one of <, <=, >, >=, ==");
  EXPECT_EQ(refused("visits(f) != 2"), "a comparison is missing: one of <, <=, >, >=, ==");
  EXPECT_EQ(refused("visits(f) = 2"), "a comparison is missing: one of <, <=, >, >=, ==");
  for (const char* value : {"", "x", "-1", "inf", "nan", "1e999"}) {
    EXPECT_EQ(refused("visits(f) < " + std::string(value)),
              "a value is missing, such as 2s, 3 or 5%");
  }
  EXPECT_EQ(refused("wall < 1e308min"), "the value is too large");
  EXPECT_EQ(refused("visits(f) < 2.5"), "visits takes a whole number");
  EXPECT_EQ(refused("visits(f) < 2s"), "visits takes a number without a unit");
  EXPECT_EQ(refused("visits(f) < 2 3"), "visits takes a number without a unit");
  EXPECT_EQ(refused("total(f) < 2"),
            "total takes a time with its unit (ns, us, ms, s, min) or a percentage");
  EXPECT_EQ(refused("min(f) < 2%"), "min takes a time with its unit (ns, us, ms, s, min)");
  EXPECT_EQ(refused("wall < 2h"), "wall takes a time with its unit (ns, us, ms, s, min)");
  EXPECT_EQ(refused("overhead < 5"), "overhead takes a percentage, such as 5%");
  EXPECT_EQ(refused("wall < 2s or 3s"), "nothing may follow the value");
}

TEST(CheckRule, KnowsWhatForbidsARegion) {
  for (const char* rule : {"visits(f) == 0", "visits(f) < 1", "visits(f) <= 0"}) {
    EXPECT_TRUE(parse_rule(rule).forbids()) << rule;
  }
  for (const char* rule : {"visits(f) == 1", "visits(f) < 2", "visits(f) >= 0", "total(f) < 1s"}) {
    EXPECT_FALSE(parse_rule(rule).forbids()) << rule;
  }
}

class CheckFile : public ::testing::Test {
 protected:
  std::string refused(const std::string& text) {
    std::ofstream(file()) << text;
    try {
      load_rules(file());
    } catch (const Error& error) {
      const std::string what = error.what();
      return what.starts_with(file()) ? what.substr(file().size()) : what;
    }
    return "accepted";
  }
  std::string file() const { return directory_ / "rules.toml"; }

  test::TempDirectory directory_;
};

TEST_F(CheckFile, HoldsRulesInTheirOrder) {
  std::ofstream(file())
      << "# what CI demands\nrules = [\n  'total(\"a\") < 2s', # one\n  \"wall < 3s\",\n]\n";
  EXPECT_EQ(load_rules(file()), (std::vector<std::string>{"total(\"a\") < 2s", "wall < 3s"}));
}

TEST_F(CheckFile, MayContainOtherLetters) {
  std::ofstream(file()) << "# \u027d\nrules = [\"\"\"\\\n\u027d < 2s\"\"\"]\n";
  EXPECT_EQ(load_rules(file()), std::vector<std::string>{"\u027d < 2s"});
  EXPECT_NE(refused("\u027d = 1\n"), "accepted");
}

TEST_F(CheckFile, IsRefusedWithItsLine) {
  const std::string shape = "; write rules = [\"visits(load) <= 3\", ...] [TL406]";
  EXPECT_EQ(refused(""), ": no rules in it" + shape);
  EXPECT_EQ(refused("rules = []"), ": no rules in it" + shape);
  EXPECT_EQ(refused("rules = 'wall < 1s'"), ": no rules in it" + shape);
  EXPECT_EQ(refused("rules = [3]"), ": a rule that is not a string" + shape);
  EXPECT_EQ(refused("rule = ['wall < 1s']"), ": 'rule' is not known" + shape);
  EXPECT_EQ(refused("\n\nrules = [").substr(0, 9), ", line 3:");
  EXPECT_EQ(refused("rules = ['\xff']").substr(0, 9), ", line 1:");
}

}  // namespace
}  // namespace timeloom::tools
