// The functions of engines (Dask's distributed, Ray) and of the libraries on which these run, which
// --engine-functions records. Needs the GIL; nothing throws.
#pragma once

#include <string>

namespace timeloom::python {

// `module`: of a function that is seen for the first time. A library that other programs use as
// well, such as tornado, counts only where the engine is loaded by then.
bool is_of_engine(const std::string& module) noexcept;

}  // namespace timeloom::python
