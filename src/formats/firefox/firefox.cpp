#include "formats/firefox/firefox.hpp"

#include <array>

#include "exchange/format_text.hpp"
#include "formats/firefox/firefox_thread.hpp"

namespace timeloom::firefox {

using exchange::append_json;
using exchange::Destination;
using exchange::Options;

namespace {

class FirefoxRun : public RunSink {
 public:
  FirefoxRun(const Definitions& definitions, bool samples, Destination& out)
      : definitions_(definitions), tracks_(definitions), samples_(samples), out_(out) {}
  void begin(const Definitions&) override {}
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    std::string prefix = first_ ? "\n" : ",\n";
    first_ = false;
    return std::make_unique<ThreadSink>(definitions_, tracks_, location, out_, std::move(prefix),
                                        samples_);
  }
  void finish() override {}

 private:
  const Definitions& definitions_;
  exchange::Tracks tracks_;
  const bool samples_;
  Destination& out_;
  bool first_ = true;
};

std::string head(const Definitions& definitions, const Options& options) {
  std::string text = R"({"meta":{"interval":1,"startTime":)";
  const std::uint64_t begin = definitions.clock.realtime.value_or(0);
  exchange::append_number(text, begin / 1'000'000);
  text += R"(,"processType":0,"product":)";
  append_json(text, options.title);
  text += R"(,"importedFrom":)";
  append_json(text, options.creator);
  text += R"(,"stackwalk":0,"debug":false,"version":29,"preprocessedProfileVersion":48,)"
          R"("symbolicated":true,"categories":[)"
          R"({"name":"Other","color":"grey","subcategories":["Other"]},)"
          R"({"name":"Function","color":"blue","subcategories":["Other"]},)"
          R"({"name":"User region","color":"green","subcategories":["Other"]},)"
          R"({"name":"Measurement","color":"transparent","subcategories":["Other"]},)"
          R"({"name":"MPI","color":"orange","subcategories":["Other"]},)"
          R"({"name":"I/O","color":"brown","subcategories":["Other"]}],)"
          R"("markerSchema":[{"name":"Text","tooltipLabel":"{marker.name}",)"
          R"("tableLabel":"{marker.name} {marker.data.name}","chartLabel":"{marker.data.name}",)"
          R"("display":["marker-chart","marker-table"],"data":[{"key":"name","label":"Details",)"
          R"("format":"string","searchable":true}]}]},"libs":[],"pages":[],"threads":[)";
  return text;
}

void write_events(RunSource& run, const Options& options, Destination& out) {
  out.write(head(run.definitions(), options));
  FirefoxRun sink(run.definitions(), options.samples, out);
  const std::array<RunSink*, 1> sinks = {&sink};
  run.replay(sinks, 1);  // one location after the other
  out.write("\n]}\n");
}

}  // namespace

const exchange::Format kFormat = {
    .name = "firefox",
    .suffix = "firefox.json",
    .opened_by = "https://profiler.firefox.com",
    .of_events = write_events,
    .samples = true,
};

}  // namespace timeloom::firefox
