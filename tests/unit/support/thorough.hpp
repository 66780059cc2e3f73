// How much of a loop over many equal cases a test tries: every case where the variable THOROUGH is
// set, as `make test-all` does, and a part of them in `make test`, which everybody runs often.
#pragma once

#include <cstdlib>

namespace timeloom::test {

inline bool thorough() {
  static const bool is_set = std::getenv("THOROUGH") != nullptr;
  return is_set;
}

// The number of rounds of a loop whose rounds differ by chance or by a number alone.
template <typename Number>
Number rounds(Number few, Number all) {
  return thorough() ? all : few;
}

}  // namespace timeloom::test
