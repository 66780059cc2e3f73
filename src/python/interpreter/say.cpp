#include "python/interpreter/say.hpp"

#include "core/text/plain_text.hpp"
#include "python/interpreter/compat.hpp"

namespace timeloom::python {
namespace {

constinit std::string_view g_speaker = "timeloom";

}  // namespace

void say(const std::string& line) noexcept {
  PySys_FormatStderr("%s: %s\n", g_speaker.data(), printable(line).c_str());
}

void speak_as(std::string_view name) noexcept { g_speaker = name; }
std::string_view speaker() noexcept { return g_speaker; }
std::string line_start() { return std::string(g_speaker) + ": "; }

}  // namespace timeloom::python
