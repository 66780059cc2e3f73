// Names of functions for people, from the names that the linker knows. Pure functions, for any
// thread; they throw std::bad_alloc.
#pragma once

#include <string>
#include <string_view>

namespace timeloom::symbols {

struct FunctionName {
  std::string name;   // without parameters and result: "solver::Grid<double>::step"
  std::string whole;  // "void solver::Grid<double>::step(int) const"
};

// C++ names are demangled, a module procedure of gfortran (__heat_MOD_step) becomes "heat::step",
// a function of Cython (__pyx_pf_4heat_2step) "heat.step".
// A C++ name that may stand for more text than is reasonable stays as it is (demangled_size.hpp).
// Parts and copies of a function that the compiler makes (step.constprop.0, step.cold,
// step._omp_fn.0) have the name of the function.
FunctionName function_name(std::string_view symbol);

// The symbol without what the compiler and the linker append for a part, a copy or a version.
std::string_view without_suffixes(std::string_view symbol) noexcept;

}  // namespace timeloom::symbols
