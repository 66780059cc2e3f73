// A test program that runs beside the tests and can be killed.
#pragma once

#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace timeloom::test {

class Child {
 public:
  explicit Child(std::vector<std::string> command) {
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (::posix_spawn(&process_, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) {
      throw std::runtime_error("cannot start " + command[0]);
    }
  }
  ~Child() {
    if (process_ != 0) end();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Kills it at an arbitrary instruction.
  void end() {
    ::kill(process_, SIGKILL);
    wait();
  }
  // The exit status; -1 when it was ended by a signal.
  int wait() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  bool running() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
  }

 private:
  pid_t process_ = 0;
};

// Counters in a file that two programs map.
class SharedCounters {
 public:
  static constexpr std::size_t kCount = 16;
  explicit SharedCounters(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "a+");
    if (file == nullptr) throw std::runtime_error("cannot open " + path);
    if (::ftruncate(::fileno(file), kSize) != 0) throw std::runtime_error("cannot size " + path);
    data_ = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, ::fileno(file), 0);
    std::fclose(file);
    if (data_ == MAP_FAILED) throw std::runtime_error("cannot map " + path);
  }
  ~SharedCounters() { ::munmap(data_, kSize); }
  SharedCounters(const SharedCounters&) = delete;
  SharedCounters& operator=(const SharedCounters&) = delete;

  std::atomic<std::uint64_t>& operator[](std::size_t i) const {
    return static_cast<std::atomic<std::uint64_t>*>(data_)[i];
  }

 private:
  static constexpr std::size_t kSize = 4096;
  void* data_;
};

}  // namespace timeloom::test
