#include "formats/pstats/pstats.hpp"

#include <bit>
#include <limits>

#include "formats/pstats/function_table.hpp"

namespace timeloom::pstats {

using exchange::Destination;
using exchange::Options;

namespace {

// Writes Python objects in the format of the marshal module, version 2, which all Pythons read.
class Marshal {
 public:
  explicit Marshal(Destination& out) : out_(out) {}

  void begin_dictionary() { byte('{'); }
  void end_dictionary() { byte('0'); }
  void tuple(std::uint8_t size) {
    byte('(');
    number(size, 4);
  }
  void integer(std::uint64_t value) {
    if (value <= std::numeric_limits<std::int32_t>::max()) {
      byte('i');
      return number(value, 4);
    }
    byte('l');  // digits of 15 bits
    std::string digits;
    for (; value != 0; value >>= 15) {
      digits += static_cast<char>(value & 0xff);
      digits += static_cast<char>(value >> 8 & 0x7f);
    }
    number(digits.size() / 2, 4);
    text_ += digits;
  }
  void real(double value) {
    byte('g');
    number(std::bit_cast<std::uint64_t>(value), 8);
  }
  void text(const std::string& value) {
    byte('u');
    number(value.size(), 4);
    text_ += value;
  }
  void pass() {
    out_.write(text_);
    text_.clear();
  }

 private:
  void byte(char value) { text_ += value; }
  void number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) text_ += static_cast<char>(value >> (8 * i));
  }

  Destination& out_;
  std::string text_;
};

class PstatsWriter {
 public:
  PstatsWriter(const Definitions& definitions, Destination& out)
      : marshal_(out), per_second_(static_cast<double>(definitions.clock.ticks_per_second)) {}

  void write(const std::map<Function, Entry>& table) {
    marshal_.begin_dictionary();
    for (const auto& [function, entry] : table) {
      write_function(function);
      marshal_.tuple(5);
      marshal_.integer(entry.primitive);
      marshal_.integer(entry.calls);
      write_times(entry);
      marshal_.begin_dictionary();
      for (const auto& [caller, count] : entry.callers) {
        write_function(caller);
        marshal_.tuple(4);
        marshal_.integer(count.calls);  // the reverse order here
        marshal_.integer(count.primitive);
        write_times(count);
      }
      marshal_.end_dictionary();
      marshal_.pass();
    }
    marshal_.end_dictionary();
    marshal_.pass();
  }

 private:
  void write_function(const Function& function) {
    const auto& [file, line, name] = function;
    marshal_.tuple(3);
    marshal_.text(file);
    marshal_.integer(line);
    marshal_.text(name);
  }
  void write_times(const Count& count) {
    marshal_.real(seconds(count.exclusive));
    marshal_.real(seconds(count.all));
  }
  double seconds(std::uint64_t ticks) const {
    return static_cast<double>(profile::signed_value(ticks)) / per_second_;
  }

  Marshal marshal_;
  double per_second_;
};

void write_paths(const profile::CallTree& tree, const Options&, Destination& out) {
  PstatsWriter(tree.definitions, out).write(function_table(tree));
}

}  // namespace

const exchange::Format kFormat = {
    .name = "pstats",
    .suffix = "pstats",
    .opened_by = "python -m pstats, snakeviz, gprof2dot -f pstats, tuna",
    .of_paths = write_paths,
    .text = false,
};

}  // namespace timeloom::pstats
