#include "run/sample_rows.hpp"

#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "run/csv_file.hpp"

namespace timeloom::run {
namespace {

constexpr std::string_view kSampleHeadings =
    "function,file,line,library,library function,samples,nanoseconds\n";
Error sample_error(const std::string& problem) { return Error(problem + " [TL460]"); }
constexpr CsvFile<7> kSamplesFile(Item::kSamples, kSampleHeadings, sample_error);

}  // namespace

std::string sample_text(const std::vector<SampleRow>& rows) {
  std::string text(kSampleHeadings);
  for (const SampleRow& row : rows) {
    for (const std::string& field : {row.function, row.file, std::to_string(row.line), row.library,
                                     row.symbol, std::to_string(row.samples)}) {
      text += csv_field(field) + ",";
    }
    text += std::to_string(row.ns) + "\n";
  }
  return text;
}

std::vector<SampleRow> parse_samples(const std::string& text) {
  return kSamplesFile.rows(text, [](auto& fields) {
    return SampleRow{std::move(fields[0]),
                     std::move(fields[1]),
                     kSamplesFile.number<std::uint32_t>(fields[2]),
                     std::move(fields[3]),
                     std::move(fields[4]),
                     kSamplesFile.number<std::uint64_t>(fields[5]),
                     kSamplesFile.number<std::uint64_t>(fields[6])};
  });
}

std::vector<SampleRow> read_sample_rows(const std::filesystem::path& run) {
  return parse_samples(kSamplesFile.text(run));
}

}  // namespace timeloom::run
