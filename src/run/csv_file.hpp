// A CSV file of a run: a line of headings, then a line for each row. The files lines.csv and
// samples.csv are of this kind.
//
// Constant values, for any thread.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "run/contents.hpp"
#include "run/csv_fields.hpp"

namespace timeloom::run {

// Returns the error of a problem, with the id of messages about the file.
using CsvError = Error (*)(const std::string& problem);

[[noreturn]] void refuse_csv(Item item, CsvError error);
// See CsvFile::text().
std::string csv_text(const std::filesystem::path& run, Item item, std::string_view headings,
                     CsvError error);

template <std::size_t kColumns>
class CsvFile {
 public:
  using Fields = std::array<std::string, kColumns>;

  // `headings`: with the end of their line.
  constexpr CsvFile(Item item, std::string_view headings, CsvError error) noexcept
      : item_(item), headings_(headings), error_(error) {}

  // Returns the rows in such a text, each made from its fields by `row_of`. Throws Error for a text
  // that this version does not write.
  template <typename RowOf>
  auto rows(std::string_view text, RowOf row_of) const {
    std::vector<decltype(row_of(std::declval<Fields&>()))> result;
    if (!text.starts_with(headings_)) refuse_csv(item_, error_);
    text.remove_prefix(headings_.size());
    Fields fields;
    while (!text.empty()) {
      if (!take_row(text, fields)) refuse_csv(item_, error_);
      result.push_back(row_of(fields));
    }
    return result;
  }
  template <typename Number>
  Number number(const std::string& field) const {
    const auto number = number_of_field<Number>(field);
    if (!number) refuse_csv(item_, error_);
    return *number;
  }
  // The text of the file of a run; without one, of a file without rows. Throws Error, also for a
  // file of 1 GiB and more.
  std::string text(const std::filesystem::path& run) const {
    return csv_text(run, item_, headings_, error_);
  }

 private:
  Item item_;
  std::string_view headings_;
  CsvError error_;
};

}  // namespace timeloom::run
