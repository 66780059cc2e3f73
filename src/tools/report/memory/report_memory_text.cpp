#include <algorithm>

#include "exchange/names.hpp"
#include "tools/report/memory/report_memory.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/text_table.hpp"

namespace timeloom::tools {
namespace {

using nlohmann::ordered_json;
using profile::CallTree;
using profile::MetricStatistics;
using profile::NodeId;

constexpr double kNanoseconds = 1e-9;

std::uint64_t whole(double value) {
  return value > 0 && value < 0x1p63 ? static_cast<std::uint64_t>(value + 0.5) : 0;
}

std::string path_name(const CallTree& tree, NodeId node) {
  const RegionId region = tree.nodes[node.value()].region;
  return region.defined() ? exchange::region_name(tree.definitions, region) : "(deeper calls)";
}

// The region, and the one that has called it: functions that allocate are often small.
std::string short_path(const CallTree& tree, const MemoryRow& row) {
  if (row.apart != nullptr) return row.apart;
  const NodeId node = row.node;
  const NodeId parent = tree.nodes[node.value()].parent;
  std::string name = path_name(tree, node);
  return parent.defined() ? name + "  < " + path_name(tree, parent) : name;
}

void add_amounts(MemoryRow& to, const MemoryRow& row) {
  to.allocated.add(row.allocated);
  to.at_peak.add(row.at_peak);
  to.at_end.add(row.at_end);
}

class MemoryWriter {
 public:
  MemoryWriter(const MemoryFacts& facts, const CallTree& tree, const Terminal& terminal,
               Output& output)
      : facts_(facts), tree_(tree), terminal_(terminal), output_(output) {}

  void write() {
    head();
    losses();
    of_functions();
    const std::size_t rows = rows_of_each();
    held("held at the peak", &MemoryRow::at_peak, rows);
    allocated(rows);
    python(rows);
    held("still held at the end", &MemoryRow::at_end, rows);
    output_.write(explanation());
  }

 private:
  using Member = MetricStatistics MemoryRow::*;

  // Three tables with a title, the head, the explanation and the prompt of the shell.
  std::size_t rows_of_each() const {
    constexpr std::size_t kFixed = 11, kLeast = 3;
    const std::size_t tables = has_python() ? 4 : 3;
    const std::size_t fixed = kFixed + 2 * (tables - 3);
    const std::size_t room = terminal_.height > fixed ? terminal_.height - fixed : 0;
    return std::max(kLeast, room / tables);
  }

  void head() {
    const ProcessMemory& run = facts_.run;
    const std::size_t count = facts_.processes.size();
    output_.write(
        formatted("peak {} at {}{}", bytes(run.peak),
                  duration(static_cast<double>(run.peak_time) * kNanoseconds, terminal_, " "),
                  count > 1 ? formatted(", {} processes together", count) : ""));
    if (count < 2) {
      const ProcessMemory& only = facts_.processes.front().memory;
      output_.write(formatted("{}{} before the program{}{} at its end\n", terminal_.dot(),
                              bytes(only.at_start), terminal_.dot(), bytes(only.at_end)));
      return;
    }
    output_.write("\n");
    const auto most = std::ranges::max_element(
        facts_.processes, {}, [](const auto& process) { return process.memory.peak; });
    const bool of_each = std::ranges::any_of(
        facts_.processes, [](const auto& process) { return process.memory.all != 0; });
    output_.write(formatted("the largest process: {}, peak {}; below, {}\n", printable(most->name),
                            bytes(most->memory.peak),
                            of_each ? "each at its own peak" : "all at the peak of the run"));
  }

  std::uint64_t lost() const {
    std::uint64_t sum = 0;
    for (const auto& process : facts_.processes) sum += process.memory.lost;
    return sum;
  }
  bool foreign() const {
    return std::ranges::any_of(facts_.processes,
                               [](const auto& process) { return process.memory.foreign != 0; });
  }

  // The sums of the call paths that were chosen.
  void of_functions() {
    if (facts_.functions.empty()) return;
    MemoryRow all;
    for (const MemoryRow& row : facts_.rows) add_amounts(all, row);
    std::string names = facts_.functions.front();
    if (const std::size_t more = facts_.functions.size() - 1; more > 0) {
      names += formatted(" and {} more", more);
    }
    output_.write(formatted(
        "{} with its callees: {}{} at the peak{}{} allocated in {}{}{}{} at the end\n",
        printable(names), mark(all.at_peak), bytes(whole(all.at_peak.sum)), terminal_.dot(),
        bytes(whole(all.allocated.sum)), plural(all.allocated.count, "call"), terminal_.dot(),
        mark(all.at_end), bytes(whole(all.at_end.sum))));
  }

  const char* mark(const MetricStatistics& held) const {
    const auto blocks = static_cast<double>(held.count);
    return sampling_error(blocks, held.min, facts_.interval()) > 0 ? "~" : "";
  }

  std::string explanation() const {
    constexpr char kOfItself[] = "bytes: of a function itself, without what it calls";
    if (facts_.temporary_interval() == 0) return formatted("{}; {}.\n", kOfItself, exactness());
    return formatted("{}. ~ is estimated from blocks\nthat were sampled every {} on average; {}.\n",
                     kOfItself, bytes(whole(facts_.temporary_interval())), exactness());
  }

  // Of the numbers that are not estimated. The sums of a process need no table.
  std::string exactness() const {
    if (lost() != 0) {
      return formatted("numbers of\nfunctions may lack the {} allocations above", count(lost()));
    }
    return foreign() ? "all other\nnumbers are exact for the allocations that are seen"
           : facts_.temporary_interval() == 0 ? "all numbers are exact"
                                              : "all other numbers are exact";
  }

  void losses() {
    if (lost() != 0) {
      output_.write(
          formatted("{} allocations are without call path or life: the tables were full "
                    "[TL465]\n",
                    count(lost())));
    }
    if (foreign()) {
      output_.write("the program has an allocator of its own, which is not seen [TL466]\n");
    }
  }

  // The largest rows of one kind.
  std::vector<const MemoryRow*> largest(Member member, std::size_t rows) const {
    std::vector<const MemoryRow*> found;
    for (const MemoryRow& row : facts_.rows) {
      if ((row.*member).sum > 0) found.push_back(&row);
    }
    std::ranges::stable_sort(found, std::ranges::greater(),
                             [&](const MemoryRow* row) { return (row->*member).sum; });
    if (found.size() > rows) found.resize(rows);
    return found;
  }

  double sum(Member member) const {
    double all = 0;
    for (const MemoryRow& row : facts_.rows) all += (row.*member).sum;
    return all;
  }

  void held(const char* title, Member member, std::size_t rows) {
    Table table(terminal_, 2, title);
    for (const char* heading : {"share", "bytes", "+-"}) table.add_column(heading);
    const double all = sum(member);
    for (const MemoryRow* row : largest(member, rows)) {
      const MetricStatistics& amount = row->*member;
      const double error =
          sampling_error(static_cast<double>(amount.count), amount.min, facts_.interval());
      TableRow shown;
      shown.cells = {percent(all == 0 ? 0 : amount.sum / all),
                     (error > 0 ? "~" : "") + bytes(whole(amount.sum)),
                     error > 0 ? bytes(whole(error)) : ""};
      shown.name = printable(short_path(tree_, *row));
      table.add_row(std::move(shown));
    }
    table.write(output_);
  }

  bool has_python() const { return sum(&MemoryRow::python_allocated) > 0; }

  void python(std::size_t rows) {
    if (!has_python()) return;
    Table table(terminal_, 2, "makes most objects of Python");
    for (const char* heading : {"share", "bytes", "times", "freed"}) table.add_column(heading);
    const double all = sum(&MemoryRow::python_allocated);
    for (const MemoryRow* row : largest(&MemoryRow::python_allocated, rows)) {
      TableRow shown;
      shown.cells = {percent(row->python_allocated.sum / all),
                     bytes(whole(row->python_allocated.sum)),
                     short_count(static_cast<std::int64_t>(row->python_allocated.count)),
                     short_count(static_cast<std::int64_t>(row->python_freed.count))};
      shown.name = printable(short_path(tree_, *row));
      table.add_row(std::move(shown));
    }
    table.write(output_);
  }

  // Nothing tells how many of the blocks whose life is not known were temporary.
  void allocated(std::size_t rows) {
    Table table(terminal_, 2, "allocates most");
    const bool temporary = lost() == 0 && sum(&MemoryRow::temporary) > 0;
    for (const char* heading : {"share", "bytes", "times"}) table.add_column(heading);
    if (temporary) table.add_column("< 1 ms");
    const double all = sum(&MemoryRow::allocated);
    for (const MemoryRow* row : largest(&MemoryRow::allocated, rows)) {
      TableRow shown;
      shown.cells = {percent(all == 0 ? 0 : row->allocated.sum / all),
                     bytes(whole(row->allocated.sum)),
                     short_count(static_cast<std::int64_t>(row->allocated.count))};
      if (temporary) shown.cells.push_back(temporary_share(*row));
      shown.name = printable(short_path(tree_, *row));
      table.add_row(std::move(shown));
    }
    table.write(output_);
  }

  // Of the bytes that were allocated. Nothing: fewer sampled blocks than tell it.
  std::string temporary_share(const MemoryRow& row) const {
    constexpr std::uint64_t kLeastBlocks = 10;
    if (row.temporary.count < kLeastBlocks) return "";
    const std::string share = percent(std::min(1.0, row.temporary.sum / row.allocated.sum));
    return facts_.temporary_interval() == 0 ? share : "~" + share;
  }

  const MemoryFacts& facts_;
  const CallTree& tree_;
  const Terminal& terminal_;
  Output& output_;
};

ordered_json apart_json(const ProcessMemory::Apart& apart) {
  return {{"allocations", apart.allocations},
          {"allocated_bytes", apart.allocated},
          {"frees", apart.frees},
          {"freed_bytes", apart.freed},
          {"bytes_at_peak", apart.at_peak},
          {"bytes_at_end", apart.at_end}};
}

ordered_json process_json(const MemoryFacts::Process& process) {
  const ProcessMemory& memory = process.memory;
  return {{"name", process.name},
          {"peak_bytes", memory.peak},
          {"peak_s", static_cast<double>(memory.peak_time) * kNanoseconds},
          {"start_bytes", memory.at_start},
          {"end_bytes", memory.at_end},
          {"measurement", apart_json(memory.own)},
          {"elsewhere", apart_json(memory.other)},
          {"sampled_every_bytes", memory.interval},
          {"all_blocks", memory.all != 0},
          {"before_bytes_at_peak", memory.before_at_peak},
          {"before_bytes_at_end", memory.before_at_end},
          {"lost", memory.lost},
          {"foreign_allocator", memory.foreign != 0},
          {"complete", memory.ended != 0}};
}

ordered_json held_json(const MetricStatistics& amount, double interval) {
  return {{"bytes", whole(amount.sum)},
          {"blocks", amount.count},
          {"error_bytes",
           whole(sampling_error(static_cast<double>(amount.count), amount.min, interval))}};
}

ordered_json path_json(const CallTree& tree, NodeId node) {
  std::vector<std::string> names;
  for (; node.defined(); node = tree.nodes[node.value()].parent) {
    names.push_back(path_name(tree, node));
  }
  std::ranges::reverse(names);
  return names;
}

}  // namespace

void write_memory(const MemoryFacts& facts, const CallTree& tree, const Terminal& terminal,
                  Output& output) {
  MemoryWriter(facts, tree, terminal, output).write();
}

void write_memory_json(const MemoryFacts& facts, const CallTree& tree, Output& output) {
  ordered_json all = {{"format", "timeloom-report-memory"}, {"version", 1}};
  all["peak_bytes"] = facts.run.peak;
  all["peak_s"] = static_cast<double>(facts.run.peak_time) * kNanoseconds;
  if (!facts.functions.empty()) all["functions"] = facts.functions;
  all["processes"] = all["paths"] = ordered_json::array();
  for (const auto& process : facts.processes) all["processes"].push_back(process_json(process));
  for (const MemoryRow& row : facts.rows) {
    if (row.apart != nullptr) continue;  // of each process above
    all["paths"].push_back({{"path", path_json(tree, row.node)},
                            {"allocations", row.allocated.count},
                            {"allocated_bytes", whole(row.allocated.sum)},
                            {"largest_bytes", whole(row.allocated.max)},
                            {"frees", row.freed.count},
                            {"freed_bytes", whole(row.freed.sum)},
                            {"python_allocations", row.python_allocated.count},
                            {"python_bytes", whole(row.python_allocated.sum)},
                            {"python_frees", row.python_freed.count},
                            {"at_peak", held_json(row.at_peak, facts.interval())},
                            {"at_end", held_json(row.at_end, facts.interval())},
                            {"temporary", held_json(row.temporary, facts.temporary_interval())}});
  }
  all["losses"] = facts_of(tree.definitions).losses;
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
