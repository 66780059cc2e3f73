#include "tools/convert/convert_formats.hpp"

#include <array>

#include "formats/arrow/arrow.hpp"
#include "formats/callgrind/callgrind.hpp"
#include "formats/chrome/chrome.hpp"
#include "formats/collapsed/collapsed.hpp"
#include "formats/csv/csv.hpp"
#include "formats/firefox/firefox.hpp"
#include "formats/json/json.hpp"
#include "formats/perfetto/perfetto.hpp"
#include "formats/pprof/pprof.hpp"
#include "formats/pstats/pstats.hpp"
#include "formats/speedscope/speedscope.hpp"
#include "tools/convert/convert_otf2.hpp"
#include "tools/door_tools.hpp"

namespace timeloom::tools {

namespace {

// A new format is its folder, its line here and its name in USES of CMakeLists.txt.
const std::array kFormats = {
    &perfetto::kFormat, &chrome::kFormat,    &speedscope::kFormat, &collapsed::kFormat,
    &pprof::kFormat,    &pstats::kFormat,    &csv::kFormat,        &json::kFormat,
    &arrow::kFormat,    &callgrind::kFormat, &firefox::kFormat,    &kOtf2Format,
};

}  // namespace

std::vector<const exchange::Format*> convert_formats() {
  std::vector<const exchange::Format*> formats(kFormats.begin(), kFormats.end());
  for (const DoorTools* door : door_tools()) {
    formats.insert(formats.end(), door->formats.begin(), door->formats.end());
  }
  return formats;
}

}  // namespace timeloom::tools
