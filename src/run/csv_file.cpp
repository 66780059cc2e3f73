#include "run/csv_file.hpp"

#include <cstring>

#include "os/read_file.hpp"

namespace timeloom::run {

void refuse_csv(Item item, CsvError error) {
  throw error(std::string(name_of(item)) +
              " is damaged or of another version; weave the run again, or remove the file");
}

std::string csv_text(const std::filesystem::path& run, Item item, std::string_view headings,
                     CsvError error) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  const std::filesystem::path path = run / name_of(item);
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return std::string(headings);
  int failed = 0;
  std::string text = os::read_file(path.string(), kMost, &failed);
  if (failed != 0) {
    throw error("cannot read " + path.string() + ": " + std::strerror(failed));
  }
  if (text.size() == kMost) refuse_csv(item, error);
  return text;
}

}  // namespace timeloom::run
