// `timeloom report --locks --csv`: a row for each lock, each line that held it and each that
// waited.
#include <cstdint>
#include <string>
#include <string_view>

#include "exchange/format_text.hpp"
#include "tools/report/locks/report_locks.hpp"

namespace timeloom::tools {
namespace {

constexpr const char* kLockColumns =
    "id,row,lock,kind,signal,file,line,function,thread,locks,processes,taken,held_s,others_waited_"
    "s,"
    "waits,waited_s,longest_s,threads,attempts_in_vain,released_by_others\n";

class LockCsvRow {
 public:
  LockCsvRow& text(std::string_view value) {
    separate();
    exchange::append_csv(row_, value);
    return *this;
  }
  LockCsvRow& number(std::uint64_t value) {
    separate();
    exchange::append_number(row_, value);
    return *this;
  }
  LockCsvRow& time(std::uint64_t nanoseconds) {
    separate();
    exchange::append_number(row_, static_cast<double>(nanoseconds) * 1e-9);
    return *this;
  }
  LockCsvRow& none(int columns = 1) {
    for (; columns > 0; --columns) separate();
    return *this;
  }
  LockCsvRow& line(const LockLine& at) {
    text(at.file);
    if (at.line == 0) {
      none();
    } else {
      number(at.line);
    }
    return text(at.function);
  }
  std::string take() { return row_ + "\n"; }

 private:
  void separate() {
    if (!first_) row_ += ',';
    first_ = false;
  }
  std::string row_;
  bool first_ = true;
};

}  // namespace

void write_locks_csv(const LockFacts& facts, const Definitions& definitions, Output& output) {
  output.write(kLockColumns);
  for (std::size_t id = 0; id < facts.rows.size(); ++id) {
    const LockRow& lock = facts.rows[id];
    const auto begin = [&](const char* kind) {
      LockCsvRow row;
      row.number(id).text(kind).text(lock_name(lock)).text(lock_kind(lock.kind));
      row.number(lock.is_signal() ? 1 : 0);
      return row;
    };
    LockCsvRow row = begin("lock");
    row.line(lock.line).none().number(lock.locks).number(lock.processes).number(lock.takes);
    row.time(lock.held).none().number(lock.waits).time(lock.waited).none().number(lock.threads);
    output.write(row.number(lock.refused).number(lock.foreign).take());
    for (const LockHolder& one : lock.holders) {
      LockCsvRow of = begin("holder");
      of.line(one.line).none(3).number(one.takes).time(one.held).time(one.blocked).none(2);
      output.write(of.time(one.longest).none(3).take());
    }
    for (const LockWaiter& one : lock.waiters) {
      LockCsvRow of = begin("waiter");
      of.line(one.line).text(lock_thread_name(one.location, one.process, definitions)).none(5);
      output.write(of.number(one.waits).time(one.waited).time(one.longest).none(3).take());
    }
  }
}

}  // namespace timeloom::tools
