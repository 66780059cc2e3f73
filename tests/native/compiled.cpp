// Built with -finstrument-functions; writes its calls as compiled.c does.
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <vector>

#define PLAIN __attribute__((no_instrument_function))
#define CALLED __attribute__((noinline, noclone))

namespace {

// In a function without this object the dot is missing.
struct Called {
  PLAIN explicit Called(const char* name) { std::printf("%s ", name); }
  PLAIN ~Called() { std::printf(". "); }
};

}  // namespace

namespace solver {

CALLED void third(int n) {
  const Called called("third");
  if (n > 0) throw std::runtime_error("too large");
}
CALLED void second(int n) {
  const Called called("second");
  third(n);
}
CALLED void first(int n) {
  const Called called("first");
  second(n);
}

struct Grid {
  CALLED explicit Grid(int n) : size(n) { const Called called("Grid"); }
  CALLED int sum() const {
    const Called called("sum");
    const std::vector<int> values(static_cast<std::size_t>(size), 2);
    return std::accumulate(values.begin(), values.end(), 0);  // functions of headers are left out
  }
  int size;
};

}  // namespace solver

int main() {
  const Called called("main");
  try {
    solver::first(1);
  } catch (const std::exception&) {
    solver::first(0);
  }
  const solver::Grid grid(5);
  return grid.sum() == 10 ? 0 : 1;
}
