// A program for the tests that kill it.
//
//   weave_victim record SPOOL COUNTERS   begins a spool and waits
//   weave_victim weave RUN COUNTERS      weaves a run; 0 done, 1 refused
// Counter 0 becomes 1 when it is at it.
#include <unistd.h>

#include <cstdio>

#include "../support/child.hpp"
#include "core/error.hpp"
#include "spool/writer.hpp"
#include "weave/run.hpp"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const timeloom::test::SharedCounters counters(argv[3]);
  const std::string mode = argv[1];
  try {
    if (mode == "record") {
      const auto writer = timeloom::spool::Writer::create(argv[2], {});
      counters[0] = 1;
      while (true) ::pause();
    }
    counters[0] = 1;
    timeloom::weave::WeaveOptions options;
    options.keep_spool = true;
    timeloom::weave::weave(argv[2], options);
    return 0;
  } catch (const timeloom::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
