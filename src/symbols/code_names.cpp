#include "symbols/code_names.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "symbols/debug_files.hpp"
#include "symbols/function_name.hpp"
#include "symbols/line_reader.hpp"

namespace timeloom::symbols {
namespace {

bool is_fortran(std::string_view file) noexcept {
  constexpr std::array<std::string_view, 10> kEndings = {".f",   ".for", ".f77", ".f90", ".f95",
                                                         ".f03", ".f08", ".F",   ".F90", ".F08"};
  return std::ranges::any_of(kEndings, [&](std::string_view end) { return file.ends_with(end); });
}

// gfortran appends one to the names of procedures outside of modules.
void remove_underscore(CodeName& found) {
  if (found.name.size() < 2 || !found.name.ends_with('_') || found.name.ends_with("__")) return;
  found.name.pop_back();
  found.whole_name = found.name;
}

}  // namespace

// The files are closed once they are read; only libdw keeps one open.
class CodeNames::Symbols {
 public:
  Symbols(const CodeObject& object, const std::vector<std::string>& directories) {
    const std::vector<ElfFile> files = files_of(object, directories);
    has_file_ = !files.empty();
    auto symbols = std::ranges::find_if(files, &ElfFile::has_all_symbols);
    if (symbols == files.end()) symbols = files.begin();
    if (symbols != files.end()) functions_ = symbols->functions();
    const auto lines = std::ranges::find_if(files, &ElfFile::has_lines);
    if (lines != files.end()) lines_ = LineReader::open(lines->file());
  }

  bool has_file() const { return has_file_; }

  // Read when it is needed first.
  std::optional<std::uint64_t> start_of(const CodeObject& object, std::uint64_t address,
                                        const std::vector<std::string>& directories) {
    if (!has_starts_) read_starts(object, directories);
    const auto behind = std::ranges::upper_bound(starts_, address);
    if (behind == starts_.begin()) return std::nullopt;
    return behind[-1];
  }

  std::optional<CodeName> find(std::uint64_t address, Line which) {
    const std::optional<FunctionSymbol> symbol = functions_.find(address);
    CodeName found;
    if (symbol) {
      FunctionName name = function_name(symbol->name);
      found.name = std::move(name.name);
      found.whole_name = std::move(name.whole);
      if (which == Line::kOfFunction) address = symbol->address;
    }
    if (which == Line::kNone) {
      if (found.name.empty()) return std::nullopt;
      return found;
    }
    if (auto line = line_of(address, symbol && which == Line::kOfFunction)) {
      found.file = std::move(line->file);
      found.line = line->line;
    }
    if (is_fortran(found.file)) remove_underscore(found);
    if (found.name.empty() && found.line == 0) return std::nullopt;
    return found;
  }

 private:
  void read_starts(const CodeObject& object, const std::vector<std::string>& directories) {
    has_starts_ = true;
    for (const ElfFile& file : files_of(object, directories)) {
      starts_ = file.function_starts();
      if (!starts_.empty()) return;
    }
  }

  std::optional<SourceLine> line_of(std::uint64_t address, bool is_start) {
    if (lines_ == nullptr) return std::nullopt;
    return is_start ? lines_->line_of_start(address) : lines_->line_of(address);
  }

  bool has_file_ = false;
  FunctionSymbols functions_;
  std::unique_ptr<LineReader> lines_;
  bool has_starts_ = false;
  std::vector<std::uint64_t> starts_;
};

CodeNames::CodeNames(std::vector<std::string> directories) : directories_(std::move(directories)) {}

CodeNames::~CodeNames() = default;

CodeNames::Symbols& CodeNames::symbols_of(const CodeObject& object) {
  const std::string key = object.path + '\0' + object.build_id + '\0' +
                          std::to_string(object.size) + '\0' + std::to_string(object.changed_ns);
  std::unique_ptr<Symbols>& known = objects_[key];
  if (known == nullptr) known = std::make_unique<Symbols>(object, directories_);
  return *known;
}

std::optional<CodeName> CodeNames::find(const CodeObject& object, std::uint64_t address,
                                        Line line) {
  return symbols_of(object).find(address, line);
}

std::optional<std::uint64_t> CodeNames::start_of_function(const CodeObject& object,
                                                          std::uint64_t address) {
  return symbols_of(object).start_of(object, address, directories_);
}

bool CodeNames::has_file(const CodeObject& object) { return symbols_of(object).has_file(); }

}  // namespace timeloom::symbols
