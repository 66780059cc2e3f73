#include "tools/text/text_table.hpp"

#include <algorithm>

#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr std::size_t kNameGap = 2;
constexpr std::size_t kLeastName = 12;

// The length a place has without its directories.
std::size_t shortest(const std::string& place) {
  return columns(place.substr(place.rfind('/') + 1));
}

}  // namespace

Table::Widths Table::measure() const {
  Widths widths;
  std::size_t used = 0;
  for (std::size_t i = 0; i < headings_.size(); ++i) {
    std::size_t width = columns(headings_[i]);
    for (const TableRow& row : rows_) width = std::max(width, columns(row.cells[i]));
    widths.cells.push_back(width);
    used += width + (i == 0 ? 0 : gap_);
  }
  std::size_t name = columns(name_), place = 0, least_place = 0;
  for (const TableRow& row : rows_) {
    name = std::max(name, columns(row.glyphs) + columns(row.name));
    place = std::max(place, columns(row.place));
    least_place = std::max(least_place, shortest(row.place));
  }
  const std::size_t left =
      std::max(terminal_.width, used + kNameGap + kLeastName) - used - kNameGap;
  if (name + kNameGap + place > left) {
    // Names matter most, but a file without its directories takes up to two fifths.
    const std::size_t for_place = std::min(least_place, left * 2 / 5);
    const std::size_t wanted_by_name = std::min(name, left - std::min(left, for_place + kNameGap));
    place = std::min(place, left - std::min(left, wanted_by_name + kNameGap));
    name = wanted_by_name;
  }
  widths.name = name;
  widths.place = place;
  return widths;
}

std::string Table::line(const TableRow& row, const Widths& widths, Ink heading) const {
  std::string text;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    text += std::string(i == 0 ? 0 : gap_, ' ') + pad_left(row.cells[i], widths.cells[i]);
  }
  text = terminal_.paint(text, heading == Ink::kPlain ? row.ink : heading) +
         std::string(kNameGap, ' ');
  // Marks take at most half; the nearest callers are those that matter.
  const std::size_t for_marks = std::min(columns(row.glyphs), widths.name / 2);
  const std::string glyphs = shorten_left(row.glyphs, for_marks, terminal_);
  const std::size_t for_name = widths.name - columns(glyphs);
  const bool is_file = row.name.starts_with('/');
  const std::string name = is_file ? shorten_file(row.name, for_name, terminal_)
                                   : shorten_left(row.name, for_name, terminal_);
  const std::string place = shorten_path(row.place, widths.place, terminal_);
  text += terminal_.paint(glyphs, Ink::kDim) +
          terminal_.paint(name, heading == Ink::kPlain ? row.ink : heading);
  if (!place.empty()) {
    const std::size_t used = columns(glyphs) + columns(name);
    text += std::string(widths.name - std::min(widths.name, used) + kNameGap, ' ') +
            terminal_.paint(place, Ink::kDim);
  }
  return text + "\n";
}

void Table::write(Output& output) const {
  const Widths widths = measure();
  output.write(
      line({headings_, "", name_, widths.place == 0 ? "" : "file:line"}, widths, Ink::kDim));
  for (const TableRow& row : rows_) {
    if (output.closed()) return;
    output.write(line(row, widths, Ink::kPlain));
  }
}

}  // namespace timeloom::tools
