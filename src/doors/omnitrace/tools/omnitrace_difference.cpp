#include "doors/omnitrace/tools/omnitrace_difference.hpp"

#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/error.hpp"

namespace timeloom::tools {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;
using omnitrace::Numbers;
using omnitrace::TextRow;

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

bool is_report(const std::string& name) {
  return name.ends_with(".json") && !name.ends_with(".tree.json") && !name.ends_with(".diff.json");
}

// "|07>>> f" as "|7>>> f": how many digits there are depends on the number of threads.
std::string without_zeros(const std::string& prefix) {
  std::string text;
  const std::size_t end = std::min(prefix.find(">>>"), prefix.size());
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    const bool leading = i < end && prefix[i] == '0' && !text.empty() && text.back() == '|';
    if (!leading || i + 1 >= end || prefix[i + 1] == '|') text += prefix[i];
  }
  return text;
}

// A number, or one of the two that an object has.
double number_at(const json& of, const char* key, std::size_t value) {
  const auto found = of.find(key);
  if (found == of.end()) return 0;
  const json& one = found->is_object() ? found->at(value == 0 ? "first" : "second") : *found;
  return one.is_number() ? one.get<double>() : 0;
}

TextRow row_of(const json& row, const omnitrace::Metric& metric, double scale) {
  const json& entry = row.at("entry");
  TextRow text{row.at("prefix"), entry.at("laps"), row.at("depth"), {}};
  const json stats = row.value("stats", json::object());
  for (std::size_t value = 0; value < metric.values(); ++value) {
    Numbers& numbers = text.values[value];
    numbers.sum = scale * number_at(entry, "repr_data", value);
    if (metric.kind == omnitrace::Kind::kTrips) numbers.sum = static_cast<double>(text.count);
    numbers.mean = scale * number_at(stats, "mean", value);
    numbers.min = scale * number_at(stats, "min", value);
    numbers.max = scale * number_at(stats, "max", value);
    numbers.deviation = scale * number_at(stats, "stddev", value);
    numbers.variance = numbers.deviation * numbers.deviation;
  }
  return text;
}

double scale_of(const json& report, const omnitrace::Metric& metric,
                const omnitrace::ReportStyle& style) {
  const bool has_unit =
      metric.kind == omnitrace::Kind::kTime || metric.kind == omnitrace::Kind::kMemory;
  const double theirs = number_at(report, "unit_value", 0);
  return has_unit && theirs > 0 ? theirs / omnitrace::unit_of(metric, style).value : 1;
}

const json& graph_of(const json& report, std::optional<std::uint64_t> rank) {
  const json& ranks = report.at("ranks");
  for (const json& one : ranks) {
    if (rank && one.at("rank") == *rank) return one.at("graph");
  }
  return ranks.at(0).at("graph");
}

void subtract(TextRow& from, const TextRow& other) {
  from.count -= other.count;
  for (std::size_t i = 0; i < from.values.size(); ++i) {
    for (double Numbers::*one : {&Numbers::sum, &Numbers::mean, &Numbers::min, &Numbers::max,
                                 &Numbers::variance, &Numbers::deviation}) {
      from.values[i].*one -= other.values[i].*one;
    }
  }
}

// The rows of one or two reports as a tree, in which equal call paths are one node.
class Tree {
 public:
  // `add(node, fresh)`: for each row.
  template <typename Add>
  void walk(const std::vector<TextRow>& rows, const Add& add) {
    std::vector<std::size_t> way;
    std::map<std::pair<std::size_t, std::string>, int> seen;  // of a timeline: how often
    for (const TextRow& row : rows) {
      way.resize(std::min<std::size_t>(way.size(), row.depth));
      const std::size_t parent = way.empty() ? kNone : way.back();
      const std::string label = without_zeros(row.label);
      const int turn = seen[{parent, label}]++;
      const auto [found, fresh] = places_.try_emplace({parent, label, turn}, nodes_.size());
      if (fresh) {
        nodes_.push_back({row, {}});
        (parent == kNone ? roots_ : nodes_[parent].children).push_back(found->second);
      }
      add(nodes_[found->second].row, row, fresh);
      way.push_back(found->second);
    }
  }

  std::vector<TextRow> rows() const {
    std::vector<TextRow> ordered;
    std::vector<std::size_t> waiting(roots_.rbegin(), roots_.rend());
    while (!waiting.empty()) {
      const Node& node = nodes_[waiting.back()];
      waiting.pop_back();
      ordered.push_back(node.row);
      waiting.insert(waiting.end(), node.children.rbegin(), node.children.rend());
    }
    return ordered;
  }

 private:
  struct Node {
    TextRow row;
    std::vector<std::size_t> children;
  };
  std::vector<Node> nodes_;
  std::vector<std::size_t> roots_;
  std::map<std::tuple<std::size_t, std::string, int>, std::size_t> places_;
};

}  // namespace

fs::path earlier_report(const OmnitracePlace& place, std::string_view metric) {
  const fs::path directory(place.directory);
  OmnitracePlace bare = place;
  bare.suffix.clear();
  for (const OmnitracePlace* one : {&place, static_cast<const OmnitracePlace*>(&bare)}) {
    fs::path file = directory / file_name(*one, metric, "json");
    if (fs::exists(file)) return file;
  }
  const fs::path wanted = directory / file_name(bare, metric, "json");
  const std::string begin = wanted.stem().string() + "-";
  std::vector<fs::path> found;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(wanted.parent_path(), unreadable)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(begin) && is_report(name)) found.push_back(entry.path());
  }
  if (found.size() == 1) return found.front();
  throw Error("OMNITRACE_DIFF_OUTPUT: there is " +
              (found.empty() ? "no report " + wanted.string()
                             : "more than one report " + begin + "*.json in " +
                                   wanted.parent_path().string()) +
              "; OMNITRACE_INPUT_PATH and OMNITRACE_INPUT_PREFIX choose one [TL715]");
}

std::vector<TextRow> read_report(const fs::path& file, const omnitrace::Metric& metric,
                                 const omnitrace::ReportStyle& style,
                                 std::optional<std::uint64_t> rank) {
  constexpr std::uintmax_t kLargest = std::uintmax_t{1} << 30;
  std::error_code error;
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) > kLargest || error) {
    throw Error(file.string() + " is not a file of at most 1 GiB [TL715]");
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error("cannot read " + file.string() + " [TL715]");
  try {
    const json all = json::parse(stream);
    const json& report = all.at("timemory").at(std::string(metric.id));
    std::vector<TextRow> rows;
    for (const json& row : graph_of(report, rank)) {
      rows.push_back(row_of(row, metric, scale_of(report, metric, style)));
    }
    return rows;
  } catch (const json::exception&) {
    throw Error(file.string() + " is not a JSON report of " + std::string(metric.id) +
                " with rows; record it with OMNITRACE_JSON_OUTPUT=ON [TL715]");
  }
}

std::vector<TextRow> difference(const std::vector<TextRow>& now,
                                const std::vector<TextRow>& before) {
  Tree tree;
  tree.walk(now, [](TextRow&, const TextRow&, bool) {});
  tree.walk(before, [](TextRow& of, const TextRow& row, bool fresh) {
    if (fresh) of = TextRow{row.label, 0, row.depth, {}};
    subtract(of, row);
  });
  return tree.rows();
}

}  // namespace timeloom::tools
