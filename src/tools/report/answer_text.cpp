#include "tools/report/answer_text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/run_properties.hpp"
#include "core/samples/sampled_time.hpp"
#include "core/throttled.hpp"
#include "core/waiting/cause_names.hpp"
#include "tools/report/findings/findings_text.hpp"
#include "tools/report/native/report_native.hpp"
#include "tools/report/report_compensation.hpp"
#include "tools/report/report_text.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/short_name.hpp"
#include "tools/text/tree_glyphs.hpp"

namespace timeloom::tools {

namespace {

constexpr std::size_t kFunctions = 12;    // at least
constexpr std::size_t kFewFunctions = 6;  // at least, where there are findings
constexpr std::size_t kTreeRows = 3;      // at least
constexpr std::size_t kTitles = 2;        // without the title of the waiting
constexpr std::size_t kFewWaiting = 2;    // rows where there is little room
constexpr std::size_t kManyWaiting = 8;
constexpr std::size_t kLeastTitle = 8;  // columns for a part of what a title adds
constexpr std::size_t kSpacious = 34;   // lines from which on there are empty ones
constexpr double kLeastWaiting = 0.01;  // of all time, for a row
constexpr double kLeastWork = 0.005;    // of all work, for a row beyond the first ones
constexpr std::size_t kAlwaysShown = 3;
constexpr double kMuchElsewhere = 0.1;  // of all waiting, in functions that have no row
constexpr double kMuchStretch = 0.3;    // of the working time
constexpr double kMuchUnknown = 0.25;   // of all time, waiting of unknown cause

constexpr std::size_t kTimeColumns = 7;  // columns
constexpr std::size_t kVisits = 7;
constexpr std::size_t kAtLeast = 3;  // more, where functions were not timed to the end

double part(double time, double all) { return all == 0 ? 0 : time / std::abs(all); }

class AnswerWriter {
 public:
  AnswerWriter(const Answer& answer, const NativeTimes& native, const Terminal& terminal,
               Output& output)
      : answer_(answer),
        native_(native),
        throttled_(answer.definitions().properties),
        terminal_(terminal),
        output_(output) {}

  // `taken`: lines of the head. One line is left to the prompt of the shell. `found`: lines of
  // findings, for which there are fewer functions.
  void write(std::size_t taken, std::size_t found) {
    const std::size_t fixed = 1 + taken + found + kTitles + hints().size() + 1 + gaps();
    std::size_t room = terminal_.height > fixed ? terminal_.height - fixed : 0;
    const bool two = !native_.empty() || answer_.estimates().any();
    const std::size_t lines = two ? 2 : 1;  // of a function
    const std::size_t most = kFunctions / lines + importing();
    const std::size_t least =
        std::min(working_rows(), std::max(most - std::min(found, most), kFewFunctions / lines));
    const std::size_t waits = rows_for_waiting(room - std::min(room, lines * least + kTreeRows));
    room -= std::min(room, waits > 0 ? waits + 1 : 0);
    const std::size_t fit =
        std::max((room - std::min(room, kTreeRows)) / lines, kFewFunctions / lines);
    const std::size_t functions =
        std::min(working_rows(), std::max(std::min(least, fit), (room + 1) / (2 * lines)));
    const std::size_t tree = std::max(kTreeRows, room - std::min(room, lines * functions));
    this->functions(functions);
    if (waits > 0) waiting(waits);
    this->tree(tree);
    legend();
  }

 private:
  std::size_t gaps() const { return terminal_.height >= kSpacious ? 4 : 0; }

  // 1 if that row, which is not a function, is among the first ones.
  std::size_t importing() const {
    const auto& rows = answer_.functions();
    const auto end = rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), kFunctions));
    return std::any_of(rows.begin(), end, [&](const FunctionRow& row) {
      return answer_.owner().is_import(row.region);
    });
  }

  // `room`: lines, with the title. One row at least, whatever the room.
  std::size_t rows_for_waiting(std::size_t room) const {
    const bool most = answer_.times().all_waiting > answer_.times().all_working;
    const std::size_t wanted = most || gaps() > 0 ? kManyWaiting : kFewWaiting;
    return std::min({waiting_rows(), wanted, std::max<std::size_t>(room, 2) - 1});
  }

  std::string numbers(RegionId region, double share, double time, std::int64_t visits,
                      const Estimate& estimate = {}) const {
    const auto& regions = answer_.definitions().regions;
    const bool at_least = region.defined() && throttled_.holds(regions[region.value()]);
    return formatted("{} {} {}", pad_left(percent(share), 6),
                     pad_left(marked(duration(time, terminal_), estimate), time_width()),
                     pad_left(visits_text(visits, at_least, terminal_), visits_width()));
  }
  std::size_t time_width() const { return kTimeColumns + (answer_.cost() ? 1 : 0); }
  // The headings of the share and of a time.
  std::string head(const std::string& time) const {
    return " share " + pad_left(time, time_width());
  }
  std::size_t visits_width() const { return kVisits + (throttled_.any() ? kAtLeast : 0); }

  // `before` and `after`: the headings before and behind the heading of the visits.
  void title(const std::string& before, const std::string& text, const std::string& rest,
             const std::string& after = {}) {
    const std::string columns =
        before + pad_left(visits_word(answer_.definitions()), visits_width() + 1) + after;
    if (gaps() > 0) output_.write("\n");
    const std::size_t room = terminal_.width - std::min(terminal_.width, columns.size() + 2);
    const std::string shown = shorten_right(text, room, terminal_);
    const std::size_t left = room - tools::columns(shown);
    const std::string more = left < kLeastTitle ? "" : shorten_right(rest, left, terminal_);
    output_.write(terminal_.paint(columns, Ink::kDim) + "  " +
                  terminal_.paint(shown, Ink::kAccent) + terminal_.paint(more, Ink::kDim) + "\n");
  }

  void functions(std::size_t rows) {
    const WorkTimes& times = answer_.times();
    title(head(answer_.cost() ? "working*" : "working"), "where the time went",
          formatted("  100% = {} of work", duration(times.all_working, terminal_, " ")),
          answer_.cost() ? " measured" : "");
    for (std::size_t i = 0; i < rows; ++i) {
      const FunctionRow& row = answer_.functions()[i];
      std::string shown = numbers(row.region, part(row.working, times.all_working), row.working,
                                  row.visits, estimate_of(row.region));
      if (answer_.cost()) shown += " " + pad_left(duration(row.measured, terminal_), 8);
      line(row.region, shown, {}, {});
      if (row.region.defined()) native_line_of(row.region, columns(shown));
    }
  }

  // Of the own time. Importing has the functions of many regions.
  Estimate estimate_of(RegionId region) const {
    if (!region.defined() || answer_.owner().is_import(region)) return {};
    return answer_.estimates().own_of(region);
  }

  // `indent`: columns of numbers above it.
  void native_line_of(RegionId region, std::size_t indent) {
    const std::size_t room = terminal_.width - std::min(terminal_.width, indent + 2);
    const Estimate estimate = estimate_of(region);
    std::string text = estimate.any() ? error_text(estimate, terminal_)
                                      : native_line(native_.shares({region}), room, terminal_);
    if (text.empty()) return;
    output_.write(std::string(indent + 2, ' ') + terminal_.paint(text, Ink::kDim) + "\n");
  }

  std::size_t working_rows() const {
    const auto& rows = answer_.functions();
    const double least = kLeastWork * std::abs(answer_.times().all_working);
    const auto worth = static_cast<std::size_t>(
        std::ranges::count_if(rows, [&](const FunctionRow& row) { return row.working >= least; }));
    return std::min(rows.size(), std::max(worth, kAlwaysShown));
  }

  std::size_t waiting_rows() const {
    const double all = answer_.times().all_working + answer_.times().all_waiting;
    return static_cast<std::size_t>(std::ranges::count_if(
        answer_.waiting(),
        [&](const FunctionRow& row) { return row.waiting >= kLeastWaiting * std::abs(all); }));
  }

  bool has_tasks() const { return has_task_locations(answer_.definitions().properties); }

  void waiting(std::size_t rows) {
    const WorkTimes& times = answer_.times();
    double elsewhere = times.all_waiting;
    for (std::size_t i = 0; i < rows; ++i) elsewhere -= answer_.waiting()[i].waiting;
    const bool much = elsewhere >= kMuchElsewhere * times.all_waiting;
    const std::string others =
        much ? ", " + duration(elsewhere, terminal_, " ") + " of it in others" : "";
    const double all = times.all_working + times.all_waiting;
    const std::string whole = duration(all, terminal_, " ") + " of work and waiting";
    const std::string_view how = !times.measured ? " in functions that are known to wait"
                                 : has_tasks()   ? " of threads and suspended tasks"
                                                 : "";
    const std::string more = times.has_causes ? ": " + cause_shares(times.all_causes) + others
                             : much           ? others
                                              : std::string(how);
    title(head(times.has_causes ? "waited" : "waiting"), "waiting",
          "  " + duration(times.all_waiting, terminal_, " ") + more +
              (more.empty() ? " of " : "; 100% = ") + whole,
          times.has_causes ? " " + pad_right("cause", kCauseColumns) : "");
    for (std::size_t i = 0; i < rows; ++i) {
      const FunctionRow& row = answer_.waiting()[i];
      std::string shown = numbers(row.region, part(row.waiting, all), row.waiting, row.visits);
      if (times.has_causes) shown += " " + pad_right(main_cause(row.causes), kCauseColumns);
      line(row.region, shown, {},
           row.user.defined() ? " for " + answer_.region_name(row.user) : "");
    }
  }

  void tree(std::size_t rows) {
    const double all = answer_.times().all_working;
    title(head("total"), "call tree", "  of the work, with what is called inside");
    TreeGlyphs glyphs(terminal_.unicode);
    for (const ShortRow& row : answer_.tree(rows)) {
      const Estimate total =
          row.region.defined() ? answer_.estimates().total_of(row.region) : Estimate();
      line(row.region, numbers(row.region, part(row.total, all), row.total, row.visits, total),
           glyphs.next(row.depth, row.only_child, row.last_child), hidden(row));
    }
  }

  std::string hidden(const ShortRow& row) const {
    if (row.hidden == 0) return {};
    if (answer_.owner().is_import(row.region)) return {};
    const std::string functions = plural(row.hidden, "function");
    if (row.hidden_package.empty()) return formatted(" ({} hidden)", functions);
    if (row.hidden_of_package == row.hidden) {
      return formatted(" ({} of {} hidden)", functions, row.hidden_package);
    }
    return formatted(" ({} hidden, {} of {})", functions, count(row.hidden_of_package),
                     row.hidden_package);
  }

  void line(RegionId region, const std::string& numbers, const std::string& glyphs,
            const std::string& note) {
    AnswerLine line{numbers,         glyphs, printable(answer_.region_name(region)),
                    printable(note), "",     answer_.owner().is_project(region)};
    if (region.defined() && !answer_.owner().is_import(region)) {
      line.place = short_region_place(answer_.definitions().regions[region.value()]);
    } else if (region.defined() && glyphs.empty()) {
      line.place = "report --imports";
    }
    output_.write(drawn(line, terminal_));
  }

  std::vector<std::string> hints() const {
    std::vector<std::string> lines;
    const double share = answer_.long_stretches().value_or(0);
    if (share >= kMuchStretch) {
      lines.push_back(formatted(
          "{:.0f}% where Python calls are 5 {} or more apart: loops, or C (run --sample 1ms)",
          share * 100, terminal_.micro()));
    }
    if (const double unknown = unknown_waiting(); unknown >= kMuchUnknown) {
      lines.push_back(formatted(
          "{:.0f}% waiting in functions whose names do not tell why: timeloom run --causes",
          unknown * 100));
    }
    if (const WorkTimes& times = answer_.times(); times.all_unmeasured > 0) {
      const std::string time = duration(times.all_unmeasured, terminal_, " ");
      lines.push_back(time +
                      " unmeasured: after the last event of threads that were killed or run still");
    }
    const std::string busy = busy_machine(answer_.times().all_causes,
                                          answer_.times().all_working + answer_.times().all_waiting,
                                          answer_.definitions());
    if (!busy.empty()) lines.push_back(busy);
    if (throttled_.was_paused()) {
      lines.push_back(at_least_sign() + seen_text(throttled_.observed_share()) + " (--overhead)");
      if (answer_.estimates().any()) {
        lines.push_back("~: the time of calls that were not seen is estimated from samples");
      }
    } else if (answer_.estimates().any()) {
      lines.push_back(at_least_sign() +
                      "throttled for --overhead; ~: its later time is estimated from samples");
    } else if (throttled_.any()) {
      lines.push_back(at_least_sign() +
                      "throttled for --overhead; its later calls are its callers'");
    }
    if (answer_.cost()) lines.push_back("working" + compensation_text(*answer_.cost()));
    return lines;
  }

  // The part of all time that was measured as waiting, and whose cause neither the run nor the
  // name of the function tells.
  double unknown_waiting() const {
    const WorkTimes& times = answer_.times();
    if (!times.measured || times.has_causes) return 0;
    double unknown = 0;
    for (const FunctionRow& row : answer_.waiting()) {
      if (!row.region.defined() || is_unknown(row.region)) unknown += row.waiting;
    }
    return part(unknown, times.all_working + times.all_waiting);
  }

  bool is_unknown(RegionId region) const {
    const Region& one = answer_.definitions().regions[region.value()];
    return cause_in(one, WaitingCause::kUnknown) == WaitingCause::kUnknown;
  }

  std::string at_least_sign() const {
    return std::string(terminal_.at_least().substr(0, terminal_.at_least().find(' '))) + ": ";
  }

  void legend() {
    if (gaps() > 0) output_.write("\n");
    for (const std::string& hint : hints()) {
      output_.write(terminal_.paint(shorten_right(hint, terminal_.width, terminal_), Ink::kDim) +
                    "\n");
    }
    const std::string own = terminal_.colour ? "bold" : "*";
    output_.write(
        terminal_.paint(
            shorten_right(
                own + ": your code. No branch sign: called by the line above. Everything: --full",
                terminal_.width, terminal_),
            Ink::kDim) +
        "\n");
  }

  const Answer& answer_;
  const NativeTimes& native_;
  const ThrottledFunctions throttled_;
  const Terminal& terminal_;
  Output& output_;
};

}  // namespace

std::string short_region_place(const Region& region) {
  const std::string file = printable(region.file.substr(region.file.rfind('/') + 1));
  if (file.empty() || region.first_line == 0) return file;
  return formatted("{}:{}", file, region.first_line);
}

std::string drawn(const AnswerLine& line, const Terminal& terminal) {
  std::string text = line.numbers;
  text += line.project && !terminal.colour ? " *" : "  ";
  const std::size_t used = columns(text);
  const std::size_t room = std::max(terminal.width, used + 12) - used;
  // Marks take at most half; the nearest callers are those that matter.
  const std::string glyphs =
      shorten_left(line.glyphs, std::min(columns(line.glyphs), room / 2), terminal);
  std::size_t left = room - columns(glyphs);
  const std::string name = short_name(line.name, left, terminal);
  left -= columns(name);
  const std::string note = columns(line.note) <= left ? line.note : std::string();
  left -= columns(note);
  std::string place = line.place;
  if (columns(place) + 2 > left) place = place.substr(std::min(place.size(), place.rfind(':')));
  if (columns(place) + 2 > left) place.clear();
  const Ink ink = line.project ? Ink::kBold : Ink::kPlain;
  text = terminal.paint(text, ink) + terminal.paint(glyphs, Ink::kDim) + terminal.paint(name, ink) +
         terminal.paint(note, Ink::kDim);
  if (!place.empty()) {
    text += std::string(left - columns(place), ' ') + terminal.paint(place, Ink::kDim);
  }
  return text + "\n";
}

// Without the last facts, which are separated by dots and commas, until the rest fits.
std::string whole_facts(std::string facts, std::size_t room, const Terminal& terminal) {
  while (columns(facts) > room) {
    const auto last_of = [&](std::string_view separator) {
      const std::size_t place = facts.rfind(separator);
      return place == std::string::npos ? 0 : place;
    };
    const std::size_t end = std::max(last_of(terminal.dot()), last_of(", "));
    if (end == 0) return shorten_right(facts, room, terminal);
    facts.resize(end);
  }
  return facts;
}

void write_head(const RunFacts& facts, const std::string& run, const std::string& scope,
                const Terminal& terminal, Output& output) {
  std::string rest = std::string(terminal.dot()) + duration(facts.wall_seconds, terminal, " ");
  rest += std::string(terminal.dot()) + in_processes(scope, facts);
  if (!facts.samples.empty()) rest += std::string(terminal.dot()) + facts.samples;
  std::string memory = memory_text(facts);
  if (!memory.empty()) memory.insert(0, terminal.dot());
  // On a narrow terminal the last ones are left out.
  if (facts.memory_peak) rest += std::exchange(memory, {});
  if (!facts.engine.empty()) rest += std::string(terminal.dot()) + printable(facts.engine);
  if (!facts.gpu.empty()) rest += std::string(terminal.dot()) + facts.gpu;
  rest += memory;
  const std::string program = printable(facts.program.empty() ? run : facts.program);
  const std::size_t room = std::max<std::size_t>(terminal.width, 40);
  const std::string start =
      facts.start ? std::string(terminal.dot()) + local_time(*facts.start).substr(0, 16) : "";
  // The program is worth more than the date.
  if (columns(rest + start) + std::min(columns(program), room / 3) <= room) rest += start;
  const std::size_t left = std::max(room - std::min(room, columns(rest)), room / 3);
  const std::string shown = shorten_right(program, left, terminal);
  output.write(terminal.paint(shown, Ink::kBold) +
               whole_facts(rest, room - std::min(room, columns(shown)), terminal) + "\n");
  write_other_cpu(facts, terminal, output);
  write_losses(memory_limit_lines(facts), terminal, output);
  write_losses(facts.losses, terminal, output);
}

void write_answer(const Answer& answer, const Findings& findings, const RunFacts& facts,
                  const NativeTimes& native, const std::string& run, const std::string& scope,
                  const Terminal& terminal, Output& output) {
  write_head(facts, run, scope, terminal, output);
  if (answer.functions().empty() && answer.waiting().empty()) {
    output.write("\nNo time was recorded in a region: there is nothing to show.\n");
    return;
  }
  std::size_t taken = 1;
  for (const auto& lines :
       {other_cpu_lines(facts, terminal), memory_limit_lines(facts), facts.losses}) {
    for (const std::string& line : lines) {
      taken += (columns("! " + printable(line)) + terminal.width - 1) / terminal.width;
    }
  }
  const std::vector<std::string> found = finding_lines(findings, terminal);
  for (const std::string& line : found) output.write(line + "\n");
  AnswerWriter(answer, native, terminal, output).write(taken, found.size());
}

}  // namespace timeloom::tools
