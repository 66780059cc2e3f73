// Writes the sample run, or with a second argument the run with teams, as an archive and prints its
// contents, one line each, so that other readers can be compared:
// region NAME FILE LINE        location NAME EVENTS       (fields between tabs)
// event LOCATION TIME KIND …   marker TIME TEXT

#include <iostream>

#include "core/error.hpp"
#include "team_run.hpp"

namespace {

using namespace timeloom;

std::string fields(const Event& one, const Definitions& all) {
  switch (one.kind) {
    case EventKind::kEnter: return "Enter\t" + all.regions.at(one.ref).name;
    case EventKind::kLeave: return "Leave\t" + all.regions.at(one.ref).name;
    case EventKind::kParameterInt:
      return "ParameterInt\t" + all.parameters.at(one.ref).name + "\t" +
             std::to_string(one.as_int());
    case EventKind::kParameterUint:
      return "ParameterUnsignedInt\t" + all.parameters.at(one.ref).name + "\t" +
             std::to_string(one.value);
    case EventKind::kParameterString:
      return "ParameterString\t" + all.parameters.at(one.ref).name + "\t" +
             all.strings.at(one.string().value());
    case EventKind::kMetric: {
      const Metric& metric = all.metrics.at(one.ref);
      std::ostringstream value;
      if (metric.type == MetricValueType::kInt64) value << one.as_int();
      if (metric.type == MetricValueType::kUint64) value << one.value;
      if (metric.type == MetricValueType::kDouble) value << one.as_double();
      return "Metric\t" + metric.name + "\t" + value.str();
    }
    case EventKind::kRecordingOff: return "MeasurementOnOff\tOFF";
    case EventKind::kRecordingOn: return "MeasurementOnOff\tON";
    case EventKind::kProgramBegin: return "ProgramBegin\t" + all.groups.at(one.ref).executable;
    case EventKind::kProgramEnd: return "ProgramEnd\t" + std::to_string(one.as_int());
    default: break;
  }
  return "?";
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2 && count != 3) {
    std::cerr << "usage: make_otf2_archive DIRECTORY [teams]\n";
    return 2;
  }
  try {
    const otf2::Story run = count == 3 ? otf2::team_run() : otf2::sample_run();
    otf2::write(run, arguments[1]);
    const Definitions& all = run.definitions;
    for (const Region& region : all.regions) {
      std::cout << "region\t" << region.name << "\t" << region.file << "\t" << region.first_line
                << "\n";
    }
    for (const Location& location : all.locations) {
      std::cout << "location\t" << location.name << "\t" << location.event_count << "\n";
    }
    for (const auto& [location, events] : run.events) {
      for (const Event& one : events) {
        std::cout << "event\t" << location.value() << "\t" << ticks(one.time) << "\t"
                  << fields(one, all) << "\n";
      }
    }
    for (const Marker& marker : all.markers) {
      std::cout << "marker\t" << ticks(marker.time) << "\t" << marker.text << "\n";
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
