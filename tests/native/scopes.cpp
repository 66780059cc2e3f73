// Regions as scopes, in a loop and left by an exception.
#include <stdexcept>
#include <thread>

#include "timeloom/timeloom.h"

namespace {

void step(int i) {
  TIMELOOM_SCOPE("step");
  if (i == 1) throw std::runtime_error("left early");
  TIMELOOM_SCOPE("rest of step");
}

}  // namespace

int main() {
  TIMELOOM_SCOPE("main");
  for (int i = 0; i < 3; ++i) {
    try {
      step(i);
    } catch (const std::runtime_error&) {
      timeloom_marker("caught");
    }
  }
  std::thread([] { step(0); }).join();
}
