// Answers about a range of time on some tracks: sums by call path. See api.hpp for their bytes.
//
// For any thread. All throw BadQuestion for a question that is malformed, and Error where the run
// cannot be read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "view/answers/api.hpp"
#include "view/answers/fields.hpp"
#include "view/index/index.hpp"

namespace timeloom::view {

// The number of a track. Throws BadQuestion where the index has none.
std::uint32_t track_in(QuestionReader& in, const Index& index);
// The tracks of the next `count` numbers, each once; none: all. Throws BadQuestion, as above.
std::vector<std::uint32_t> tracks_in(QuestionReader& in, const Index& index, std::uint32_t count);

// A range of time on some tracks, each once.
struct SelectedRange {
  std::uint64_t from = 0, to = 0;
  std::vector<std::uint32_t> tracks;
};
// Reads to the end of the question. No track is named: all.
SelectedRange range_in(QuestionReader& in, const Index& index);

// The times of calls.
std::string table_answer(const Definitions& definitions, const Index& index, QuestionReader in);
// The time on GPUs of the work that the calls started.
std::string gpu_answer(const Content& content, const Index& index, QuestionReader in);
// The bytes, at the peak, at the end, or at an instant.
std::string memory_answer(const Content& content, const Index& index, QuestionReader in);
// The samples.
std::string samples_answer(const Content& content, const Index& index, QuestionReader in);
// The same, at their times.
std::string sampled_answer(const Content& content, const Index& index, QuestionReader in);
// JSON: the times that are estimated from samples.
std::string estimates_answer(const Content& content, const Index& index, QuestionReader in);

}  // namespace timeloom::view
