// The functions of engines (Dask's distributed, Ray, Spark) and of the libraries on which these
// run, which --engine-functions records. Needs the GIL; nothing throws.
#pragma once

#include <string>

namespace timeloom::python {

// `module` and `file`: of a function that is seen for the first time. A library that other programs
// use as well, such as tornado, counts only where the engine is loaded by then. pyspark counts in
// workers only: in the program its functions are calls of the user.
bool is_of_engine(const std::string& module, const std::string& file) noexcept;

// This process and its forked children are Python workers of Spark.
void become_spark_worker() noexcept;
bool is_spark_worker() noexcept;

}  // namespace timeloom::python
