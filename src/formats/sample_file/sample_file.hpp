// The file samples.timeloom of a run: every sample of CPU time with its thread and its time, so
// that a part of the run can be counted. docs/formats/samples.md describes its bytes.
//
//   head | tables | samples of a location | samples of a location | ... | end
//
// Plain values, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/ids.hpp"
#include "packing/varint.hpp"

namespace timeloom::sample_file {

// Of a function, a code or a stack: there is none.
inline constexpr std::uint32_t kNone = UINT32_MAX;
// The frames of a stack: a recorded one has no more, and a reader looks at no more.
inline constexpr std::size_t kDeepestStack = 1000;

// A function of the program.
struct Function {
  std::uint32_t region = 0;  // its number in the run, by which samples and stacks name it
  std::string name;
  std::string file;
  std::uint32_t line = 0;  // its first one; 0: not known
};

// A function of a library.
struct Code {
  std::string library;  // empty: code that lies in no file
  std::string symbol;   // empty: it has no name
};

// A frame of a stack, with the frames around it.
struct Frame {
  std::uint32_t outer = kNone;  // number of the frame around it; kNone: it is the outermost
  std::uint32_t region = 0;
  bool unrecorded = false;  // see kUnrecordedFrame
  friend auto operator<=>(const Frame&, const Frame&) = default;
};

struct Sample {
  std::uint64_t time_ns = 0;    // since the start of the run
  std::uint64_t weight_ns = 0;  // CPU time of the thread since its sample before
  std::uint32_t region = kNone;
  std::uint32_t code = kNone;
  std::uint32_t line = 0;       // the source line; 0: not known
  std::uint32_t stack = kNone;  // number of its innermost frame
  friend bool operator==(const Sample&, const Sample&) = default;
};

// The bytes: sections of packing/section_file.hpp.

inline constexpr std::uint64_t kMagic = 0x31534c504d534c54;  // "TLSMPLS1"

// The number in the head counts the samples; the detail is their location.
enum SectionKind : std::uint32_t { kTables = 1, kSamples = 2 };

// The streams of the bodies; all are varints.
enum TableStream : std::uint8_t { kFunctions, kFunctionTexts, kCodes, kCodeTexts, kFrames };
enum SampleStream : std::uint8_t { kTimes, kWeights, kRegions, kCodeNumbers, kLines, kStacks };

inline constexpr std::uint32_t kSamplesOfSection = 1 << 16;
inline constexpr std::uint64_t kMostTableBytes = std::uint64_t{1} << 28;
inline constexpr std::size_t kMostFrames = std::size_t{1} << 22;

}  // namespace timeloom::sample_file
