// Failures to write give an Error of one line that names the path.

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <functional>

#include "core/error.hpp"
#include "sample_run.hpp"

namespace timeloom::otf2 {

namespace {

// In a child whose files cannot grow beyond `limit` bytes, as on a full disk. Returns the error, ""
// if there was none.
std::string write_with_limit(const Story& run, const std::filesystem::path& directory,
                             rlim_t limit) {
  int pipe[2];
  if (::pipe(pipe) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &small);
    std::string message;
    try {
      write(run, directory);
    } catch (const Error& error) {
      message = error.what();
    } catch (const std::exception& error) {
      message = std::string("not an Error: ") + error.what();
    }
    ::_exit(::write(pipe[1], message.data(), message.size()) < 0 ? 1 : 0);
  }
  ::close(pipe[1]);
  std::string message(4096, '\0');
  const ssize_t size = ::read(pipe[0], message.data(), message.size());
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) return "the child ended with status " + std::to_string(status);
  message.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return message;
}

std::uintmax_t largest_file(const std::filesystem::path& directory) {
  std::uintmax_t largest = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) largest = std::max(largest, entry.file_size());
  }
  return largest;
}

// Small, so that every limit can be tried.
Story single_run() {
  Story run = sample_run();
  run.definitions.locations.resize(1);
  run.definitions.markers.resize(1);
  run.events.erase(std::next(run.events.begin()), run.events.end());
  return run;
}

TEST(WriteFailure, FilesThatCannotGrow) {
  const Story run = single_run();
  const TemporaryDirectory whole;
  ASSERT_EQ(write_with_limit(run, whole.path(), RLIM_INFINITY), "");
  const std::uintmax_t largest = largest_file(whole.path());
  for (rlim_t limit = 0; limit < largest; limit += 17) {
    const TemporaryDirectory directory;
    const std::string message = write_with_limit(run, directory.path(), limit);
    EXPECT_TRUE(message.starts_with("cannot write the trace in " + directory.path().string()))
        << limit << ": " << message;
    EXPECT_NE(message.find("make room"), std::string::npos) << limit << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(directory.path() / "traces.otf2")) << limit;
  }
  const TemporaryDirectory again;
  EXPECT_EQ(write_with_limit(run, again.path(), largest), "");
}

TEST(WriteFailure, WhileChunksAreWritten) {
  Story run = single_run();
  std::vector<Event>& events = run.events[LocationId{0}];
  events.clear();
  for (std::uint64_t i = 0; i < 1'200'000; ++i) {
    events.push_back(event(1000 + i, i % 2 == 0 ? EventKind::kEnter : EventKind::kLeave, 1));
  }
  for (const rlim_t limit : {1000u, 4u << 20, (4u << 20) + 1, 7u << 20, (13u << 20) + 1000}) {
    const TemporaryDirectory directory;
    const std::string message = write_with_limit(run, directory.path(), limit);
    EXPECT_NE(message.find("make room"), std::string::npos) << limit << ": " << message;
    EXPECT_FALSE(std::filesystem::exists(directory.path() / "traces.otf2")) << limit;
  }
}

std::string message_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The medium, or another process, has changed a chunk before the file is finished.
TEST(WriteFailure, AFileThatDoesNotHoldWhatWasWritten) {
  std::vector<Event> events;
  for (std::uint64_t i = 0; i < 600'000; ++i) {
    events.push_back(event(1000 + i, i % 2 == 0 ? EventKind::kEnter : EventKind::kLeave, 1));
  }
  for (const std::streamoff changed : {std::streamoff{-1}, std::streamoff{5000},
                                       std::streamoff{5004}, std::streamoff{1'000'003}}) {
    const TemporaryDirectory directory;
    const Story run = single_run();
    const auto sink = create(directory.path());
    sink->begin(run.definitions);
    const auto location = sink->open_location(run.definitions.locations[0]);
    location->consume(events);
    if (changed >= 0) {
      std::fstream file(directory.path() / "traces" / "0.evt",
                        std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(changed);
      const int byte = file.get();
      file.seekp(changed);
      file.put(static_cast<char>(byte ^ 1));
    }
    const std::string message = message_of([&] { location->finish(); });
    EXPECT_EQ(message == "no error", changed < 0) << changed << ": " << message;
  }
}

TEST(WriteFailure, AnArchiveIsThereAlready) {
  const TemporaryDirectory directory;
  write(sample_run(), directory.path());
  const std::string message = message_of([&] { create(directory.path()); });
  EXPECT_EQ(message, "cannot write the trace in " + directory.path().string() + ": " +
                         (directory.path() / "traces.otf2").string() +
                         " exists already; remove it first [TL317]");
}

TEST(WriteFailure, WhereNothingCanBeMade) {
  const std::string message = message_of([] { create("/proc/self/fdinfo")->begin({}); });
  EXPECT_TRUE(message.starts_with("cannot write the trace in /proc/self/fdinfo: ")) << message;
}

TEST(WriteFailure, TimeThatGoesBack) {
  const TemporaryDirectory directory;
  Story run = single_run();
  const auto sink = create(directory.path());
  sink->begin(run.definitions);
  const auto location = sink->open_location(run.definitions.locations[0]);
  const std::vector<Event> events = {event(1000, EventKind::kEnter, 0),
                                     event(999, EventKind::kLeave, 0)};
  const std::string message = message_of([&] { location->consume(events); });
  EXPECT_NE(message.find("location 'MainThread'"), std::string::npos) << message;
  EXPECT_NE(message.find("999 < 1000"), std::string::npos) << message;
}

TEST(WriteFailure, ReferencesToNothing) {
  const TemporaryDirectory directory;
  const Story run = single_run();
  const auto sink = create(directory.path());
  sink->begin(run.definitions);
  const auto location = sink->open_location(run.definitions.locations[0]);
  using enum EventKind;
  for (const Event& wrong : {event(1000, kParameterString, 2, 99), event(1000, kMetric, 99),
                             event(1000, kProgramBegin, 99)}) {
    const std::string message = message_of([&] { location->consume({&wrong, 1}); });
    EXPECT_NE(message.find("99, which is not defined [TL316]"), std::string::npos) << message;
  }
}

}  // namespace

}  // namespace timeloom::otf2
