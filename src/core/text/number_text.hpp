// Decimal numbers as text, with a point whatever the locale of the program has in its place. By the
// printf of the system: std::to_chars brings 100 KB of tables into each library of a wheel. Any
// thread; throws nothing but std::bad_alloc.
#pragma once

#include <string>

namespace timeloom {

std::string fixed_text(double value, int decimals);
std::string general_text(double value);  // six digits, with an exponent where they are not enough

}  // namespace timeloom
