#include "gpu/cuda/record_choice.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace timeloom::cuda {
namespace {

using enum ActivityKind;

constexpr ActivityKind kAllKinds[] = {kRuntime,         kDriver,     kConcurrentKernel,
                                      kMemcpy,          kMemcpyPeer, kMemset,
                                      kSynchronization, kEvent,      kMemory};
constexpr std::string_view kAllWords[] = {"yes", "true", "on", "1", "default"};
// Words of Score-P for facts that are recorded in any case, or for what Timeloom does not have: a
// launch has its configuration, a wait its stream, idle times come from the kernels.
constexpr std::string_view kWithoutEffect[] = {
    "kernel_counter", "kernel_callsite", "idle",       "pure_idle",
    "references",     "dontflushatexit", "flushatexit"};

struct WordKinds {
  std::string_view word;
  std::vector<ActivityKind> kinds;
};

const std::vector<WordKinds>& word_kinds() {
  static const std::vector<WordKinds> all = {{"runtime", {kRuntime}},
                                             {"driver", {kDriver}},
                                             {"kernel", {kConcurrentKernel}},
                                             {"kernel_serial", {kKernel}},
                                             {"memcpy", {kMemcpy, kMemcpyPeer, kMemset}},
                                             {"sync", {kSynchronization, kEvent}},
                                             {"gpumemusage", {kMemory}}};
  return all;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (std::string_view(" ,;:\t").find(c) != std::string_view::npos) {
      words.emplace_back();
    } else {
      words.back() += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  std::erase(words, "");
  return words;
}

bool is_among(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

void choose(const std::string& word, RecordChoice& choice) {
  const auto found = std::ranges::find(word_kinds(), word, &WordKinds::word);
  if (found != word_kinds().end()) {
    std::ranges::copy(found->kinds, std::back_inserter(choice.kinds));
  } else if (is_among(word, kAllWords)) {
    std::ranges::copy(kAllKinds, std::back_inserter(choice.kinds));
    choice.counters = true;
  } else if (word == "counters") {
    choice.counters = true;
  } else if (!is_among(word, kWithoutEffect)) {
    choice.unknown.push_back(word);
  }
}

}  // namespace

RecordChoice choose_records(std::string_view words) {
  RecordChoice choice;
  for (const std::string& word : words_of(words)) choose(word, choice);
  if (choice.kinds.empty() && !choice.counters) choose("yes", choice);
  // CUPTI has kernels as records of one kind.
  if (std::ranges::find(choice.kinds, kKernel) != choice.kinds.end()) {
    std::erase(choice.kinds, kConcurrentKernel);
  }
  choice.kinds.push_back(kDevice);
  std::ranges::sort(choice.kinds);
  choice.kinds.erase(std::unique(choice.kinds.begin(), choice.kinds.end()), choice.kinds.end());
  return choice;
}

}  // namespace timeloom::cuda
