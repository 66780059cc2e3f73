#include "tools/top/look.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/report/answer.hpp"
#include "tools/report/answer_text.hpp"
#include "tools/report/findings/findings_text.hpp"
#include "tools/run/json_text.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/text_table.hpp"

namespace timeloom::tools {
namespace {

using nlohmann::ordered_json;

void add(Amount& sum, const Amount& more) {
  sum.working += more.working;
  sum.waiting += more.waiting;
  sum.visits += more.visits;
}

Amount without(const Amount& all, const Amount& before) {
  return {std::max(0.0, all.working - before.working), std::max(0.0, all.waiting - before.waiting),
          std::max<std::int64_t>(0, all.visits - before.visits)};
}

std::string thread_name(const Definitions& definitions, const WorkerTimes& times) {
  const Location& location = definitions.locations[times.location];
  if (definitions.groups.size() < 2) return location_name(location);
  return definitions.groups[location.group.value()].name + " " + location_name(location);
}

double sum_of(const std::map<std::string, Amount>& rows, double Amount::*member) {
  double sum = 0;
  for (const auto& [name, amount] : rows) sum += amount.*member;
  return sum;
}

class LookWriter {
 public:
  LookWriter(const Look& before, const Look& after, const Terminal& terminal, Output& output)
      : before_(before), after_(after), terminal_(terminal), output_(output) {}

  void write() {
    head();
    const std::vector<TopRow> functions = shown(before_.functions, after_.functions);
    const std::vector<TopRow> threads = shown(before_.threads, after_.threads);
    constexpr std::size_t kFixed = 3;  // the titles, and the line that the cursor is in
    const std::size_t room = terminal_.height - std::min(terminal_.height, lines_ + kFixed);
    const std::size_t of_threads = std::min(threads.size(), std::max<std::size_t>(room / 3, 1));
    const std::size_t of_functions = room - std::min(room, of_threads);
    table("function", functions, std::max<std::size_t>(of_functions, 1), true);
    table("thread", threads, of_threads, false);
  }

 private:
  void line(const std::string& text) {
    output_.write(text + "\n");
    ++lines_;
  }

  double interval() const { return after_.length - before_.length; }

  void head() {
    const RunFacts& facts = after_.facts;
    std::string rest =
        std::string(terminal_.dot()) + duration(after_.length, terminal_, " ") +
        std::string(terminal_.dot()) +
        in_processes(threads_and_tasks(facts.threads, facts.tasks, facts.task_lanes), facts);
    if (const std::string memory = memory_text(facts); !memory.empty()) {
      rest += std::string(terminal_.dot()) + memory;
    }
    const std::size_t room = terminal_.width - std::min(terminal_.width, columns(rest));
    line(terminal_.paint(shorten_right(printable(facts.program), room, terminal_), Ink::kBold) +
         rest);
    const double working =
        sum_of(after_.functions, &Amount::working) - sum_of(before_.functions, &Amount::working);
    const double cores = interval() > 0 ? std::max(0.0, working) / interval() : 0;
    const std::string time = duration(interval(), terminal_, " ");
    line(formatted("{} {}: {:.2f} cores at work on average",
                   before_.length > 0 ? "in the last" : "since the start,", time, cores));
    for (const std::string& one : memory_limit_lines(facts)) line("! " + one);
    for (const std::string& one : finding_lines(after_.findings, terminal_)) line(one);
  }

  // Without rows in which next to nothing happened, beyond the first ones.
  std::vector<TopRow> shown(const std::map<std::string, Amount>& before,
                            const std::map<std::string, Amount>& after) const {
    constexpr std::size_t kAlwaysShown = 3;
    constexpr double kLeast = 0.0005;  // of the interval
    std::vector<TopRow> rows = rows_between(before, after);
    const auto idle = std::find_if(
        rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), kAlwaysShown)), rows.end(),
        [&](const TopRow& row) { return row.now.working < kLeast * interval(); });
    rows.erase(idle, rows.end());
    return rows;
  }

  void table(const char* title, const std::vector<TopRow>& rows, std::size_t most, bool calls) {
    Table table(terminal_, 2, title);
    for (const char* heading : {"now", "waits"}) table.add_column(heading);
    if (calls) table.add_column(after_.facts.samples.empty() ? "calls" : "samples");
    for (const char* heading : {"working", "waiting"}) table.add_column(heading);
    for (const TopRow& row : rows) {
      if (most-- == 0) break;
      TableRow shown;
      shown.cells = {share(row.now.working), share(row.now.waiting)};
      if (calls) shown.cells.push_back(short_count(row.now.visits));
      shown.cells.push_back(duration(row.all.working, terminal_));
      shown.cells.push_back(duration(row.all.waiting, terminal_));
      shown.name = printable(row.name);
      if (const auto place = after_.places.find(row.name); place != after_.places.end()) {
        shown.place = printable(place->second);
      }
      table.add_row(std::move(shown));
    }
    table.write(output_);
  }

  std::string share(double seconds) const {
    return percent(interval() > 0 ? seconds / interval() : 0);
  }

  const Look& before_;
  const Look& after_;
  const Terminal& terminal_;
  Output& output_;
  std::size_t lines_ = 0;
};

ordered_json rows_json(const std::vector<TopRow>& rows) {
  ordered_json all = ordered_json::array();
  for (const TopRow& row : rows) {
    all.push_back({{"name", row.name},
                   {"now_working_s", row.now.working},
                   {"now_waiting_s", row.now.waiting},
                   {"now_visits", row.now.visits},
                   {"working_s", row.all.working},
                   {"waiting_s", row.all.waiting},
                   {"visits", row.all.visits}});
  }
  return all;
}

}  // namespace

Look look_at(const profile::CallTree& tree, const Terminal& terminal) {
  Look look;
  look.facts = facts_of(tree.definitions);
  look.length = look.facts.wall_seconds;
  const auto is_host = [](const Location& one) {
    return one.type != LocationType::kAcceleratorStream;
  };
  const Answer answer(tree, is_host);
  for (const std::vector<FunctionRow>* rows : {&answer.functions(), &answer.waiting()}) {
    for (const FunctionRow& row : *rows) {
      if (rows != &answer.functions() && row.measured > 0) continue;  // it is among the functions
      const std::string name = answer.region_name(row.region);
      add(look.functions[name], {row.working, row.waiting, row.visits});
      if (row.region.defined() && !answer.owner().is_import(row.region)) {
        look.places[name] = short_region_place(tree.definitions.regions[row.region.value()]);
      }
    }
  }
  for (const WorkerTimes& one : worker_times(tree, call_paths(tree, answer.owner()), is_host)) {
    const std::string name = thread_name(tree.definitions, one);
    std::string own = name;
    for (int i = 2; look.threads.contains(own); ++i) own = name + " (" + std::to_string(i) + ")";
    look.threads[own] = {one.working, one.waiting, 0};
  }
  look.findings = find(tree, answer, is_host, look.length, terminal);
  return look;
}

std::vector<TopRow> rows_between(const std::map<std::string, Amount>& before,
                                 const std::map<std::string, Amount>& after) {
  std::vector<TopRow> rows;
  for (const auto& [name, amount] : after) {
    const auto earlier = before.find(name);
    rows.push_back(
        {name, {}, without(amount, earlier == before.end() ? Amount{} : earlier->second), amount});
  }
  std::ranges::stable_sort(rows, [](const TopRow& a, const TopRow& b) {
    return std::pair(a.now.working, a.all.working) > std::pair(b.now.working, b.all.working);
  });
  return rows;
}

void write_look(const Look& before, const Look& after, const Terminal& terminal, Output& output) {
  LookWriter(before, after, terminal, output).write();
}

void write_look_json(const Look& before, const Look& after, const std::string& run,
                     Output& output) {
  ordered_json all = {{"format", "timeloom-top"}, {"version", 1}};
  add_facts(all, after.facts, run);
  all["interval_s"] = after.length - before.length;
  all["functions"] = rows_json(rows_between(before.functions, after.functions));
  all["thread_times"] = rows_json(rows_between(before.threads, after.threads));
  all["findings"] = findings_json(after.findings);
  output.write(json_text(all, -1) + "\n");
}

}  // namespace timeloom::tools
