#include "record/native/code_filter.hpp"

#include <atomic>
#include <exception>
#include <optional>

#include "core/code_object.hpp"
#include "record/native/compiled_code.hpp"
#include "record/native/mapped_object.hpp"

namespace timeloom::record {
namespace {

// Filters are kept, since threads may be asking one. A process has few different ones.
constinit std::atomic<const Filter*> g_filter = nullptr;

// Without memory the function is recorded.
bool leaves_out(const void* function) noexcept try {
  const std::optional<MappedObject> mapped = mapped_object(function);
  Region region;
  if (mapped) {
    region.file = mapped->object.path;
    region.name = region.group = file_name(mapped->object);
  }
  return g_filter.load()->excluded(region);
} catch (const std::exception&) {
  return false;
}

}  // namespace

void filter_code(const Filter& filter) {
  const Filter* const before = g_filter;
  if (before != nullptr && *before == filter) return;
  g_filter = new Filter(filter);
  leave_out_functions(leaves_out);
  forget_code();
}

}  // namespace timeloom::record
