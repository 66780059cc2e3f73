// The reason why the dynamic linker loads none of Timeloom's libraries into a program.
#pragma once

#include <string>

namespace timeloom::tools {

// "is linked statically" or "runs as another user"; empty: nothing is known to be in the way.
// `program` is a path; any file may be there. Any thread; throws std::bad_alloc.
std::string why_nothing_is_loaded(const std::string& program);

}  // namespace timeloom::tools
