#include "os/signal_name.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>

namespace timeloom::os {
namespace {

// This machine's glibc has the function that older versions lack.
TEST(SignalName, IsThatOfGlibc) {
  for (int signal = 0; signal <= SIGRTMAX + 1; ++signal) {
    const char* name = sigabbrev_np(signal);
    const std::string expected =
        name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
    EXPECT_EQ(signal_name(signal), expected);
  }
}

}  // namespace
}  // namespace timeloom::os
