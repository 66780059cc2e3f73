#include "python/interpreter/print_line.hpp"

#include "core/text/plain_text.hpp"
#include "python/interpreter/compat.hpp"

namespace timeloom::python {
namespace {

constinit std::string_view g_program_name = "timeloom";

}  // namespace

void print_line(const std::string& line) noexcept {
  PySys_FormatStderr("%s: %s\n", g_program_name.data(), printable(line).c_str());
}

void set_program_name(std::string_view name) noexcept { g_program_name = name; }
std::string_view program_name() noexcept { return g_program_name; }
std::string line_start() { return std::string(g_program_name) + ": "; }

}  // namespace timeloom::python
