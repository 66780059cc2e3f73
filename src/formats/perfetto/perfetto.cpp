#include "formats/perfetto/perfetto.hpp"

#include <array>

#include "formats/perfetto/shared.hpp"

namespace timeloom::perfetto {

namespace {

class PerfettoRun : public RunSink {
 public:
  PerfettoRun(const Definitions& definitions, exchange::MessageNumbers messages,
              exchange::NumberedArrows arrows, GpuWorks works, const exchange::Options& options,
              exchange::Destination& out)
      : shared_(definitions, std::move(messages), std::move(arrows), std::move(works),
                options.functions, out) {
    shared_.samples = options.samples;
  }
  void begin(const Definitions&) override {
    shared_.out.write(describe(shared_));
    shared_.out.write(describe_markers(shared_));
  }
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    const auto device = shared_.works.device_of(shared_.tracks.index_of(location.id));
    return device ? write_stream(shared_, location, *device) : write_location(shared_, location);
  }
  void finish() override { shared_.ordered.end(); }

 private:
  Shared shared_;
};

void write_events(RunSource& run, const exchange::Options& options, exchange::Destination& out) {
  PerfettoRun sink(run.definitions(), exchange::number_messages(run, options.threads),
                   exchange::number_arrows(run, options), GpuWorks(run, options.threads), options,
                   out);
  const std::array<RunSink*, 1> sinks = {&sink};
  run.replay(sinks, options.threads);
}

}  // namespace

const exchange::Format kFormat = {
    .name = "perfetto",
    .suffix = "pftrace",
    .opened_by = "https://ui.perfetto.dev",
    .of_events = write_events,
    .text = false,
    .samples = true,
};

}  // namespace timeloom::perfetto
