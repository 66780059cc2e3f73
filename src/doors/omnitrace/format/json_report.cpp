#include "doors/omnitrace/format/json_report.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>

#include "exchange/format_text.hpp"

namespace timeloom::omnitrace {

namespace {

constexpr std::size_t kJsonPiece = 1 << 16;

// A number with a point, as readers of doubles expect.
void append_real(std::string& to, double number) {
  const std::size_t begin = to.size();
  exchange::append_json_number(to, number);
  if (to.find_first_of(".en", begin) == std::string::npos) to += ".0";
}

class JsonReport {
 public:
  JsonReport(const MetricRows& flat, const MetricRows& tree, const ReportStyle& style,
             const JsonProcess& process, const TextWriter& write)
      : flat_(flat), tree_(tree), style_(style), process_(process), write_(write) {}

  void run() {
    begin();
    if (style_.flat_json) add_rows();
    if (style_.tree_json) add_tree("graph");
    end();
  }

  void run_tree() {
    begin();
    add_tree("mpi");
    end();
  }

  void run_difference(const std::vector<TextRow>& rows) {
    begin();
    key("ranks");
    text_ += "[{";
    number("rank", process_.rank);
    number("graph_size", rows.size());
    key("graph");
    text_ += '[';
    for (const TextRow& row : rows) {
      add_difference(row);
      pass();
    }
    text_ += "]}]";
    end();
  }

 private:
  const Metric& metric() const noexcept { return flat_.metric(); }
  bool counts() const noexcept {
    return metric().kind == Kind::kTrips || metric().kind == Kind::kCounter;
  }

  void string(std::string_view text) { exchange::append_json(text_, text); }
  void key(std::string_view name) {
    if (text_.back() != '{' && text_.back() != '[') text_ += ',';
    string(name);
    text_ += ':';
  }
  template <std::integral Number>
  void number(std::string_view name, Number value) {
    key(name);
    exchange::append_number(text_, value);
  }

  // For each of one or two values, put(value); two are an object.
  template <typename Put>
  void values(std::string_view name, const Put& put) {
    key(name);
    if (metric().values() == 1) return put(std::size_t{0});
    text_ += R"({"first":)";
    put(std::size_t{0});
    text_ += R"(,"second":)";
    put(std::size_t{1});
    text_ += '}';
  }
  // The same as a word, or a list of two.
  void words(std::string_view name, std::string_view first, std::string_view second) {
    key(name);
    if (metric().values() == 1) return string(first);
    text_ += '[';
    string(first);
    text_ += ',';
    string(second);
    text_ += ']';
  }

  // Once for each class, as cereal writes it.
  void version(bool& written) {
    if (!written) number("cereal_class_version", 0);
    written = true;
  }

  void begin() {
    text_ = R"({"timemory":{)";
    string(metric().id);
    text_ += ":{";
    add_head();
  }

  void end() {
    text_ += "}}}";
    write_(text_);
  }

  void add_head() {
    text_ += R"("properties":{)";
    number("cereal_class_version", 0);
    number("value", metric().number);
    std::string name(metric().id);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    key("enum");
    string(name);
    key("id");
    string(metric().id);
    std::vector<std::string_view> ids(metric().aliases);
    ids.push_back(metric().id);
    std::ranges::sort(ids);
    key("ids");
    text_ += '[';
    for (const std::string_view id : ids) {
      if (text_.back() != '[') text_ += ',';
      string(id);
    }
    text_ += "]}";
    const Unit unit = unit_of(metric(), style_);
    const bool two = metric().values() == 2;
    words("type", two ? metric().cell(0) : metric().label, metric().cell(metric().values() - 1));
    words("description", metric().description, metric().description);
    number("unit_value", static_cast<std::uint64_t>(unit.value));
    words("unit_repr", unit.name, unit.name);
    key("thread_scope_only");
    text_ += metric().of_thread ? "true" : "false";
    number("thread_count", flat_.rows().thread_count);
    number("mpi_size", 1);
    number("upcxx_size", 1);
    number("process_count", process_.ids.size());
    number("num_ranks", 1);
    number("concurrency", flat_.rows().thread_count);
  }

  void add_rows() {
    const std::vector<Row>& rows = flat_.rows().rows;
    std::vector<std::uint64_t> rolling(rows.size());
    const auto shown =
        std::ranges::count_if(rows, [this](const Row& row) { return is_shown(row); });
    key("ranks");
    text_ += "[{";
    number("rank", process_.rank);
    number("graph_size", static_cast<std::uint64_t>(shown));
    key("graph");
    text_ += '[';
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint64_t hash = hash_of(flat_.label(i)) ^ rows[i].depth;
      rolling[i] = hash + (rows[i].parent == kNone ? 0 : rolling[rows[i].parent]);
      if (!is_shown(rows[i])) continue;
      if (text_.back() != '[') text_ += ',';
      text_ += '{';
      number("hash", hash);
      key("prefix");
      string(flat_.prefix(i));
      number("depth", rows[i].depth);
      add_inclusive(flat_, i);
      number("rolling_hash", rolling[i]);
      text_ += '}';
      pass();
    }
    text_ += "]}]";
  }

  bool is_shown(const Row& row) const noexcept { return row.depth < style_.max_depth; }

  void add_inclusive(const MetricRows& rows, std::size_t i) {
    const auto raw = [&](std::size_t value) { return rows.raw(i, value); };
    const auto total = [&](std::size_t value) { return rows.total(i, value); };
    add_entry(rows.rows().rows[i].count, raw, total);
    add_stats([&](std::size_t value) { return rows.visits(i, value); });
  }

  template <typename Raw, typename Total>
  void add_entry(std::integral auto laps, const Raw& raw, const Total& total) {
    const auto put_raw = [&](std::size_t value) {
      if (metric().kind == Kind::kPercent) return append_real(text_, raw(value));
      exchange::append_number(text_, static_cast<std::int64_t>(std::llround(raw(value))));
    };
    const auto put = [&](std::size_t value) {
      if (!counts()) return append_real(text_, total(value));
      exchange::append_number(text_, static_cast<std::int64_t>(std::llround(total(value))));
    };
    key("entry");
    text_ += '{';
    version(entry_written_);
    number("laps", laps);
    values("value", put_raw);
    if (metric().kind != Kind::kTrips) values("accum", put_raw);
    values("repr_data", put);
    values("repr_display", put);
    text_ += '}';
  }

  template <typename Of>
  void add_stats(const Of& visits_of) {
    key("stats");
    text_ += '{';
    version(stats_written_);
    if (metric().kind != Kind::kTrips) {
      const std::array<Visits, 2> both = {visits_of(0),
                                          metric().values() == 2 ? visits_of(1) : Visits{}};
      const auto put = [&](std::string_view name, const auto& of) {
        values(name, [&](std::size_t value) { append_real(text_, of(both[value])); });
      };
      put("sum", [](const Visits& one) { return one.sum; });
      number("count", both[0].count);
      put("min", [](const Visits& one) { return one.min; });
      put("max", [](const Visits& one) { return one.max; });
      put("sqr", [](const Visits& one) { return static_cast<double>(one.squares); });
      put("mean", [](const Visits& one) {
        return one.count == 0 ? 0 : one.sum / static_cast<double>(one.count);
      });
      put("stddev", [](const Visits& one) { return std::sqrt(std::abs(variance_of(one))); });
    }
    text_ += '}';
  }

  void add_difference(const TextRow& row) {
    if (text_.back() != '[') text_ += ',';
    text_ += '{';
    key("prefix");
    string(row.label);
    number("depth", row.depth);
    const double unit = unit_of(metric(), style_).value;
    const auto total = [&](std::size_t value) { return row.values[value].sum; };
    add_entry(
        row.count, [&](std::size_t value) { return total(value) * unit; }, total);
    key("stats");
    text_ += '{';
    const auto put = [&](std::string_view name, double Numbers::*of) {
      values(name, [&](std::size_t value) { append_real(text_, row.values[value].*of); });
    };
    if (metric().kind != Kind::kTrips) {
      put("mean", &Numbers::mean);
      put("min", &Numbers::min);
      put("max", &Numbers::max);
      put("stddev", &Numbers::deviation);
    }
    text_ += "}}";
  }

  void add_tree(std::string_view name) {
    key(name);
    text_ += "[[{";
    number("cereal_class_version", 0);
    add_root();
    const std::vector<Row>& rows = tree_.rows().rows;
    std::uint32_t open = 0;  // nodes that wait for their end
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!is_shown(rows[i])) continue;
      for (; open > rows[i].depth; --open) text_ += "]}";
      if (text_.back() != '[') text_ += ',';
      text_ += '{';
      add_node(i);
      ++open;
      pass();
    }
    for (; open > 0; --open) text_ += "]}";
    text_ += "]}]]";
  }

  void add_root() {
    std::vector<std::uint32_t> threads = {0};
    begin_node(0, "unknown-hash=0", threads, 0);
    const auto none = [](std::size_t) { return 0.0; };
    const auto no_visits = [](std::size_t) { return Visits{}; };
    key("inclusive");
    text_ += '{';
    add_entry(0, none, none);
    add_stats(no_visits);
    text_ += '}';
    const double unit = unit_of(metric(), style_).value;
    const auto raw = [&](std::size_t value) { return -tree_.raw_of_roots(value); };
    key("exclusive");
    text_ += '{';
    add_entry(0, raw, [&](std::size_t value) { return raw(value) / unit; });
    add_stats(no_visits);
    text_ += "}}";
    key("children");
    text_ += '[';
  }

  void begin_node(std::uint64_t hash, std::string_view label,
                  const std::vector<std::uint32_t>& threads, std::uint32_t depth) {
    key("node");
    text_ += '{';
    number("hash", hash);
    key("prefix");
    string(label);
    key("tid");
    text_ += '[';
    for (const std::uint32_t thread : threads) {
      if (text_.back() != '[') text_ += ',';
      exchange::append_number(text_, thread);
    }
    text_ += ']';
    key("pid");
    text_ += '[';
    for (const std::uint64_t id : process_.ids) {
      if (text_.back() != '[') text_ += ',';
      exchange::append_number(text_, id);
    }
    text_ += ']';
    number("depth", depth);
    key("is_dummy");
    text_ += "false";
  }

  void add_node(std::size_t i) {
    const Row& row = tree_.rows().rows[i];
    std::vector<std::uint32_t> threads = tree_.rows().threads.empty()
                                             ? std::vector<std::uint32_t>{row.thread}
                                             : tree_.rows().threads[i];
    std::ranges::sort(threads);
    begin_node(hash_of(tree_.label(i)) ^ row.depth, tree_.label(i), threads, row.depth + 1);
    key("inclusive");
    text_ += '{';
    add_inclusive(tree_, i);
    text_ += '}';
    key("exclusive");
    text_ += '{';
    const double unit = unit_of(metric(), style_).value;
    const auto total = [&](std::size_t value) { return tree_.exclusive_total(i, value); };
    add_entry(
        row.count, [&](std::size_t value) { return total(value) * unit; }, total);
    add_stats([&](std::size_t value) { return tree_.exclusive(i, value); });
    text_ += "}}";
    key("children");
    text_ += '[';
  }

  // Keeps the end, by which key() knows whether a comma is due.
  void pass() {
    if (text_.size() < kJsonPiece) return;
    const std::string last(1, text_.back());
    text_.pop_back();
    write_(text_);
    text_ = last;
  }

  const MetricRows& flat_;
  const MetricRows& tree_;
  const ReportStyle& style_;
  const JsonProcess& process_;
  const TextWriter& write_;
  bool entry_written_ = false;
  bool stats_written_ = false;
  std::string text_;
};

}  // namespace

std::uint64_t hash_of(std::string_view label) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char byte : label) {
    hash ^= static_cast<std::uint8_t>(byte);
    hash *= 0x100000001b3u;
  }
  return label.empty() ? 0 : hash;
}

void write_json_report(const MetricRows& flat, const MetricRows& tree, const ReportStyle& style,
                       const JsonProcess& process, const TextWriter& write) {
  JsonReport(flat, tree, style, process, write).run();
}

void write_json_difference(const MetricRows& of, const std::vector<TextRow>& rows,
                           const ReportStyle& style, const JsonProcess& process,
                           const TextWriter& write) {
  JsonReport(of, of, style, process, write).run_difference(rows);
}

void write_json_tree(const MetricRows& rows, const ReportStyle& style, const JsonProcess& process,
                     const TextWriter& write) {
  JsonReport(rows, rows, style, process, write).run_tree();
}

}  // namespace timeloom::omnitrace
