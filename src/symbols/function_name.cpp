#include "symbols/function_name.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "symbols/demangled_size.hpp"

namespace timeloom::symbols {
namespace {

// The demangler works on its stack; a longer name comes from damage.
constexpr std::size_t kLongestMangled = 16 << 10;

constexpr std::array<std::string_view, 12> kPartsAndCopies = {
    "constprop", "isra", "part",       "cold",     "_omp_fn",      "_omp_cpyfn",
    "lto_priv",  "llvm", "localalias", "resolver", "omp_outlined", "omp_outlined_debug__"};

bool is_number(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// The demangler takes memory and time in proportion to its text, for which there is only an upper
// bound, mostly far above it. Names whose bound is large are demangled as long as few of them have
// had long texts.
constexpr std::uint64_t kMostText = 64 << 20, kMostTextLater = 1 << 20;
constexpr std::uint64_t kLongText = 64 << 10;
constinit std::atomic<std::uint64_t> g_long_texts = 0;  // bytes of them, in this process

bool may_demangle(std::string_view mangled) noexcept {
  if (mangled.size() > kLongestMangled) return false;
  const bool later = g_long_texts.load(std::memory_order_relaxed) > kMostText;
  return most_demangled(mangled) <= (later ? kMostTextLater : kMostText);
}

std::string demangled(const std::string& mangled) {
  if (!may_demangle(mangled)) return {};
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || text == nullptr) return {};
  std::string result = text.get();
  if (result.size() > kLongText) g_long_texts.fetch_add(result.size(), std::memory_order_relaxed);
  return result;
}

// "__heat_MOD_step" as "heat::step"; empty: it is not a procedure of a module.
std::string module_procedure(std::string_view symbol) {
  constexpr std::string_view kBegin = "__", kBetween = "_MOD_";
  const std::size_t between = symbol.find(kBetween);
  if (!symbol.starts_with(kBegin) || between == std::string_view::npos) return {};
  const std::string_view module = symbol.substr(kBegin.size(), between - kBegin.size());
  const std::string_view procedure = symbol.substr(between + kBetween.size());
  if (module.empty() || procedure.empty()) return {};
  return std::string(module) + "::" + std::string(procedure);
}

std::string_view without_digits(std::string_view text) noexcept {
  return text.substr(std::min(text.find_first_not_of("0123456789"), text.size()));
}

// "__pyx_fuse_1_0_gemv" as "_gemv".
std::string_view without_specialisation(std::string_view name) noexcept {
  constexpr std::string_view kFused = "__pyx_fuse_";
  if (!name.starts_with(kFused)) return name;
  name = without_digits(name.substr(kFused.size()));
  while (name.size() > 1 && name[0] == '_' && is_number(name.substr(1, 1))) {
    name = without_digits(name.substr(1));
  }
  return name;
}

// Takes "7cluster_" from the front of the text and returns "cluster"; empty: the text starts
// otherwise.
std::string_view take_part(std::string_view& text) noexcept {
  std::size_t length = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && is_number(text.substr(digits, 1)); ++digits) {
    length = length * 10 + static_cast<std::size_t>(text[digits] - '0');
    if (length > text.size()) return {};
  }
  if (length == 0 || digits + length + 1 >= text.size() || text[digits + length] != '_') return {};
  const std::string_view part = text.substr(digits, length);
  text.remove_prefix(digits + length + 1);
  return part;
}

// Whether a part is a scope, and not the number of a function with the beginning of its name, as in
// __pyx_pf_4heat_4load_data. Numbers of pf are even, numbers of pw are odd and never missing. Where
// both would fit, it is a scope if it is a class by its letter, or if the rest is the name of a
// private function, which has no number: __pyx_pf_4heat_10_predictor__predict.
bool is_scope(std::string_view kind, std::string_view part, std::string_view rest) noexcept {
  constexpr std::string_view kWithoutNumbers = "__pyx_f_", kOdd = "__pyx_pw_";
  const bool more = is_number(rest.substr(0, 1));
  if (kind == kWithoutNumbers || more) return true;
  const bool is_class = part.front() >= 'A' && part.front() <= 'Z';
  const bool is_private = rest.front() == '_';
  return kind != kOdd && (part.size() % 2 != 0 || is_class || is_private);
}

// "__pyx_f_7cluster_6_lloyd_step" as "cluster._lloyd.step"; empty: it is not a function of Cython.
// Cython numbers the functions of a scope that Python can call (__pyx_pf_7cluster_6_lloyd_4step),
// and the copies of a function for the types that it fuses
// (__pyx_fuse_1__pyx_f_7cluster_6_lloyd_step).
std::string cython_function(std::string_view symbol) {
  constexpr std::string_view kAny = "__pyx_";
  if (!symbol.starts_with(kAny)) return {};
  std::string_view rest = symbol;
  if (rest.starts_with("__pyx_fuse_"))
    rest = rest.substr(std::min(rest.find(kAny, 1), rest.size()));
  const std::array<std::string_view, 3> kinds = {"__pyx_f_", "__pyx_pf_", "__pyx_pw_"};
  const auto kind = std::ranges::find_if(kinds, [&](auto it) { return rest.starts_with(it); });
  if (kind == kinds.end()) return {};
  rest.remove_prefix(kind->size());
  std::string name;
  for (;;) {
    std::string_view after = rest;
    const std::string_view part = take_part(after);
    if (part.empty() || (!name.empty() && !is_scope(*kind, part, after))) break;
    name.append(part).append(".");
    rest = after;
  }
  rest = without_specialisation(without_digits(rest));
  return name.empty() || rest.empty() ? std::string() : name.append(rest);
}

// The offset of the bracket that the last one of the text closes; npos: it does not end with one.
std::size_t start_of_last_bracket(std::string_view text) noexcept {
  if (!text.ends_with(')')) return std::string_view::npos;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// Without the list of parameters at the end, and the words behind it.
std::string_view without_parameters(std::string_view text) noexcept {
  std::string_view rest = text;
  for (const std::string_view word : {" &&", " &", " volatile", " const"}) {
    if (rest.ends_with(word)) rest.remove_suffix(word.size());
  }
  const std::size_t begin = start_of_last_bracket(rest);
  return begin == 0 || begin == std::string_view::npos ? text : rest.substr(0, begin);
}

// Templates are demangled with the type of their result. A space in brackets belongs to the name,
// as does all from the word "operator" on.
std::string_view without_result(std::string_view text) noexcept {
  constexpr std::string_view kOperator = "operator";
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == ']' || c == '}') --depth;
    if (depth != 0) continue;
    if (text.substr(i).starts_with(kOperator) &&
        (i == 0 || text[i - 1] == ':' || text[i - 1] == ' '))
      break;
    if (c == ' ') begin = i + 1;
  }
  return begin < text.size() ? text.substr(begin) : text;
}

}  // namespace

std::string_view without_suffixes(std::string_view symbol) noexcept {
  if (const std::size_t version = symbol.find('@');
      version != std::string_view::npos && version > 0)
    symbol = symbol.substr(0, version);
  for (;;) {
    const std::size_t dot = symbol.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return symbol;
    const std::string_view last = symbol.substr(dot + 1);
    if (!is_number(last) && std::ranges::find(kPartsAndCopies, last) == kPartsAndCopies.end()) {
      return symbol;
    }
    symbol = symbol.substr(0, dot);
  }
}

FunctionName function_name(std::string_view symbol) {
  const std::string_view plain = without_suffixes(symbol);
  if (plain.starts_with("_Z")) {
    const std::string whole = demangled(std::string(plain));
    if (!whole.empty()) {
      const std::string short_name(without_result(without_parameters(whole)));
      const std::string python = cython_function(short_name);
      return {python.empty() ? short_name : python, whole};
    }
  }
  std::string name = cython_function(plain);
  if (name.empty()) name = module_procedure(plain);
  if (name.empty()) name = plain;
  return {name, name};
}

}  // namespace timeloom::symbols
