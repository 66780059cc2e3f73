#include "core/life.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <ctime>
#include <functional>

#include "../support/bytes.hpp"
#include "../support/temp_directory.hpp"
#include "core/checksum.hpp"
#include "core/heartbeat.hpp"
#include "os/process.hpp"

namespace timeloom {
namespace {

class LifeTest : public testing::Test {
 protected:
  std::string spool() const { return directory_.path().string(); }
  std::string life() const { return spool() + "/" + kLifeName; }

  // Maps the ring, as a recording process does, and owns it for as long as it lives.
  void map_ring() const {
    const int fd = ::open((spool() + "/" + kRingName).c_str(), O_RDWR | O_CREAT, 0666);
    ASSERT_EQ(::ftruncate(fd, 4096), 0);
    ASSERT_NE(::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0), MAP_FAILED);
    ::close(fd);
  }
  // The state of a process as others see it: while it does nothing after `begin`, and after its
  // end.
  std::pair<Alive, Alive> seen(const std::function<void()>& begin) const {
    std::array<int, 2> ready{}, end{};
    EXPECT_EQ(::pipe(ready.data()) + ::pipe(end.data()), 0);
    const pid_t child = ::fork();
    char byte = 0;
    if (child == 0) {
      begin();
      ::close(end[1]);
      const bool told = ::write(ready[1], &byte, 1) == 1;
      ::_exit(told && ::read(end[0], &byte, 1) == 0 ? 0 : 1);
    }
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    const Alive living = alive(spool());
    ::close(end[1]);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
    const Alive ended = alive(spool());  // its status has not been read yet
    ::waitpid(child, nullptr, 0);
    for (const int fd : {ready[0], ready[1], end[0]}) ::close(fd);
    return {living, ended};
  }

  test::TempDirectory directory_;
};

TEST_F(LifeTest, IsThatOfTheProcessWithoutAnyLock) {
  const auto [living, ended] = seen([&] {
    map_ring();
    EXPECT_EQ(write_life(spool()), 0);
  });
  EXPECT_EQ(living, Alive::kYes);
  EXPECT_EQ(ended, Alive::kNo);
  EXPECT_EQ(alive(spool()), Alive::kNo);
}

TEST_F(LifeTest, OfAProcessThatHasBecomeAnotherHasEnded) {
  const auto [living, ended] = seen([&] { EXPECT_EQ(write_life(spool()), 0); });
  EXPECT_EQ(living, Alive::kNo);  // its ring is not mapped any more
}

TEST_F(LifeTest, HasEndedWhereTheFileIsGone) { EXPECT_EQ(alive(spool()), Alive::kNo); }

TEST_F(LifeTest, IsNotKnownOfAnotherMachineOrContainer) {
  map_ring();
  ASSERT_EQ(write_life(spool()), 0);
  EXPECT_EQ(alive(spool()), Alive::kYes);
  const std::string sound = test::read_bytes(life());
  ASSERT_EQ(sound.size(), 52u);
  for (std::size_t at = 0; at < sound.size(); ++at) {
    std::string changed = sound;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    test::write_bytes(life(), changed);
    EXPECT_EQ(alive(spool()), Alive::kUnknown) << at;
  }
  os::ProcessIdentity process = os::this_process();
  process.boot[1] ^= 1;
  EXPECT_EQ(os::look_for(process), os::Found::kElsewhere);
  process = os::this_process();
  process.pid_namespace ^= 1;
  EXPECT_EQ(os::look_for(process), os::Found::kElsewhere);
  process = os::this_process();
  ++process.start;
  EXPECT_EQ(os::look_for(process), os::Found::kNo);
  EXPECT_EQ(os::look_for(os::this_process()), os::Found::kYes);
}

// As seen from another machine, which has another boot id.
TEST_F(LifeTest, OnAnotherMachineIsKnownByTheHeartbeat) {
  os::File file;
  ASSERT_EQ(write_life(spool(), &file), 0);
  begin_heartbeats(file);
  std::string bytes = test::read_bytes(life());
  ASSERT_EQ(bytes.substr(52), "beat");
  constexpr std::size_t kBoot = 32, kCheck = 48;
  bytes[kBoot] = static_cast<char>(bytes[kBoot] ^ 1);
  const std::uint32_t check = checksum(reinterpret_cast<const std::byte*>(bytes.data()), kCheck);
  std::memcpy(bytes.data() + kCheck, &check, sizeof check);
  const auto silent_for = [&](std::time_t seconds) {
    const timespec times[] = {{std::time(nullptr) - seconds, 0}, {std::time(nullptr) - seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, life().c_str(), times, 0), 0);
  };
  test::write_bytes(life(), bytes);
  EXPECT_EQ(alive(spool()), Alive::kYes);
  silent_for(kLongestSilence - 30);
  EXPECT_EQ(alive(spool()), Alive::kYes);
  silent_for(-3600);  // its clock is fast
  EXPECT_EQ(alive(spool()), Alive::kYes);
  silent_for(kLongestSilence + 30);
  EXPECT_EQ(alive(spool()), Alive::kNo);
  send_heartbeat(file);
  EXPECT_EQ(alive(spool()), Alive::kYes);
  test::write_bytes(life(), bytes.substr(0, 52));  // one that has no heartbeat
  EXPECT_EQ(alive(spool()), Alive::kUnknown);
}

// An attacker who may write into the spool replaces the heartbeat file by a file of the user.
TEST_F(LifeTest, BeatsInNoOtherFile) {
  os::File file;
  ASSERT_EQ(write_life(spool(), &file), 0);
  file.close();
  const std::string victim = directory_ / "victim";
  test::write_bytes(victim, "text");
  const timespec times[] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, victim.c_str(), times, 0), 0);
  for (const bool hard : {true, false}) {
    std::filesystem::remove(life());
    hard ? std::filesystem::create_hard_link(victim, life())
         : std::filesystem::create_symlink(victim, life());
    begin_heartbeats(file);
    send_heartbeat(file);
    struct stat status {};
    ASSERT_EQ(::stat(victim.c_str(), &status), 0);
    EXPECT_EQ(status.st_mtim.tv_sec, 1);
    EXPECT_EQ(test::read_bytes(victim), "text");
  }
}

}  // namespace
}  // namespace timeloom
