// Names of functions as Omnitrace's Python profiling makes them: the bare name, with the
// arguments, the file and the line where these are asked for (the setting label).
//
//   fib    fib(n=5):10    [fib][app.py]    [fib(n=5)][/home/me/app.py:10]
//
// Plain values; label_of() may be called from any thread, the other functions need the GIL.
#pragma once

#include <string>
#include <string_view>

#include "core/definitions.hpp"
#include "python/interpreter/compat_frame.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

struct LabelParts {
  bool arguments = false;
  bool file = false;
  bool line = false;
  bool path = false;       // in place of the name of the file
  bool qualified = false;  // Class.method in place of method
  friend bool operator==(const LabelParts&, const LabelParts&) = default;
};

// Throws Error for an unknown part.
LabelParts label_parts(const Settings& settings);

// The label of a region whose name is the name to show.
std::string label_of(const LabelParts& parts, const Region& region,
                     std::string_view arguments = {});

// The arguments of a call that begins, as inspect.formatargvalues() has them: (n=5, *rest=()).
// Runs their __repr__, unrecorded; empty when one of them raises.
std::string arguments_of(InterpreterFrame* frame) noexcept;

}  // namespace timeloom::python
