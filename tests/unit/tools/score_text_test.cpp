#include "tools/score/score_text.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "formats/cube/score_profile.hpp"
#include "support/temp_directory.hpp"
#include "tools/score/score_filter.hpp"

namespace timeloom::tools {
namespace {

using profile::ScoreProfile;

const std::filesystem::path kData = TIMELOOM_TEST_DATA;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(ScoreText, IsThatOfScorepScore) {
  for (const char* run : {"scorep-fib", "scorep-user-regions", "scorep-threads"}) {
    const ScoreProfile profile = cube::score_profile(cube::Reader(kData / run / "profile.cubex"));
    ScoreOptions options;
    options.regions = true;
    EXPECT_EQ(score_text(profile, score(profile, 0, nullptr), options),
              text_of(kData / run / "scorep-score-r.txt"))
        << run;
  }
}

TEST(ScoreText, RoundsSizesUp) {
  EXPECT_EQ(score_size(0), "1 bytes");
  EXPECT_EQ(score_size(3530), "3531 bytes");
  EXPECT_EQ(score_size(4096), "4097 bytes");
  EXPECT_EQ(score_size(4097), "5kB");
  EXPECT_EQ(score_size(4 << 20), "4097kB");
  EXPECT_EQ(score_size(8 << 20), "9MB");
  EXPECT_EQ(score_size(9'600'261), "10MB");
  EXPECT_EQ(score_size(UINT64_MAX), "16EB");
}

TEST(ScoreText, EscapesPatterns) {
  EXPECT_EQ(escaped_pattern("a b[c]*!?\\"), "a\\ b\\[c\\]\\*\\!?\\");
}

// f (user) 1,000,000 visits, g (user) 10, MPI_Send 10 below h, of one process.
ScoreProfile scored_profile() {
  ScoreProfile profile;
  const auto region = [&](const char* name, const char* paradigm) {
    profile.regions.push_back({name,
                               std::string("_") + name,
                               std::string("/src/app/") + name + ".c",
                               paradigm,
                               false,
                               {}});
  };
  region("f x", "user");
  region("g", "compiler");
  region("h", "user");
  region("MPI_Send", "mpi");
  profile.processes = 1;
  profile.most_locations = 1;
  profile.call_paths = {{2, UINT32_MAX, 0, 0}, {3, 0, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}};
  profile.values = {{1, 0, 4.0}, {10, 0, 0.5}, {1'000'000, 0, 0.25}, {10, 0, 0.25}};
  return profile;
}

std::string table(const ScoreProfile& profile, ScoreOptions options, const FilterFile* filter) {
  const std::string text = score_text(profile, score(profile, 0, filter), options);
  return text.substr(text.find("flt"));
}

TEST(ScoreText, ShowsWhatAFilterChanges) {
  const FilterFile filter =
      FilterFile::parse("SCOREP_REGION_NAMES_BEGIN EXCLUDE f* SCOREP_REGION_NAMES_END", "f");
  ScoreOptions options;
  options.filter = "f";
  options.regions = true;
  EXPECT_EQ(table(scored_profile(), options, &filter),
            "flt     type max_buf[B]    visits time[s] time[%] time/visit[us]  region\n"
            " -       ALL 24,000,854 1,000,021    5.00   100.0           5.00  ALL\n"
            " -       USR 24,000,240 1,000,010    0.50    10.0           0.50  USR\n"
            " -       MPI        590        10    0.50    10.0       50000.00  MPI\n"
            " -       COM         24         1    4.00    80.0     4000000.00  COM\n"
            "\n"
            " *       ALL        854        21    4.75    95.0      226190.48  ALL-FLT\n"
            " +       FLT 24,000,000 1,000,000    0.25     5.0           0.25  FLT\n"
            " -       MPI        590        10    0.50    10.0       50000.00  MPI-FLT\n"
            " *       USR        240        10    0.25     5.0       25000.00  USR-FLT\n"
            " *       COM         24         1    4.00    80.0     4000000.00  COM-FLT\n"
            "\n"
            " +       USR 24,000,000 1,000,000    0.25     5.0           0.25  f x\n"
            " -       MPI        590        10    0.50    10.0       50000.00  MPI_Send\n"
            " -       USR        240        10    0.25     5.0       25000.00  g\n"
            " -       COM         24         1    4.00    80.0     4000000.00  h\n");
}

TEST(ScoreText, HasSamplesAndNoSizesWhereCallsAreMadeOfThem) {
  ScoreProfile profile = scored_profile();
  profile.sampled_calls = true;
  ScoreOptions options;
  const std::string text = score_text(profile, score(profile, 0, nullptr), options);
  EXPECT_EQ(text,
            "\nThe calls of this run are made of samples (--sampling): how large a trace of calls\n"
            "would be is not known. For an estimate, record calls: timeloom run --profile\n\n"
            "flt     type   samples time[s] time[%] time/sample[us]  region\n"
            "         ALL 1,000,021    5.00   100.0            5.00  ALL\n"
            "         COM         1    4.00    80.0      4000000.00  COM\n"
            "         USR 1,000,010    0.50    10.0            0.50  USR\n"
            "         MPI        10    0.50    10.0        50000.00  MPI\n");
}

std::string regions_sorted(ScoreKey key) {
  ScoreOptions options;
  options.regions = true;
  options.mangled = true;
  options.key = key;
  std::string text = table(scored_profile(), options, nullptr);
  text = text.substr(text.find("\n\n") + 2);
  std::string names;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::size_t end = text.find('\n', at);
    names += text.substr(text.rfind("  ", end) + 2, end - text.rfind("  ", end) - 2) + " ";
  }
  return names;
}

TEST(ScoreText, SortsByEveryKey) {
  EXPECT_EQ(regions_sorted(ScoreKey::kMaxBuffer), "_f\\ x _MPI_Send _g _h ");
  EXPECT_EQ(regions_sorted(ScoreKey::kTotalTime), "_h _MPI_Send _f\\ x _g ");
  EXPECT_EQ(regions_sorted(ScoreKey::kTimePerVisit), "_f\\ x _g _MPI_Send _h ");
  EXPECT_EQ(regions_sorted(ScoreKey::kVisits), "_f\\ x _g _MPI_Send _h ");
  EXPECT_EQ(regions_sorted(ScoreKey::kName), "_MPI_Send _f\\ x _g _h ");
}

TEST(ScoreText, ShowsHitsOfSampledProfiles) {
  ScoreProfile profile = scored_profile();
  profile.sampled = true;
  profile.values[0].hits = 5000;
  const std::string text = table(profile, {}, nullptr);
  EXPECT_TRUE(text.starts_with("flt     type max_buf[B]    visits  hits time[s]")) << text;
  EXPECT_NE(text.find(" 5,000 "), std::string::npos) << text;
}

TEST(ScoreText, WarnsWhenNoProcessCouldHaveTheMemory) {
  ScoreProfile profile = scored_profile();
  profile.values[2].visits = std::uint64_t{1} << 40;
  const std::string text = score_text(profile, score(profile, 0, nullptr), {});
  EXPECT_EQ(text.find("(hint"), std::string::npos);
  EXPECT_NE(text.find("(warning: "), std::string::npos);
  EXPECT_NE(text.find("SCOREP_TOTAL_MEMORY=4G"), std::string::npos);
}

ScoreOptions parse(const std::vector<std::string>& words) { return parse_score_options(words); }

std::string complaint(const std::vector<std::string>& words) {
  try {
    parse(words);
    return {};
  } catch (const ScoreUsage& wrong) {
    return wrong.what();
  }
}

TEST(ScoreOptions, AreParsed) {
  EXPECT_TRUE(parse({}).help);
  EXPECT_TRUE(parse({"-x", "-h"}).help);
  EXPECT_TRUE(parse({"--help", "a"}).help);
  const ScoreOptions all = parse({"-r", "-m", "-c", "3", "-s", "name", "-f", "x", "-g", "p"});
  EXPECT_TRUE(all.regions && all.mangled && all.generation);
  EXPECT_EQ(all.counters, 3u);
  EXPECT_EQ(all.key, ScoreKey::kName);
  EXPECT_EQ(*all.filter, "x");
  EXPECT_EQ(all.profile, "p");
  const auto list =
      *parse({"-g", "BufferPercent = 5, visits=7,timepervisit=2.5,bufferabsolute=1,type=BOTH", "p"})
           .generation;
  EXPECT_EQ(list.buffer_percent, 5);
  EXPECT_EQ(list.visits, 7u);
  EXPECT_EQ(list.time_per_visit, 2.5);
  EXPECT_EQ(list.buffer_megabytes, 1);
  EXPECT_TRUE(list.user && list.com);
  EXPECT_TRUE(parse({"-g", "-r", "p"}).regions);
  EXPECT_TRUE(parse({"-g", "all", "p"}).generation->everything);
}

TEST(ScoreOptions, SayWhatIsWrong) {
  EXPECT_EQ(complaint({"-f", "p"}), "No filter file specified");
  EXPECT_EQ(complaint({"-c", "p"}), "Missing number of hardware counters");
  EXPECT_EQ(complaint({"-s", "p"}), "No sorting mode specified");
  EXPECT_EQ(complaint({"-s", "x", "p"}), "Unknown sorting choice");
  EXPECT_EQ(complaint({"-d", "p"}), "Unknown argument: '-d'");
  EXPECT_EQ(complaint({"q", "p"}), "Unknown argument: 'q'");
  EXPECT_EQ(complaint({"-c", "-1", "p"}),
            "The number of hardware counters cannot be less than zero: '-1'");
  EXPECT_EQ(complaint({"-c", "x", "p"}), "The number of hardware counters is not a number: 'x'");
  EXPECT_EQ(complaint({"-g", "x=1", "p"}), "Invalid filter generation option:\"x=1\"");
  EXPECT_EQ(complaint({"-g", "visits", "p"}), "Invalid filter generation option:\"visits\"");
  for (const char* list : {"visits=x", "visits=-1", "visits=1.5", "visits=", "bufferpercent=101",
                           "bufferpercent=nan", "timepervisit=inf", "type=all"}) {
    EXPECT_NE(complaint({"-g", list, "p"}), "") << list;
  }
}

std::string proposal(FilterGeneration wanted, const FilterFile* filter = nullptr) {
  const ScoreProfile profile = scored_profile();
  ScoreOptions options;
  options.generation = std::move(wanted);
  if (filter != nullptr) options.filter = "old.filter";
  const std::string text = proposed_filter(profile, score(profile, 0, filter), options);
  return text.substr(text.find("SCOREP_REGION_NAMES_BEGIN"));
}

TEST(ScoreFilter, ProposesSmallFrequentRegions) {
  EXPECT_EQ(proposal({}),
            "SCOREP_REGION_NAMES_BEGIN\n"
            "  EXCLUDE\n"
            "    # type=USR max_buf= 24,000,000 visits=1,000,000, time=   0.25s (  5.0%), "
            "time/visit=    0.25us\n"
            "    # name='f x'\n"
            "    # file='f x.c'\n"
            "    MANGLED _f\\ x\n"
            "\n"
            "SCOREP_REGION_NAMES_END\n");
}

// The functions that the proposal leaves out, by mangled name.
std::string proposed(const FilterGeneration& wanted) {
  const FilterFile filter = FilterFile::parse(proposal(wanted), "proposal");
  std::string names;
  for (const auto& one : scored_profile().regions) {
    if (filter.excluded(one.file, one.name, one.mangled_name)) names += one.name + ",";
  }
  return names;
}

TEST(ScoreFilter, FollowsItsOptions) {
  FilterGeneration any;
  any.buffer_percent = 0;
  any.time_per_visit = 1e9;
  EXPECT_EQ(proposed(any), "f x,g,");
  FilterGeneration com = any;
  com.user = false;
  com.com = true;
  EXPECT_EQ(proposed(com), "h,");
  FilterGeneration often = any;
  often.visits = 11;
  EXPECT_EQ(proposed(often), "f x,");
  FilterGeneration large = any;
  large.buffer_megabytes = 1;
  EXPECT_EQ(proposed(large), "f x,");
  FilterGeneration all;
  all.everything = true;
  EXPECT_EQ(proposed(all), "f x,g,h,");
}

TEST(ScoreFilter, KeepsWhatWasLeftOutBefore) {
  const FilterFile old =
      FilterFile::parse("SCOREP_REGION_NAMES_BEGIN EXCLUDE g SCOREP_REGION_NAMES_END", "old");
  const std::string text = proposal({}, &old);
  const std::size_t comment = text.find("# left out already by old.filter");
  EXPECT_LT(text.find("MANGLED _f"), comment);
  EXPECT_GT(text.find("MANGLED _g"), comment);
}

TEST(ScoreFilter, DoesNotOverwriteAnother) {
  const test::TempDirectory directory;
  ScoreOptions options;
  options.generation = FilterGeneration{};
  const auto path = write_filter(directory.path(), options, "one");
  EXPECT_EQ(path.filename(), "initial_scorep.filter");
  write_filter(directory.path(), options, "two");
  EXPECT_EQ(text_of(path), "two");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    const std::string name = entry.path().filename();
    ++files;
    if (name != "initial_scorep.filter") {
      EXPECT_TRUE(name.starts_with("initial_scorep.filter_20")) << name;
      EXPECT_EQ(text_of(entry.path()), "one");
    }
  }
  EXPECT_EQ(files, 2u);
}

}  // namespace
}  // namespace timeloom::tools
