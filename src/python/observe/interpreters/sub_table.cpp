#include "python/observe/interpreters/sub_table.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

namespace timeloom::python {
namespace {

struct Entry {
  PyInterpreterState* interpreter;
  SubInterpreter* sub;
};
struct Table {
  std::mutex mutex;
  std::vector<Entry> entries;
};
// Lives as long as the process. A forked child takes a new one: another thread may have locked it.
Table* g_table = new Table;

}  // namespace

void add_to_table(SubInterpreter& sub) noexcept try {
  const std::scoped_lock lock(g_table->mutex);
  g_table->entries.push_back({PyInterpreterState_Get(), &sub});
} catch (const std::bad_alloc&) {
  return;
}

void take_from_table(SubInterpreter& sub) noexcept {
  const std::scoped_lock lock(g_table->mutex);
  std::erase_if(g_table->entries, [&](const Entry& one) { return one.sub == &sub; });
}

SubInterpreter* sub_interpreter_in_table() noexcept {
  PyInterpreterState* const running = PyInterpreterState_Get();
  const std::scoped_lock lock(g_table->mutex);
  const auto found = std::ranges::find(g_table->entries, running, &Entry::interpreter);
  return found == g_table->entries.end() ? nullptr : found->sub;
}

std::size_t interpreters_in_table() noexcept {
  const std::scoped_lock lock(g_table->mutex);
  return g_table->entries.size();
}

void empty_table_of_child() noexcept {
  if (Table* const table = new (std::nothrow) Table) g_table = table;
}

}  // namespace timeloom::python
