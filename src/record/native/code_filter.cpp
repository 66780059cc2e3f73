#include "record/native/code_filter.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/code_object.hpp"
#include "os/thread.hpp"
#include "record/native/compiled_code.hpp"
#include "record/native/mapped_object.hpp"
#include "symbols/debug_files.hpp"
#include "symbols/function_name.hpp"
#include "symbols/line_reader.hpp"

namespace timeloom::record {
namespace {

using symbols::ElfFile;
using symbols::FunctionSymbols;
using symbols::LineReader;

// Filters are kept, since threads may be asking one. A process has few different ones.
struct KeptFilter {
  Filter filter;
  const KeptFilter* before;  // the filter that it replaced
};
constinit std::atomic<const KeptFilter*> g_filter = nullptr;

constinit std::atomic<bool> g_by_source = false;

struct Symbols {
  FunctionSymbols functions;
  std::unique_ptr<LineReader> lines;  // if rules are compared with source files
};

// The symbols of objects that were read; they live as long as the process.
constinit std::mutex g_symbols_mutex;
std::map<std::string, Symbols>* g_symbols = nullptr;

// Before other handlers: in the child, a measurement begins in one.
[[gnu::constructor(199)]] void handle_forks_of_symbols() {
  constexpr auto kUnlock = [] { g_symbols_mutex.unlock(); };
  os::at_fork([] { g_symbols_mutex.lock(); }, kUnlock, kUnlock);
}

Symbols read_symbols(const CodeObject& object) {
  const std::vector<ElfFile> files = symbols::files_of(object, {});
  auto file = std::ranges::find_if(files, &ElfFile::has_all_symbols);
  if (file == files.end()) file = files.begin();
  Symbols result;
  if (file != files.end()) result.functions = file->functions();
  const auto lines = std::ranges::find_if(files, &ElfFile::has_lines);
  if (g_by_source && lines != files.end()) result.lines = LineReader::open(lines->file());
  return result;
}

// A function as its object's symbols know it; empty: they do not.
struct FoundFunction {
  std::string symbol;
  std::string source;
};

FoundFunction function_at(const MappedObject& mapped) {
  const CodeObject& object = mapped.object;
  const std::lock_guard lock(g_symbols_mutex);
  if (g_symbols == nullptr) g_symbols = new std::map<std::string, Symbols>;
  const std::string key = object.path + '\0' + object.build_id + '\0' +
                          std::to_string(object.size) + '\0' + std::to_string(object.changed_ns);
  auto known = g_symbols->find(key);
  if (known == g_symbols->end()) known = g_symbols->emplace(key, read_symbols(object)).first;
  FoundFunction result;
  const Symbols& symbols = known->second;
  const auto found = symbols.functions.find(mapped.address);
  if (found) result.symbol = found->name;
  if (symbols.lines == nullptr) return result;
  const auto line =
      found ? symbols.lines->line_of_start(found->address) : symbols.lines->line_of(mapped.address);
  if (line) result.source = line->file;
  return result;
}

Region function_region(const MappedObject& mapped, const Region& object) {
  Region region = object;
  const FoundFunction found = function_at(mapped);
  const symbols::FunctionName name = symbols::function_name(found.symbol);
  if (!found.source.empty()) region.file = found.source;
  region.name = name.name;
  region.canonical_name = name.whole;
  return region;
}

// Without memory the function is recorded.
bool leaves_out(const void* function) noexcept try {
  const std::optional<MappedObject> mapped = mapped_object(function);
  const Filter& filter = g_filter.load()->filter;
  if (!mapped) return filter.excluded(Region{});
  Region object;
  object.file = mapped->object.path;
  object.name = object.group = file_name(mapped->object);
  return filter.excluded(
      object, [&] { return function_region(*mapped, object); }, g_by_source);
} catch (const std::exception&) {
  return false;
}

}  // namespace

void filter_code(const Filter& filter, bool by_source) {
  if (by_source && filter.has_rules_for_files()) g_by_source = LineReader::available();
  const KeptFilter* const before = g_filter;
  if (before != nullptr && before->filter == filter) return;
  g_filter = new KeptFilter{filter, before};
  leave_out_functions(leaves_out);
  forget_code();
}

}  // namespace timeloom::record
