#include "tools/report/mpi/report_mpi_matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {
namespace {

using profile::Traffic;

constexpr std::size_t kMostPairs = 10;
constexpr std::size_t kMostInTable = 16;  // processes
constexpr std::size_t kProcessNameWidth = 13;
constexpr std::size_t kNumberWidth = 9;

// From nothing to the most; a square with messages in it is never empty.
constexpr std::array<const char*, 5> kShades = {" ", "\u2591", "\u2592", "\u2593", "\u2588"};
constexpr std::array<const char*, 5> kPlainShades = {" ", ".", ":", "+", "#"};
constexpr std::array<Ink, 5> kInks = {Ink::kPlain, Ink::kDim, Ink::kPlain, Ink::kAccent,
                                      Ink::kWarning};
constexpr std::size_t kMost = kShades.size() - 1;

// Of squares of some processes each: a row for each sender, and in it one for each receiver.
struct Picture {
  explicit Picture(std::string of) : title(std::move(of)) {}
  std::uint64_t most() const { return squares.empty() ? 0 : *std::ranges::max_element(squares); }

  std::string title;
  std::vector<std::uint64_t> squares;
};

// How pictures fit into the terminal.
struct Layout {
  std::size_t pictures = 1;
  std::size_t columns = 1;    // of a square
  std::size_t processes = 1;  // of a square, in each direction
  std::size_t squares = 0;    // in each direction
};

class Matrix {
 public:
  Matrix(const MpiFacts& facts, const Terminal& terminal)
      : facts_(facts), terminal_(terminal), processes_(facts.processes.size()) {}

  std::vector<std::string> take_lines() {
    if (facts_.messages.traffic.empty()) return {};
    const std::size_t width = kProcessNameWidth + 3 + kNumberWidth * processes_;
    if (processes_ <= kMostInTable && width <= terminal_.width) {
      table();
    } else {
      pairs();
    }
    if (processes_ > 1) pictures();
    return std::move(lines_);
  }

 private:
  std::string dim(std::string_view text) const { return terminal_.paint(text, Ink::kDim); }
  std::string accent(std::string_view text) const { return terminal_.paint(text, Ink::kAccent); }
  std::string time(std::uint64_t ticks) const {
    return duration(static_cast<double>(ticks) * facts_.tick_seconds, terminal_);
  }
  std::string name(std::size_t process) const {
    return process < processes_ ? printable(facts_.processes[process]) : std::string("?");
  }
  std::string label(std::string_view text) const {
    return pad_left(shorten_right(text, kProcessNameWidth, terminal_), kProcessNameWidth);
  }

  // The line of a sender, with a text of each of its pairs.
  template <typename TextOf>
  std::string row(std::string_view label_text, std::uint32_t from, const char* none,
                  TextOf&& text_of) const {
    std::string line = label(label_text) + "   ";
    for (std::uint32_t to = 0; to < processes_; ++to) {
      const auto found = facts_.messages.traffic.find({from, to});
      const bool any = found != facts_.messages.traffic.end();
      line += pad_left(any ? text_of(found->second) : none, kNumberWidth);
    }
    return line;
  }

  void table() {
    const std::string title = "bytes sent (messages)";
    const std::string rest = ", time in their calls";
    const bool fits = title.size() + rest.size() <= terminal_.width;
    lines_.push_back(accent(title) + (fits ? dim(rest) : ""));
    std::string head = pad_left("to", kProcessNameWidth + 3);
    for (std::size_t to = 0; to < processes_; ++to) {
      head += pad_left(std::to_string(to), kNumberWidth);
    }
    lines_.push_back(dim(head));
    for (std::uint32_t from = 0; from < processes_; ++from) {
      lines_.push_back(
          row(name(from), from, "-", [](const Traffic& one) { return bytes(one.bytes); }));
      if (!sends(from)) continue;
      lines_.push_back(dim(
          row("", from, "", [](const Traffic& one) { return formatted("({})", one.messages); })));
      lines_.push_back(
          dim(row("sending", from, "", [&](const Traffic& one) { return time(one.send_time); })));
      lines_.push_back(dim(
          row("receiving", from, "", [&](const Traffic& one) { return time(one.receive_time); })));
    }
  }

  bool sends(std::uint32_t from) const {
    const auto first = facts_.messages.traffic.lower_bound({from, 0});
    return first != facts_.messages.traffic.end() && first->first.first == from;
  }

  void pairs() {
    std::vector<std::pair<profile::ProcessPair, Traffic>> all(facts_.messages.traffic.begin(),
                                                              facts_.messages.traffic.end());
    std::ranges::stable_sort(all, std::ranges::greater(),
                             [](const auto& one) { return one.second.bytes; });
    lines_.push_back(dim("    bytes messages sending receiving  ") + accent("from, to"));
    for (std::size_t i = 0; i < std::min(all.size(), kMostPairs); ++i) {
      const auto& [pair, one] = all[i];
      lines_.push_back(formatted("{} {} {} {}  {}, {}", pad_left(bytes(one.bytes), 9),
                                 pad_left(count(one.messages), 8), pad_left(time(one.send_time), 7),
                                 pad_left(time(one.receive_time), 9), name(pair.first),
                                 name(pair.second)));
    }
  }

  // Two pictures, and squares of two columns, which are square, where there is room.
  Layout layout() const {
    const std::size_t room = terminal_.width - kProcessNameWidth - 1;
    for (const Layout& one : {Layout{2, 2}, Layout{2, 1}, Layout{1, 2}, Layout{1, 1}}) {
      if (one.pictures * (one.columns * processes_ + 3) <= room + 1) {
        return {one.pictures, one.columns, 1, processes_};
      }
    }
    const std::size_t processes = (processes_ + room - 3) / (room - 2);
    return {1, 1, processes, (processes_ + processes - 1) / processes};
  }

  template <typename Number>
  Picture picture(std::string title, const Layout& layout, Number&& number) const {
    Picture result(std::move(title));
    result.squares.resize(layout.squares * layout.squares);
    for (const auto& [pair, one] : facts_.messages.traffic) {
      if (std::max(pair.first, pair.second) >= processes_) continue;
      const std::size_t row = pair.first / layout.processes;
      result.squares[row * layout.squares + pair.second / layout.processes] += number(one);
    }
    return result;
  }

  // By their bytes, or by their number where all of them are empty.
  void pictures() {
    const Layout fit = layout();
    Picture sent = picture("bytes", fit, [](const Traffic& one) { return one.bytes; });
    std::string most = bytes(sent.most());
    if (sent.most() == 0) {
      sent = picture("messages", fit, [](const Traffic& one) { return one.messages; });
      most = count(sent.most());
    }
    const Picture spent =
        picture("time", fit, [](const Traffic& one) { return one.send_time + one.receive_time; });
    head(fit, sent.title, spent.title);
    for (std::size_t from = 0; from < fit.squares; ++from) {
      std::string line = label(row_name(from * fit.processes, fit.processes)) + " ";
      line += squares(sent, from, fit);
      if (fit.pictures == 2) line += " " + squares(spent, from, fit);
      lines_.push_back(std::move(line));
    }
    legend("of " + most, fit.pictures == 2 ? ", " + time(spent.most()) : "");
  }

  // `more` and the indentation are left out where there is no room.
  void legend(std::string most, const std::string& more) {
    std::string shades;
    std::size_t width = 0;
    for (std::size_t level = 1; level <= kMost; ++level) {
      const std::string share = formatted(" {}%  ", 100 * level / kMost);
      shades += shade(level, 1) + dim(share);
      width += 1 + columns(share);
    }
    if (width + columns(most + more) <= terminal_.width) most += more;
    constexpr std::size_t kIndent = kProcessNameWidth + 2;
    const bool fits = kIndent + width + columns(most) <= terminal_.width;
    lines_.push_back(std::string(fits ? kIndent : 0, ' ') + shades + dim(most));
  }

  void head(const Layout& layout, const std::string& first, const std::string& second) {
    const std::size_t width = layout.columns * layout.squares + 3;
    std::string line = dim(pad_left("from, to", kProcessNameWidth)) + "  ";
    if (layout.pictures == 2 && width > columns(first)) {
      line += accent(pad_right(first, width)) + accent(second);
    } else {
      line += accent(layout.pictures == 2 ? first + ", " + second : first);
    }
    if (layout.processes > 1) line += dim(formatted(" of {} processes a square", layout.processes));
    lines_.push_back(std::move(line));
  }

  std::string row_name(std::size_t first, std::size_t processes) const {
    const std::size_t last = std::min(first + processes, processes_) - 1;
    return last == first ? name(first) : formatted("{} to {}", first, last);
  }

  std::string squares(const Picture& picture, std::size_t from, const Layout& layout) const {
    const std::string edge = dim(terminal_.unicode ? "\u2502" : "|");
    const std::uint64_t most = std::max<std::uint64_t>(picture.most(), 1);
    std::string line = edge;
    for (std::size_t to = 0; to < layout.squares; ++to) {
      const std::uint64_t number = picture.squares[from * layout.squares + to];
      const double share = static_cast<double>(number) / static_cast<double>(most);
      line += shade(static_cast<std::size_t>(std::ceil(share * kMost)), layout.columns);
    }
    return line + edge;
  }

  std::string shade(std::size_t level, std::size_t columns) const {
    std::string text;
    for (std::size_t i = 0; i < columns; ++i) {
      text += (terminal_.unicode ? kShades : kPlainShades)[level];
    }
    return level == 0 ? text : terminal_.paint(text, kInks[level]);
  }

  const MpiFacts& facts_;
  const Terminal& terminal_;
  const std::size_t processes_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> matrix_lines(const MpiFacts& facts, const Terminal& terminal) {
  return Matrix(facts, terminal).take_lines();
}

}  // namespace timeloom::tools
