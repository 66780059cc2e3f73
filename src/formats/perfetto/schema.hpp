// The numbers of the fields that Timeloom writes, by their names in Perfetto's trace_packet.proto,
// track_event.proto, track_descriptor.proto, interned_data.proto, gpu_render_stage_event.proto ...
// Plain constants.
#pragma once

#include <cstdint>

namespace timeloom::perfetto {

using Field = std::uint32_t;

namespace trace {
inline constexpr Field kPacket = 1;
}

namespace packet {
inline constexpr Field kClockSnapshot = 6, kTimestamp = 8, kTrustedPacketSequenceId = 10,
                       kTrackEvent = 11, kInternedData = 12, kSequenceFlags = 13,
                       kGpuRenderStageEvent = 53, kPerfSample = 66, kTimestampClockId = 58,
                       kTracePacketDefaults = 59, kTrackDescriptor = 60;
inline constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;  // of sequence_flags
}  // namespace packet

namespace defaults {  // of packets
inline constexpr Field kTrackEventDefaults = 11, kPerfSampleDefaults = 12, kTimestampClockId = 58;
}
namespace sample_default {
inline constexpr Field kTimebase = 1;
}
namespace timebase {
inline constexpr Field kPeriod = 1, kCounter = 4;
inline constexpr std::uint64_t kTaskClock = 3;
}  // namespace timebase
// A sample, and the interned stack to which it refers.
namespace perf_sample {
inline constexpr Field kPid = 2, kTid = 3, kCallstackIid = 4, kCpuMode = 5, kTimebaseCount = 6;
inline constexpr std::uint64_t kUserMode = 3;
}  // namespace perf_sample
namespace callstack {
inline constexpr Field kFrameIds = 2;
}
namespace frame {
inline constexpr Field kFunctionNameId = 2, kMappingId = 3;
}
namespace mapping {
inline constexpr Field kPathStringIds = 7;
}

namespace event {
inline constexpr Field kCategoryIids = 3, kDebugAnnotations = 4, kType = 9, kNameIid = 10,
                       kTrackUuid = 11, kCategories = 22, kName = 23, kCounterValue = 30,
                       kSourceLocationIid = 34, kDoubleCounterValue = 44, kFlowIds = 47,
                       kTerminatingFlowIds = 48,
                       kGpuCorrelation = 3000;  // an extension, of Perfetto 55 and later
inline constexpr std::uint64_t kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4;
}  // namespace event

namespace correlation {
inline constexpr Field kSubmittedEventIds = 1;
}

// A record of work on a GPU, and what it refers to.
namespace stage {
inline constexpr Field kEventId = 1, kDuration = 2, kContext = 5, kExtraData = 6, kGpuId = 11,
                       kHwQueueIid = 13, kStageIid = 14, kKernelIid = 19, kNameIid = 20;
}
namespace extra {
inline constexpr Field kName = 1, kValue = 2;
}
namespace context {  // of a process
inline constexpr Field kIid = 1, kPid = 2, kApi = 3;
inline constexpr std::uint64_t kCuda = 4;
}  // namespace context
namespace specification {  // of a stage or a queue
inline constexpr Field kIid = 1, kName = 2, kCategory = 4;
inline constexpr std::uint64_t kOther = 0, kCompute = 2;
}  // namespace specification
namespace kernel {
inline constexpr Field kIid = 1, kName = 2, kDemangledName = 3;
}

namespace annotation {
inline constexpr Field kNameIid = 1, kUintValue = 3, kIntValue = 4, kDoubleValue = 5,
                       kStringValue = 6, kStringValueIid = 17;
}

namespace interned {
inline constexpr Field kEventCategories = 1, kEventNames = 2, kDebugAnnotationNames = 3,
                       kSourceLocations = 4, kFunctionNames = 5, kFrames = 6, kCallstacks = 7,
                       kMappingPaths = 17, kMappings = 19, kGraphicsContexts = 23,
                       kGpuSpecifications = 24, kDebugAnnotationStringValues = 29;
inline constexpr Field kComputeKernels = 1000;  // an extension, of Perfetto 55 and later
inline constexpr Field kIid = 1, kName = 2;     // of all of them except source locations
inline constexpr Field kText = 2;               // of paths and names of functions
inline constexpr Field kFileName = 2, kFunctionName = 3, kLineNumber = 4;  // of source locations
}  // namespace interned

namespace track {
inline constexpr Field kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParentUuid = 5,
                       kCounter = 8;
}
namespace process {
inline constexpr Field kPid = 1, kCmdline = 2, kProcessName = 6;
}
namespace thread {
inline constexpr Field kPid = 1, kTid = 2, kThreadName = 5;
}
namespace counter {
inline constexpr Field kUnit = 3, kUnitMultiplier = 4, kUnitName = 6;
inline constexpr std::uint64_t kUnitNs = 1, kUnitBytes = 3;
}  // namespace counter

namespace clock {
inline constexpr Field kClocks = 1, kPrimaryTraceClock = 2;
inline constexpr Field kClockId = 1, kTimestamp = 2, kIsIncremental = 3;
inline constexpr std::uint64_t kRealtime = 1, kBoottime = 6;
inline constexpr std::uint64_t kOfSequence = 64;  // the first that a sequence may define
}  // namespace clock

}  // namespace timeloom::perfetto
