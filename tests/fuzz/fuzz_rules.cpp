// Any bytes as rules of `timeloom check`: parsed, or refused with an Error.
//
// First byte 0: the rest is one rule. Otherwise it is a file of rules.
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/error.hpp"
#include "tools/check/check_rule.hpp"

namespace timeloom::tools {
namespace {

void check_one(const std::string& text) {
  const Rule rule = parse_rule(text);
  if (rule.text != text ||
      !(rule.is_of_regions() ? may_be_of_regions : may_be_of_run)(rule.quantity))
    std::abort();
  if (!std::isfinite(rule.limit) || rule.limit < 0) std::abort();
  if (rule.any && !rule.is_of_regions()) std::abort();
  if (rule.forbids() && rule.quantity != Quantity::kVisits) std::abort();
  // A value is either less than the limit or at least the limit.
  const double measured = rule.limit / 2;
  const bool less = holds(measured, Comparison::kLess, rule.limit);
  if (less == holds(measured, Comparison::kAtLeast, rule.limit)) std::abort();
}

const std::filesystem::path& rules_file() {
  static const struct File {
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("timeloom-fuzz-rules-" + std::to_string(::getpid()));
    ~File() {
      std::error_code ignored;
      std::filesystem::remove(path, ignored);
    }
  } kFile;
  return kFile.path;
}

void check_rules_in(const std::string& text) {
  std::ofstream(rules_file(), std::ios::binary | std::ios::trunc) << text;
  for (const std::string& rule : load_rules(rules_file())) check_one(rule);
}

}  // namespace
}  // namespace timeloom::tools

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace timeloom;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] == 0) {
      tools::check_one(text);
    } else {
      tools::check_rules_in(text);
    }
  } catch (const Error& error) {
    if (*error.what() == '\0') std::abort();
  }
  return 0;
}
