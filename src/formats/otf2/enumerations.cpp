#include "formats/otf2/enumerations.hpp"

namespace timeloom::otf2 {

OTF2_Paradigm paradigm_of(Paradigm paradigm) {
  switch (paradigm) {
    case Paradigm::kUser: return OTF2_PARADIGM_USER;
    case Paradigm::kCompiler: return OTF2_PARADIGM_COMPILER;
    case Paradigm::kMeasurement: return OTF2_PARADIGM_MEASUREMENT_SYSTEM;
    case Paradigm::kMpi: return OTF2_PARADIGM_MPI;
    case Paradigm::kPthread: return OTF2_PARADIGM_PTHREAD;
    case Paradigm::kOpenMp: return OTF2_PARADIGM_OPENMP;
    case Paradigm::kKokkos: return OTF2_PARADIGM_KOKKOS;
    case Paradigm::kCuda: return OTF2_PARADIGM_CUDA;
    case Paradigm::kSampling: return OTF2_PARADIGM_SAMPLING;
    case Paradigm::kIo:
    case Paradigm::kMemory:
    case Paradigm::kOther: return OTF2_PARADIGM_NONE;
    case Paradigm::kUnknown: break;
  }
  return OTF2_PARADIGM_UNKNOWN;
}

OTF2_RegionRole role_of(RegionRole role) {
  switch (role) {
    case RegionRole::kFunction: return OTF2_REGION_ROLE_FUNCTION;
    case RegionRole::kCode: return OTF2_REGION_ROLE_CODE;
    case RegionRole::kLoop: return OTF2_REGION_ROLE_LOOP;
    case RegionRole::kWrapper: return OTF2_REGION_ROLE_WRAPPER;
    case RegionRole::kArtificial: return OTF2_REGION_ROLE_ARTIFICIAL;
    case RegionRole::kFileIo: return OTF2_REGION_ROLE_FILE_IO;
    case RegionRole::kFileIoMetadata: return OTF2_REGION_ROLE_FILE_IO_METADATA;
    case RegionRole::kThreadCreate: return OTF2_REGION_ROLE_THREAD_CREATE;
    case RegionRole::kThreadWait: return OTF2_REGION_ROLE_THREAD_WAIT;
    case RegionRole::kPointToPoint: return OTF2_REGION_ROLE_POINT2POINT;
    case RegionRole::kBarrier: return OTF2_REGION_ROLE_BARRIER;
    case RegionRole::kOneToAll: return OTF2_REGION_ROLE_COLL_ONE2ALL;
    case RegionRole::kAllToOne: return OTF2_REGION_ROLE_COLL_ALL2ONE;
    case RegionRole::kAllToAll: return OTF2_REGION_ROLE_COLL_ALL2ALL;
    case RegionRole::kCollective: return OTF2_REGION_ROLE_COLL_OTHER;
    case RegionRole::kRma: return OTF2_REGION_ROLE_RMA;
    case RegionRole::kParallel: return OTF2_REGION_ROLE_PARALLEL;
    case RegionRole::kSections: return OTF2_REGION_ROLE_SECTIONS;
    case RegionRole::kSection: return OTF2_REGION_ROLE_SECTION;
    case RegionRole::kWorkshare: return OTF2_REGION_ROLE_WORKSHARE;
    case RegionRole::kSingle: return OTF2_REGION_ROLE_SINGLE;
    case RegionRole::kSingleBlock: return OTF2_REGION_ROLE_SINGLE_SBLOCK;
    case RegionRole::kMaster: return OTF2_REGION_ROLE_MASTER;
    case RegionRole::kCritical: return OTF2_REGION_ROLE_CRITICAL;
    case RegionRole::kCriticalBlock: return OTF2_REGION_ROLE_CRITICAL_SBLOCK;
    case RegionRole::kAtomic: return OTF2_REGION_ROLE_ATOMIC;
    case RegionRole::kImplicitBarrier: return OTF2_REGION_ROLE_IMPLICIT_BARRIER;
    case RegionRole::kFlush: return OTF2_REGION_ROLE_FLUSH;
    case RegionRole::kOrdered: return OTF2_REGION_ROLE_ORDERED;
    case RegionRole::kOrderedBlock: return OTF2_REGION_ROLE_ORDERED_SBLOCK;
    case RegionRole::kTask: return OTF2_REGION_ROLE_TASK;
    case RegionRole::kTaskCreate: return OTF2_REGION_ROLE_TASK_CREATE;
    case RegionRole::kTaskWait: return OTF2_REGION_ROLE_TASK_WAIT;
    case RegionRole::kDataTransfer: return OTF2_REGION_ROLE_DATA_TRANSFER;
    case RegionRole::kAllocate: return OTF2_REGION_ROLE_ALLOCATE;
    case RegionRole::kDeallocate: return OTF2_REGION_ROLE_DEALLOCATE;
    case RegionRole::kReallocate: return OTF2_REGION_ROLE_REALLOCATE;
    case RegionRole::kOther:
    case RegionRole::kUnknown: break;
  }
  return OTF2_REGION_ROLE_UNKNOWN;
}

OTF2_LocationType type_of(LocationType type) {
  switch (type) {
    case LocationType::kCpuThread: return OTF2_LOCATION_TYPE_CPU_THREAD;
    case LocationType::kAcceleratorStream: return OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
    case LocationType::kMetric: return OTF2_LOCATION_TYPE_METRIC;
    case LocationType::kUnknown: break;
  }
  return OTF2_LOCATION_TYPE_UNKNOWN;
}

OTF2_ParameterType type_of(ParameterType type) {
  switch (type) {
    case ParameterType::kInt64: return OTF2_PARAMETER_TYPE_INT64;
    case ParameterType::kUint64: return OTF2_PARAMETER_TYPE_UINT64;
    case ParameterType::kFloat:  // see shortest_text in location_writer.cpp
    case ParameterType::kString: break;
  }
  return OTF2_PARAMETER_TYPE_STRING;
}

OTF2_MetricType type_of(MetricSource source) {
  switch (source) {
    case MetricSource::kUser: return OTF2_METRIC_TYPE_USER;
    case MetricSource::kRusage: return OTF2_METRIC_TYPE_RUSAGE;
    case MetricSource::kPapi: return OTF2_METRIC_TYPE_PAPI;
    case MetricSource::kOther: break;
  }
  return OTF2_METRIC_TYPE_OTHER;
}

OTF2_MetricMode mode_of(MetricMode mode) {
  switch (mode) {
    case MetricMode::kAbsolutePoint: return OTF2_METRIC_ABSOLUTE_POINT;
    case MetricMode::kAbsoluteNext: return OTF2_METRIC_ABSOLUTE_NEXT;
    case MetricMode::kAccumulatedStart: break;
  }
  return OTF2_METRIC_ACCUMULATED_START;
}

OTF2_Type type_of(MetricValueType type) {
  switch (type) {
    case MetricValueType::kInt64: return OTF2_TYPE_INT64;
    case MetricValueType::kUint64: return OTF2_TYPE_UINT64;
    case MetricValueType::kDouble: break;
  }
  return OTF2_TYPE_DOUBLE;
}

Paradigm paradigm_of(OTF2_Paradigm paradigm) {
  switch (paradigm) {
    case OTF2_PARADIGM_UNKNOWN: return Paradigm::kUnknown;
    case OTF2_PARADIGM_USER: return Paradigm::kUser;
    case OTF2_PARADIGM_COMPILER: return Paradigm::kCompiler;
    case OTF2_PARADIGM_MEASUREMENT_SYSTEM: return Paradigm::kMeasurement;
    case OTF2_PARADIGM_MPI: return Paradigm::kMpi;
    case OTF2_PARADIGM_PTHREAD: return Paradigm::kPthread;
    case OTF2_PARADIGM_OPENMP: return Paradigm::kOpenMp;
    case OTF2_PARADIGM_KOKKOS: return Paradigm::kKokkos;
    case OTF2_PARADIGM_CUDA: return Paradigm::kCuda;
    default: return Paradigm::kOther;
  }
}

RegionRole role_of(OTF2_RegionRole role) {
  switch (role) {
    case OTF2_REGION_ROLE_UNKNOWN: return RegionRole::kUnknown;
    case OTF2_REGION_ROLE_FUNCTION: return RegionRole::kFunction;
    case OTF2_REGION_ROLE_CODE: return RegionRole::kCode;
    case OTF2_REGION_ROLE_LOOP: return RegionRole::kLoop;
    case OTF2_REGION_ROLE_WRAPPER: return RegionRole::kWrapper;
    case OTF2_REGION_ROLE_ARTIFICIAL: return RegionRole::kArtificial;
    case OTF2_REGION_ROLE_FILE_IO: return RegionRole::kFileIo;
    case OTF2_REGION_ROLE_FILE_IO_METADATA: return RegionRole::kFileIoMetadata;
    case OTF2_REGION_ROLE_THREAD_CREATE: return RegionRole::kThreadCreate;
    case OTF2_REGION_ROLE_THREAD_WAIT: return RegionRole::kThreadWait;
    case OTF2_REGION_ROLE_POINT2POINT: return RegionRole::kPointToPoint;
    case OTF2_REGION_ROLE_BARRIER: return RegionRole::kBarrier;
    case OTF2_REGION_ROLE_COLL_ONE2ALL: return RegionRole::kOneToAll;
    case OTF2_REGION_ROLE_COLL_ALL2ONE: return RegionRole::kAllToOne;
    case OTF2_REGION_ROLE_COLL_ALL2ALL: return RegionRole::kAllToAll;
    case OTF2_REGION_ROLE_COLL_OTHER: return RegionRole::kCollective;
    case OTF2_REGION_ROLE_RMA: return RegionRole::kRma;
    case OTF2_REGION_ROLE_PARALLEL: return RegionRole::kParallel;
    case OTF2_REGION_ROLE_SECTIONS: return RegionRole::kSections;
    case OTF2_REGION_ROLE_SECTION: return RegionRole::kSection;
    case OTF2_REGION_ROLE_WORKSHARE: return RegionRole::kWorkshare;
    case OTF2_REGION_ROLE_SINGLE: return RegionRole::kSingle;
    case OTF2_REGION_ROLE_SINGLE_SBLOCK: return RegionRole::kSingleBlock;
    case OTF2_REGION_ROLE_MASTER: return RegionRole::kMaster;
    case OTF2_REGION_ROLE_CRITICAL: return RegionRole::kCritical;
    case OTF2_REGION_ROLE_CRITICAL_SBLOCK: return RegionRole::kCriticalBlock;
    case OTF2_REGION_ROLE_ATOMIC: return RegionRole::kAtomic;
    case OTF2_REGION_ROLE_IMPLICIT_BARRIER: return RegionRole::kImplicitBarrier;
    case OTF2_REGION_ROLE_FLUSH: return RegionRole::kFlush;
    case OTF2_REGION_ROLE_ORDERED: return RegionRole::kOrdered;
    case OTF2_REGION_ROLE_ORDERED_SBLOCK: return RegionRole::kOrderedBlock;
    case OTF2_REGION_ROLE_TASK: return RegionRole::kTask;
    case OTF2_REGION_ROLE_TASK_CREATE: return RegionRole::kTaskCreate;
    case OTF2_REGION_ROLE_TASK_WAIT: return RegionRole::kTaskWait;
    case OTF2_REGION_ROLE_DATA_TRANSFER: return RegionRole::kDataTransfer;
    case OTF2_REGION_ROLE_ALLOCATE: return RegionRole::kAllocate;
    case OTF2_REGION_ROLE_DEALLOCATE: return RegionRole::kDeallocate;
    case OTF2_REGION_ROLE_REALLOCATE: return RegionRole::kReallocate;
    default: return RegionRole::kOther;
  }
}

LocationType location_type_of(OTF2_LocationType type) {
  switch (type) {
    case OTF2_LOCATION_TYPE_CPU_THREAD: return LocationType::kCpuThread;
    case OTF2_LOCATION_TYPE_ACCELERATOR_STREAM: return LocationType::kAcceleratorStream;
    case OTF2_LOCATION_TYPE_METRIC: return LocationType::kMetric;
    default: return LocationType::kUnknown;
  }
}

ParameterType parameter_type_of(OTF2_ParameterType type) {
  if (type == OTF2_PARAMETER_TYPE_INT64) return ParameterType::kInt64;
  if (type == OTF2_PARAMETER_TYPE_UINT64) return ParameterType::kUint64;
  return ParameterType::kString;
}

MetricValueType metric_type_of(OTF2_Type type) {
  if (type == OTF2_TYPE_INT64) return MetricValueType::kInt64;
  if (type == OTF2_TYPE_UINT64) return MetricValueType::kUint64;
  return MetricValueType::kDouble;
}

std::optional<MetricMode> metric_mode_of(OTF2_MetricMode mode) {
  if (mode == OTF2_METRIC_ACCUMULATED_START) return MetricMode::kAccumulatedStart;
  if (mode == OTF2_METRIC_ABSOLUTE_NEXT) return MetricMode::kAbsoluteNext;
  if (mode == OTF2_METRIC_ABSOLUTE_POINT) return MetricMode::kAbsolutePoint;
  return {};
}

}  // namespace timeloom::otf2
