#include "doors/omnitrace/format/text_report.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include "exchange/format_text.hpp"

namespace timeloom::omnitrace {

namespace {

constexpr std::size_t kPiece = 1 << 16;

using Line = std::vector<std::string>;  // a cell for each column

// Characters, so that columns of names in UTF-8 stand below each other.
std::size_t length(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

std::string_view first_characters(std::string_view text, std::size_t number) {
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if ((text[end] & 0xc0) != 0x80 && seen++ == number) break;
  }
  return text.substr(0, end);
}

std::string shortened(std::string text, std::size_t most) {
  if (length(text) <= most) return text;
  if (most <= 20) return std::string(first_characters(text, most));
  return std::string(first_characters(text, most - 3)) + "...";
}

std::string left(std::string_view text, std::size_t width) {
  std::string padded(text);
  padded.append(width - std::min(width, length(text)), ' ');
  return padded;
}

std::string right(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, length(text)), ' ') + std::string(text);
}

class TextReport {
 public:
  TextReport(const TextForm& form, const TextWriter& write) : form_(form), write_(write) {
    headers_ = {"LABEL", "COUNT", "DEPTH", "METRIC"};
    if (!form.units.empty()) headers_.emplace_back("UNITS");
    first_number_ = headers_.size();
    if (form.columns != Columns::kNoSum) headers_.emplace_back("SUM");
    if (form.columns != Columns::kSumOnly) {
      for (const char* name : {"MEAN", "MIN", "MAX", "VAR", "STDDEV"}) headers_.emplace_back(name);
      if (!form.difference) headers_.emplace_back("% SELF");
    }
    for (std::size_t i = 0; i < headers_.size(); ++i) {
      const std::size_t number =
          i < first_number_ || form.number_width == 0 ? 0 : form.number_width + 2;
      widths_.push_back(std::max({form.least_width, headers_[i].size() + 2, number}));
    }
  }

  void measure(const TextRow& row) {
    for (std::size_t i = 0; i < form_.metrics.size(); ++i) {
      const Line line = line_of(row, i);
      for (std::size_t column = 0; column < line.size(); ++column) {
        widths_[column] = std::max(widths_[column], length(line[column]) + 2);
      }
    }
  }

  void begin() {
    text_ += rule('-');
    add_title();
    text_ += rule('-') + header() + rule('|');
  }

  void add(const TextRow& row) {
    for (std::size_t i = 0; i < form_.metrics.size(); ++i) {
      const Line line = line_of(row, i);
      for (std::size_t column = 0; column < line.size(); ++column) {
        const bool number = column >= first_number_ || column == 1 || column == 2;
        const std::size_t width = widths_[column] - 2;
        text_ += "| " + (number ? right(line[column], width) : left(line[column], width)) + " ";
      }
      text_ += "|\n";
    }
    if (text_.size() > kPiece) pass();
  }

  void separate() { text_ += rule('|'); }

  void end() {
    text_ += rule('-');
    pass();
  }

 private:
  std::string number(double value, int precision) const {
    std::array<char, 400> text{};
    const int size = std::snprintf(text.data(), text.size(), form_.scientific ? "%.*e" : "%.*f",
                                   precision, value);
    return {text.data(), static_cast<std::size_t>(std::clamp(size, 0, 399))};
  }

  bool is_empty(const TextRow& row) const { return row.count == 0 && !form_.difference; }

  Line line_of(const TextRow& row, std::size_t value) const {
    Line line = {"", "", "", form_.metrics[value]};
    if (value == 0) {
      line[0] = shortened(exchange::one_line(row.label), form_.max_width);
      line[1] = is_empty(row) ? "-" : std::to_string(row.count);
      line[2] = is_empty(row) ? "-" : std::to_string(row.depth);
    }
    if (!form_.units.empty()) line.push_back(form_.units[value]);
    const Numbers& numbers = row.values[value];
    const auto add = [&](double one, int precision) {
      line.push_back(is_empty(row) ? "-" : number(one, precision));
    };
    if (form_.columns != Columns::kNoSum) add(numbers.sum, form_.precision);
    if (form_.columns == Columns::kSumOnly) return line;
    add(numbers.mean, form_.mean_precision);
    add(numbers.min, form_.precision);
    add(numbers.max, form_.precision);
    add(numbers.variance, form_.mean_precision);
    add(numbers.deviation, form_.mean_precision);
    if (!form_.difference) line.push_back(is_empty(row) ? "-" : self(numbers.self));
    return line;
  }

  std::string self(double value) const {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.*f", form_.self_precision, value);
    return text.data();
  }

  std::string rule(char joint) const {
    std::string line = "|";
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      if (i > 0) line += joint;
      line.append(widths_[i], '-');
    }
    return line + "|\n";
  }

  std::string header() const {
    std::string line;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      const std::size_t width = widths_[i], size = headers_[i].size();
      std::size_t lead = width / 2 - std::min(width / 2, (size + 1) / 2);
      if (size + lead > width - 3) lead = width - 3 - std::min(width - 3, size);
      if (lead > 0) --lead;
      line += "| " + left(std::string(lead, ' ') + headers_[i], width - 2) + " ";
    }
    return line + "|\n";
  }

  void add_title() {
    std::size_t total = 0;
    for (const std::size_t width : widths_) total += width + 1;
    std::string line;
    const auto put = [&] {
      const std::size_t width = total / 2 - line.size() / 2 + line.size();
      text_ += "|" + right(line, width) + right("|", total - width) + "\n";
      line.clear();
    };
    for (const std::string& word : words(total)) {
      if (!line.empty() && line.size() + word.size() + 2 >= total) put();
      line += (line.empty() ? "" : " ") + word;
    }
    put();
  }

  // Of the title, in upper case. One that is longer than a line loses its middle.
  std::vector<std::string> words(std::size_t total) const {
    std::vector<std::string> found(1);
    for (const char byte : form_.description) {
      if (byte != ' ') {
        found.back() += static_cast<char>(std::toupper(static_cast<unsigned char>(byte)));
      } else if (!found.back().empty()) {
        found.emplace_back();
      }
    }
    for (std::string& word : found) {
      if (word.size() + 2 < total) continue;
      const std::size_t half = (total - 2 - std::min<std::size_t>(total - 2, 4)) / 2;
      word = word.substr(0, half) + "..." + word.substr(word.size() - half);
    }
    return found;
  }

  void pass() {
    write_(text_);
    text_.clear();
  }

  const TextForm& form_;
  const TextWriter& write_;
  Line headers_;
  std::size_t first_number_ = 0;  // the column
  std::vector<std::size_t> widths_;
  std::string text_;
};

}  // namespace

void write_text_report(const TextForm& form, std::size_t rows, const RowSource& row,
                       const TextWriter& write) {
  TextReport report(form, write);
  for (std::size_t i = 0; i < rows; ++i) report.measure(row(i));
  report.begin();
  for (std::size_t i = 0; i < rows; ++i) {
    report.add(row(i));
    const bool last = i + 1 == rows;
    if (form.separator_freq != 0 && !last && (i + 1) % form.separator_freq == 0) report.separate();
  }
  report.end();
}

}  // namespace timeloom::omnitrace
