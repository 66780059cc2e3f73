// Any bytes as a configuration file of Omnitrace: read, or refused with an Error. Settings
// that were read come back the same from the text that a run keeps of them.
//
// The first byte chooses the form: 0 lines, 1 JSON, otherwise XML.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "doors/omnitrace/settings/omnitrace_choices.hpp"
#include "doors/omnitrace/settings/omnitrace_config.hpp"
#include "doors/omnitrace/settings/omnitrace_settings.hpp"
#include "doors/omnitrace/settings/omnitrace_units.hpp"
#include "doors/omnitrace/settings/omnitrace_xml.hpp"

namespace timeloom {
namespace {

std::vector<ConfigLine> parsed(std::uint8_t form, std::string_view text) {
  if (form == 0) {
    return parse_omnitrace_config(text, "input", [](std::string_view name) {
      return name == "HOME" ? std::string("/home/me") : std::string();
    });
  }
  return form == 1 ? parse_omnitrace_json(text, "input") : parse_omnitrace_xml(text, "input");
}

template <typename Work>
void try_to(Work work) {
  try {
    work();
  } catch (const Error&) {
    // refused, with its reason
  }
}

void check_settings(const OmnitraceSettings& omnitrace) {
  const std::string text = omnitrace.as_text();
  if (OmnitraceSettings::from_text(text).as_text() != text) std::abort();
  try_to([&] {
    const TraceWindow window = trace_window(omnitrace);
    if (!(window.delay >= 0) || !(window.duration >= 0)) std::abort();
  });
  try_to([&] { static_cast<void>(categories_left_out(omnitrace)); });
  try_to([&] { static_cast<void>(unmet_requests(omnitrace)); });
  try_to([&] { static_cast<void>(time_unit(omnitrace)); });
  try_to([&] { static_cast<void>(memory_unit(omnitrace)); });
  try_to([&] {
    Settings settings;
    apply(omnitrace, settings);
  });
}

}  // namespace
}  // namespace timeloom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace timeloom;
  if (size == 0) return 0;
  try_to([&] {
    OmnitraceSettings omnitrace;
    for (const ConfigLine& line :
         parsed(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1})) {
      try_to([&] { omnitrace.set(line.key, line.value, line.origin); });
    }
    check_settings(omnitrace);
  });
  return 0;
}
