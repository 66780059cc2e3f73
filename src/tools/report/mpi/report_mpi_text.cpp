// How the facts of `timeloom report --mpi` are written.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/report/mpi/report_mpi.hpp"
#include "tools/report/mpi/report_mpi_matrix.hpp"
#include "tools/report/table/row_table.hpp"
#include "tools/run/json_text.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kRows = 10;  // of each table

// `all`: the seconds of which the terminal has shares.
RowTable<MpiRow> mpi_table(double all) {
  const auto share = [all](const MpiRow& row) { return all == 0 ? 0 : row.time.sum() / all; };
  const auto time = [](double Spread::*part) {
    return [part](const MpiRow& row) { return row.time.*part; };
  };
  return {"",
          {{"name", Unit::kText, &MpiRow::name},
           {"visits", Unit::kShortCount, &MpiRow::visits, {5, " visits"}},
           {"total_s", Unit::kSeconds, [](const MpiRow& row) { return row.time.sum(); }},
           {"mean_s", Unit::kSeconds, time(&Spread::mean), {2, "   mean"}},
           {"min_s", Unit::kSeconds, time(&Spread::least), {3, " least"}},
           {"max_s", Unit::kSeconds, time(&Spread::most), {4, "  most"}},
           {"process", Unit::kCount, [](const MpiRow& row) { return row.time.process; }},
           {"", Unit::kShare, share, {1, " share"}}}};
}

class Writer {
 public:
  Writer(const MpiFacts& facts, const Terminal& terminal, Output& output)
      : facts_(facts), terminal_(terminal), output_(output) {}

  void write() {
    const double share = facts_.total == 0 ? 0 : facts_.in_mpi.sum() / facts_.total;
    line(formatted("{}{}{} in MPI", plural(facts_.processes.size(), "process"), terminal_.dot(),
                   percent(share)));
    efficiency();
    table("time in MPI", facts_.functions, facts_.in_mpi.sum());
    table("called by", facts_.callers, facts_.in_mpi.sum());
    moved();
    for (const std::string& text : matrix_lines(facts_, terminal_)) line(text);
    waits();
    table("own time of other functions", facts_.balance, facts_.outside.sum());
    notes();
  }

 private:
  void line(const std::string& text) { output_.write(text + "\n"); }
  std::string time(double seconds) const { return pad_left(duration(seconds, terminal_), 7); }
  std::string name(std::uint32_t process) const {
    return process < facts_.processes.size() ? printable(facts_.processes[process])
                                             : std::string("?");
  }

  void table(const char* title, const std::vector<MpiRow>& rows, double all) {
    if (rows.empty()) return;
    const RowTable<MpiRow> described = mpi_table(all);
    line(terminal_.paint(described.headings() + "  ", Ink::kDim) +
         terminal_.paint(title, Ink::kAccent) +
         terminal_.paint("  a process; where the most", Ink::kDim));
    for (std::size_t i = 0; i < std::min(rows.size(), kRows); ++i) {
      const MpiRow& row = rows[i];
      const std::string where = facts_.processes.size() > 1 ? "  " + name(row.time.process) : "";
      const std::string numbers = described.numbers(row, terminal_) + "  ";
      const std::size_t taken = std::min(columns(numbers + where), terminal_.width - 12);
      line(numbers + shorten_left(printable(row.name), terminal_.width - taken, terminal_) + where);
    }
  }

  void moved() {
    if (facts_.moved.empty()) return;
    line(terminal_.paint("      out       in  ", Ink::kDim) +
         terminal_.paint("bytes by function", Ink::kAccent) +
         terminal_.paint("  of all processes", Ink::kDim));
    for (std::size_t i = 0; i < std::min(facts_.moved.size(), kRows); ++i) {
      const MovedRow& row = facts_.moved[i];
      line(formatted("{}{}  {}", bytes_or_dash(row.out()), bytes_or_dash(row.in()),
                     printable(row.name)));
    }
  }

  static std::string bytes_or_dash(std::uint64_t count) {
    return pad_left(count == 0 ? "-" : bytes(count), 9);
  }

  void efficiency() {
    if (!facts_.efficiency) return;
    const MpiEfficiency& one = *facts_.efficiency;
    const char* const times = terminal_.unicode ? "\u00d7" : "x";
    line(formatted("parallel efficiency {} = load balance {} {} communication {}",
                   percent(one.parallel()), percent(one.load_balance), times,
                   percent(one.communication)));
    if (one.serialisation && one.transfer) {
      line(formatted("communication {} = serialisation {} {} transfer {}",
                     percent(one.communication), percent(*one.serialisation), times,
                     percent(*one.transfer)));
    } else {
      line("serialisation and transfer are not known: " + facts_.messages.not_ideal);
    }
    line(formatted("work a process: {} on average, most {} in {}, of {}",
                   duration(one.mean_work, terminal_), duration(one.most_work, terminal_),
                   name(one.busiest), duration(one.runtime, terminal_)));
  }

  void waits() {
    if (facts_.messages.waits.empty()) return;
    line(terminal_.paint("   time   times  ", Ink::kDim) +
         terminal_.paint("waiting", Ink::kAccent) +
         terminal_.paint("  of all processes; who the longest", Ink::kDim));
    for (std::size_t kind = 0; kind < profile::kWaitKinds; ++kind) {
      profile::Wait all;
      std::uint32_t longest = 0;
      std::uint64_t most = 0;
      for (const auto& [process, waits] : facts_.messages.waits) {
        all.count += waits[kind].count;
        all.time += waits[kind].time;
        if (waits[kind].time > most) most = waits[kind].time, longest = process;
      }
      if (all.count == 0) continue;
      line(formatted("{} {}  {}  {} ({})", time(seconds(all.time)), pad_left(count(all.count), 7),
                     name_of(static_cast<profile::WaitKind>(kind)), name(longest),
                     duration(seconds(most), terminal_)));
    }
  }

  double seconds(std::uint64_t ticks) const {
    return static_cast<double>(ticks) * facts_.tick_seconds;
  }

  void notes() {
    const profile::MessageSummary& messages = facts_.messages;
    if (messages.unmatched != 0) {
      line(formatted("{} {}", plural(messages.unmatched, "message"),
                     messages.uncertain ? "sent or received that are not matched"
                                        : "of which only the sender or the receiver is known"));
    }
    if (messages.uncertain) {
      line("recording was off for a while, or events are lost: not all waiting is known");
    }
    if (messages.backwards != 0) {
      line(
          formatted("{} received before they were sent, by up to {}: the clocks of the hosts "
                    "differ",
                    plural(messages.backwards, "message"),
                    duration(seconds(messages.most_backwards), terminal_)));
    }
  }

  const MpiFacts& facts_;
  const Terminal& terminal_;
  Output& output_;
};

ordered_json spread_json(const Spread& spread) {
  return {{"total_s", spread.sum()},
          {"mean_s", spread.mean},
          {"min_s", spread.least},
          {"max_s", spread.most},
          {"process", spread.process}};
}

ordered_json moved_json(const std::vector<MovedRow>& rows) {
  ordered_json all = ordered_json::array();
  for (const MovedRow& row : rows) {
    ordered_json one = {{"name", row.name}};
    for (std::size_t i = 0; i < row.bytes.size(); ++i) one[kMovedBytes[i]] = row.bytes[i];
    all.push_back(std::move(one));
  }
  return all;
}

// Null: nothing in MPI; in it: not known.
ordered_json efficiency_json(const MpiFacts& facts) {
  if (!facts.efficiency) return nullptr;
  const MpiEfficiency& one = *facts.efficiency;
  const auto known = [](const std::optional<double>& value) {
    return value ? ordered_json(*value) : ordered_json();
  };
  return {{"processes", one.processes},
          {"runtime_s", one.runtime},
          {"ideal_runtime_s", known(one.ideal_runtime)},
          {"mean_work_s", one.mean_work},
          {"most_work_s", one.most_work},
          {"busiest", one.busiest},
          {"parallel", one.parallel()},
          {"load_balance", one.load_balance},
          {"communication", one.communication},
          {"serialisation", known(one.serialisation)},
          {"transfer", known(one.transfer)},
          {"not_known", facts.messages.not_ideal}};
}

}  // namespace

void write_mpi(const MpiFacts& facts, const Terminal& terminal, Output& output) {
  Writer(facts, terminal, output).write();
}

void write_mpi_json(const MpiFacts& facts, Output& output) {
  const profile::MessageSummary& messages = facts.messages;
  const auto in_seconds = [&](std::uint64_t ticks) {
    return static_cast<double>(ticks) * facts.tick_seconds;
  };
  ordered_json all;
  all["format"] = "timeloom-report-mpi";
  all["version"] = 1;
  all["processes"] = facts.processes;
  all["total_s"] = facts.total;
  all["in_mpi"] = spread_json(facts.in_mpi);
  all["outside"] = spread_json(facts.outside);
  all["efficiency"] = efficiency_json(facts);
  all["functions"] = mpi_table(0).json(facts.functions);
  all["callers"] = mpi_table(0).json(facts.callers);
  all["balance"] = mpi_table(0).json(facts.balance);
  all["bytes"] = moved_json(facts.moved);
  all["messages"] = ordered_json::array();
  for (const auto& [pair, one] : messages.traffic) {
    all["messages"].push_back({{"from", pair.first},
                               {"to", pair.second},
                               {"messages", one.messages},
                               {"bytes", one.bytes},
                               {"send_s", in_seconds(one.send_time)},
                               {"receive_s", in_seconds(one.receive_time)}});
  }
  all["collectives"] = ordered_json::array();
  for (const auto& [kind, one] : messages.collectives) {
    all["collectives"].push_back({{"operation", profile::name_of(kind)},
                                  {"calls", one.count},
                                  {"bytes_sent", one.sent},
                                  {"bytes_received", one.received}});
  }
  all["waits"] = ordered_json::array();
  for (const auto& [process, waits] : messages.waits) {
    for (std::size_t kind = 0; kind < waits.size(); ++kind) {
      if (waits[kind].count == 0) continue;
      all["waits"].push_back({{"process", process},
                              {"kind", name_of(static_cast<profile::WaitKind>(kind))},
                              {"count", waits[kind].count},
                              {"time_s", in_seconds(waits[kind].time)}});
    }
  }
  all["matched"] = messages.messages;
  all["unmatched"] = messages.unmatched;
  all["uncertain"] = messages.uncertain;
  all["backwards"] = messages.backwards;
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
