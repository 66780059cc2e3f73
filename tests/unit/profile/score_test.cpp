#include "profile/score.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "profile/score_events.hpp"

namespace timeloom::profile {
namespace {

using Profile = ScoreProfile;

std::uint64_t width_of(const char* event, std::map<std::string, std::uint64_t> counts) {
  return EventSizes(std::move(counts)).of(event);
}

TEST(EventSizes, AreThoseOfOtf2) {
  const EventSizes unknown({});
  const std::vector<std::pair<const char*, std::uint64_t>> expected = {
      {"Enter", 6},
      {"Leave", 6},
      {"BufferFlush", 10},
      {"MeasurementOnOff", 3},
      {"Metric", 18},
      {"ParameterString", 12},
      {"ParameterInt", 16},
      {"ThreadCreate", 16},
      {"ThreadWait", 16},
      {"ThreadAcquireLock", 13},
      {"ThreadFork", 8},
      {"ThreadJoin", 3},
      {"MpiSend", 26},
      {"MpiIsend", 35},
      {"MpiIsendComplete", 10},
      {"MpiCollectiveBegin", 2},
      {"MpiCollectiveEnd", 31},
      {"NonBlockingCollectiveRequest", 11},
      {"NonBlockingCollectiveComplete", 40},
      {"IoCreateHandle", 18},
      {"IoDestroyHandle", 7},
      {"IoDuplicateHandle", 17},
      {"IoSeek", 26},
      {"IoDeleteFile", 8},
      {"IoOperationBegin", 31},
      {"IoOperationComplete", 25},
      {"IoAcquireLock", 8},
      {"ProgramBegin", 17},
      {"ProgramEnd", 11},
      {"CallingContextEnter", 12},
      {"CallingContextLeave", 7},
      {"CallingContextSample", 17}};
  for (const auto& [event, bytes] : expected) EXPECT_EQ(unknown.of(event), bytes) << event;
  EXPECT_EQ(unknown.of("ProgramBegin", 0), 12u);
  EXPECT_EQ(unknown.of("Metric", 2), 28u);
  EXPECT_EQ(unknown.of("NoSuchEvent"), 0u);
}

TEST(EventSizes, GrowWithTheNumberOfDefinitions) {
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected = {
      {0, 2},     {1, 2},     {2, 3},       {256, 3},           {257, 4},
      {65536, 4}, {65537, 5}, {1 << 24, 5}, {(1 << 24) + 1, 6}, {std::uint64_t{1} << 40, 6}};
  for (const auto& [count, bytes] : expected) {
    EXPECT_EQ(width_of("Enter", {{"Region", count}}), bytes) << count;
  }
  EXPECT_EQ(width_of("IoDuplicateHandle", {{"IoHandle", 2}}), 11u);
}

// The output of otf2-estimator: "<event> <bytes>" for each "get <event>".
std::map<std::string, std::uint64_t> estimated(const std::string& commands) {
  const std::string command = "printf '" + commands + "exit\\n' | otf2-estimator 2>/dev/null";
  std::map<std::string, std::uint64_t> sizes;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return sizes;
  char line[200];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    const std::string text(line);
    const std::size_t blank = text.find_last_of(' ');
    if (blank == std::string::npos) continue;
    sizes[text.substr(0, blank)] = std::stoull(text.substr(blank + 1));
  }
  pclose(pipe);
  return sizes;
}

TEST(EventSizes, AreThoseOfOtf2Estimator) {
  const std::vector<const char*> events = {"Enter",
                                           "Leave",
                                           "BufferFlush",
                                           "MeasurementOnOff",
                                           "ParameterInt",
                                           "ParameterString",
                                           "ThreadCreate",
                                           "ThreadBegin",
                                           "ThreadWait",
                                           "ThreadEnd",
                                           "ThreadAcquireLock",
                                           "ThreadReleaseLock",
                                           "ThreadFork",
                                           "ThreadJoin",
                                           "ThreadTeamBegin",
                                           "ThreadTeamEnd",
                                           "ThreadTaskCreate",
                                           "ThreadTaskSwitch",
                                           "ThreadTaskComplete",
                                           "MpiSend",
                                           "MpiRecv",
                                           "MpiIsend",
                                           "MpiIrecv",
                                           "MpiIsendComplete",
                                           "MpiIrecvRequest",
                                           "MpiCollectiveBegin",
                                           "MpiCollectiveEnd",
                                           "NonBlockingCollectiveRequest",
                                           "NonBlockingCollectiveComplete",
                                           "IoCreateHandle",
                                           "IoDestroyHandle",
                                           "IoDuplicateHandle",
                                           "IoSeek",
                                           "IoDeleteFile",
                                           "IoOperationBegin",
                                           "IoOperationComplete",
                                           "IoOperationTest",
                                           "IoOperationIssued",
                                           "IoOperationCancelled",
                                           "IoAcquireLock",
                                           "IoReleaseLock",
                                           "IoTryLock",
                                           "ProgramEnd",
                                           "CallingContextEnter",
                                           "CallingContextLeave",
                                           "CallingContextSample"};
  for (const std::uint64_t count : {0, 1, 2, 300, 70000}) {
    std::map<std::string, std::uint64_t> counts;
    std::string commands;
    for (const char* name : {"Region", "Metric", "Parameter", "String", "Comm", "IoHandle",
                             "IoFile", "CallingContext", "InterruptGenerator"}) {
      counts[name] = count;
      commands += std::string("set ") + name + " " + std::to_string(count) + "\\n";
    }
    for (const char* event : events) commands += std::string("get ") + event + "\\n";
    commands += "get Metric 4\\nget ProgramBegin 2\\n";
    const auto sizes = estimated(commands);
    if (sizes.empty()) GTEST_SKIP() << "otf2-estimator is not installed";
    const EventSizes ours(counts);
    for (const char* event : events) {
      ASSERT_TRUE(sizes.contains(event)) << event;
      EXPECT_EQ(ours.of(event), sizes.at(event)) << event << " " << count;
    }
    EXPECT_EQ(ours.of("Metric", 4), sizes.at("Metric 4"));
    EXPECT_EQ(ours.of("ProgramBegin", 2), sizes.at("ProgramBegin 2"));
  }
}

Profile::Region region(const std::string& name, const std::string& paradigm = "user") {
  return {name, name, "", paradigm, false, {}};
}

std::uint64_t per_visit(const Profile::Region& one, bool sampled = false,
                        std::uint64_t counters = 0) {
  return bytes_per_visit(one, EventSizes({{"Region", 100}, {"Metric", 8}}), sampled, counters,
                         false);
}

std::uint64_t per_visit_of_ours(const char* name) {
  return bytes_per_visit(region(name, "mpi"), EventSizes({{"Region", 100}, {"Metric", 8}}), false,
                         0, true);
}

TEST(BytesPerVisit, AreThoseOfScorepScore) {
  EXPECT_EQ(per_visit(region("f", "compiler")), 24u);
  EXPECT_EQ(per_visit(region("pthread_mutex_unlock", "pthread")), 68u);
  EXPECT_EQ(per_visit(region("pthread_create", "pthread")), 99u);
  EXPECT_EQ(per_visit(region("open", "io")), 67u);
  EXPECT_EQ(per_visit(region("read", "io")), 98u);
  EXPECT_EQ(per_visit(region("lseek", "io")), 59u);
  EXPECT_EQ(per_visit(region("unlink", "io")), 41u);
  EXPECT_EQ(per_visit(region("close", "io")), 24u);
  EXPECT_EQ(per_visit(region("MEASUREMENT OFF")), 24u);
  EXPECT_EQ(per_visit(region("TRACE BUFFER FLUSH", "measurement")), 19u);
  EXPECT_EQ(per_visit(region("MPI_Send", "mpi")), 59u);
  EXPECT_EQ(per_visit(region("MPI_Recv", "mpi")), 59u);
  EXPECT_EQ(per_visit(region("MPI_Isend", "mpi")), 87u);
  EXPECT_EQ(per_visit(region("MPI_Allreduce", "mpi")), 66u);
  EXPECT_EQ(per_visit(region("MPI_Ibcast", "mpi")), 24u + 11 + 40 + 9);
  EXPECT_EQ(per_visit(region("MPI_Sendrecv", "mpi")), 24u + 2 * 35);
  for (const char* name : {"MPI_Send_c", "MPI_Mrecv", "MPI_Mrecv_c", "MPI_Imrecv", "MPI_Recv_init",
                           "MPI_Isendrecv", "MPI_Allreduce_c"}) {
    EXPECT_EQ(per_visit(region(name, "mpi")), 24u) << name;
  }
  EXPECT_EQ(per_visit(region("!$omp parallel @a.c:3", "openmp")), 24u + 17 + 12 + 2 * 16);
  EXPECT_EQ(per_visit(region("!$omp task @a.c:9", "openmp")), 24u + 3 * 17);
  EXPECT_EQ(per_visit(region("!$omp implicit barrier @a.c:3", "openmp")), 24u);
  EXPECT_EQ(per_visit(region("f"), false, 2), 24u + 59);
  EXPECT_EQ(per_visit(region("f", "sampling")), 0u);
  EXPECT_EQ(per_visit(region("instance=3")), 0u);
  EXPECT_EQ(per_visit(region("instance=3"), false, 2), 0u);
  EXPECT_EQ(per_visit(region("f"), true), 12u + 9 + 7 + 9);
}

TEST(BytesPerVisit, OfOurRunsAreOfAllThatIsRecorded) {
  EXPECT_EQ(per_visit_of_ours("MPI_Send"), 59u);
  EXPECT_EQ(per_visit_of_ours("MPI_Send_c"), 59u);
  EXPECT_EQ(per_visit_of_ours("MPI_Mrecv"), 59u);
  EXPECT_EQ(per_visit_of_ours("MPI_Mrecv_c"), 59u);
  EXPECT_EQ(per_visit_of_ours("MPI_Imrecv"), per_visit_of_ours("MPI_Irecv"));
  EXPECT_EQ(per_visit_of_ours("MPI_Recv_init"), per_visit_of_ours("MPI_Irecv"));
  EXPECT_EQ(per_visit_of_ours("MPI_Isendrecv_c"),
            per_visit_of_ours("MPI_Isend") + per_visit_of_ours("MPI_Irecv") - 24);
  EXPECT_EQ(per_visit_of_ours("MPI_Allreduce_c"), 66u);
}

TEST(BytesPerVisit, OfOurRunsIncludeRegionsOfTheMeasurement) {
  const EventSizes sizes({{"Region", 100}, {"Metric", 8}});
  Profile::Region one = region("unmeasured", "measurement");
  EXPECT_EQ(bytes_per_visit(one, sizes, false, 0, true), 24u);
  one.arguments = 0;  // the program itself, which no event enters
  EXPECT_EQ(bytes_per_visit(one, sizes, false, 0, true), 0u);
}

TEST(BytesPerVisit, CountTheProgramAtTheRoot) {
  Profile::Region program = region("python", "measurement");
  EXPECT_EQ(per_visit(program), 0u);
  program.root = true;
  EXPECT_EQ(per_visit(program), 0u);
  program.arguments = 0;
  EXPECT_EQ(per_visit(program), 41u);
  program.arguments = 2;
  EXPECT_EQ(per_visit(program), 51u);
  program.paradigm = "cuda";
  EXPECT_EQ(per_visit(program), 24u);
}

// One line for each call path: its region and the index of its parent.
Profile profile_of(std::vector<Profile::Region> regions,
                   const std::vector<std::pair<std::uint32_t, std::uint32_t>>& paths) {
  Profile profile;
  profile.regions = std::move(regions);
  profile.processes = 1;
  profile.metrics = 8;
  profile.most_locations = 1;
  for (const auto& [region, parent] : paths) {
    profile.call_paths.push_back({region, parent, 0, 0});
    profile.values.push_back({1, 0, 1.0});
  }
  return profile;
}

constexpr std::uint32_t kNone = UINT32_MAX;

std::string types(const Score& score) {
  std::string text;
  for (const ScoreRecord& one : score.regions) text += std::string(name_of(one.type)) + " ";
  return text;
}

TEST(Score, OfAnotherToolsProfileGoesByItsOwnRules) {
  Profile profile = profile_of({region("MPI_Mrecv", "mpi"), region("MPI_Send_c", "mpi")},
                               {{0, kNone}, {1, kNone}});
  const auto bytes = [&] {
    std::vector<std::uint64_t> result;
    for (const ScoreRecord& one : score(profile, 0, nullptr).regions) {
      result.push_back(one.bytes.front());
    }
    return result;
  };
  EXPECT_EQ(bytes(), (std::vector<std::uint64_t>{24, 24}));
  profile.ours = true;
  EXPECT_EQ(bytes(), (std::vector<std::uint64_t>{59, 59}));
}

TEST(Score, CountsTheEventsOfRegionsWithoutVisits) {
  Profile profile = profile_of({region("f (forked)"), region("g")}, {{0, kNone}, {1, 0}});
  profile.processes = 2;  // the second one was forked twice in f
  profile.values = {{0, 0, 0, 0}, {0, 0, 2.0, 2}, {1, 0, 1.0}, {0, 0, 0}};
  const Score result = score(profile, 0, nullptr);
  EXPECT_EQ(result.regions[0].bytes, (std::vector<std::uint64_t>{0, 48}));
  EXPECT_EQ(result.regions[0].visits, 0u);
  EXPECT_EQ(result.types[0].bytes, (std::vector<std::uint64_t>{24, 48}));
}

TEST(RegionTypes, FollowFromTheParadigm) {
  std::vector<Profile::Region> regions;
  for (const char* paradigm :
       {"user",     "user:m", "compiler",     "measurement", "mpi",     "openmp", "shmem",
        "pthread",  "cuda",   "opencl",       "openacc",     "memory",  "io",     "io:posix",
        "kokkos:x", "hip",    "libwrap:fftw", "sampling",    "libwrap", "ion",    "openmp:OMP"}) {
    regions.push_back(region("f", paradigm));
  }
  for (const char* name : {"MPI_Send", "!$omp for", "shmem_put", "pthread_join", "f"}) {
    regions.push_back(region(name, "unknown"));
  }
  EXPECT_EQ(types(score(profile_of(regions, {}), 0, nullptr)),
            "USR USR USR SCOREP MPI OMP SHMEM PTHREAD CUDA OPENCL OPENACC MEMORY IO IO KOKKOS HIP "
            "LIB USR USR USR OMP MPI OMP SHMEM PTHREAD USR ");
}

TEST(RegionTypes, BecomeComAboveCommunication) {
  const std::vector<Profile::Region> regions = {region("main"), region("comm"),
                                                region("MPI_Send", "mpi"), region("leaf"),
                                                region("prog", "measurement")};
  // prog -> main -> comm -> MPI_Send; main -> leaf; comm elsewhere without MPI.
  EXPECT_EQ(types(score(profile_of(regions, {{4, kNone}, {0, 0}, {1, 1}, {2, 2}, {3, 1}, {1, 1}}),
                        0, nullptr)),
            "COM COM MPI USR SCOREP ");
  // Score-P's own functions below do not count.
  EXPECT_EQ(types(score(profile_of(regions, {{0, kNone}, {4, 0}}), 0, nullptr)),
            "USR USR MPI USR SCOREP ");
}

TEST(Score, AddsUpByTypeRegionAndProcess) {
  Profile profile = profile_of({region("f"), region("g")}, {{0, kNone}, {1, 0}});
  profile.processes = 2;
  profile.values = {{10, 0, 1.0}, {20, 0, 2.0}, {5, 0, 0.5}, {0, 0, 9.0}};
  const Score result = score(profile, 0, nullptr);
  EXPECT_EQ(result.regions[0].bytes, (std::vector<std::uint64_t>{240, 480}));
  EXPECT_EQ(result.regions[1].bytes, (std::vector<std::uint64_t>{120, 0}));
  EXPECT_EQ(result.types[0].max_bytes(), 480u);
  EXPECT_EQ(result.types[0].total_bytes(), 840u);
  EXPECT_EQ(result.types[0].visits, 35u);
  EXPECT_EQ(result.types[0].time, 3.5);  // not the time without visits
  EXPECT_EQ(result.regions[0].time_per_visit(), 100000);
}

TEST(Score, ChargesParametersToTheirCallPath) {
  Profile profile = profile_of({region("f")}, {{0, kNone}, {0, kNone}});
  profile.definitions["Parameter"] = 6;
  profile.call_paths[1].numbers = 2;
  profile.call_paths[1].texts = 1;
  EXPECT_EQ(score(profile, 0, nullptr).regions[0].bytes[0], 22u + 22 + 2 * 22 + 2 + 2 + 5 + 9);
}

TEST(Score, ChargesExecutionsToTheDynamicRegion) {
  Profile profile =
      profile_of({region("loop"), region("instance=1"), region("f")}, {{0, kNone}, {1, 0}, {2, 1}});
  profile.values[0] = {0, 0, 0};
  profile.values[1] = {3, 7, 2.0};
  const Score result = score(profile, 0, nullptr);
  EXPECT_EQ(result.regions[0].bytes[0], 72u);
  EXPECT_EQ(result.regions[0].visits, 3u);
  EXPECT_EQ(result.regions[0].hits, 0u);
  EXPECT_FALSE(result.regions[1].evaluated);
}

TEST(Score, CountsSamples) {
  Profile profile = profile_of({region("f", "sampling")}, {{0, kNone}});
  profile.sampled = true;
  profile.values[0] = {0, 4, 1.0};
  EXPECT_EQ(score(profile, 0, nullptr).types[0].total_bytes(), 4u * 26);
}

TEST(Score, LeavesOutWhatAFilterExcludes) {
  const Profile profile = profile_of({region("f"), region("g"), region("MPI_Send", "mpi")},
                                     {{0, kNone}, {1, kNone}, {2, kNone}});
  const FilterFile filter = FilterFile::parse(
      "SCOREP_REGION_NAMES_BEGIN EXCLUDE * INCLUDE g SCOREP_REGION_NAMES_END", "f");
  const Score result = score(profile, 0, &filter);
  EXPECT_TRUE(result.regions[0].filtered);
  EXPECT_FALSE(result.regions[1].filtered);
  EXPECT_FALSE(result.regions[2].filtered);
  EXPECT_EQ(result.types[0].total_bytes(), 24u + 24 + 59);
  EXPECT_EQ(result.filtered_types[0].total_bytes(), 24u + 59);
  EXPECT_EQ(result.filtered_types[static_cast<std::size_t>(RegionType::kFiltered)].visits, 1u);
}

TEST(Score, NeedsMemoryForEachLocation) {
  Profile profile;
  profile.most_locations = 3;
  EXPECT_EQ(memory_requirement(profile, 0), std::uint64_t{8} << 20);
  EXPECT_EQ(memory_requirement(profile, 100 << 20), std::uint64_t{106} << 20);
}

}  // namespace
}  // namespace timeloom::profile
