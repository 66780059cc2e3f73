#include "foreign_archive.hpp"

#include <otf2/otf2.h>

#include <cstdint>
#include <initializer_list>
#include <stdexcept>

namespace timeloom::otf2 {

namespace {

enum class ForeignEvents { kAny, kKnown };

void ok(OTF2_ErrorCode code) {
  if (code != OTF2_SUCCESS) throw std::runtime_error(OTF2_Error_GetDescription(code));
}

OTF2_FlushType flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
constexpr OTF2_FlushCallbacks kFlush = {flush, nullptr};

// Rank 0 uses global ids and has no mapping tables.
void write_rank0(OTF2_EvtWriter* events) {
  ok(OTF2_EvtWriter_BufferFlush(events, nullptr, 100, 101));
  ok(OTF2_EvtWriter_Leave(events, nullptr, 110, 70));  // was not entered
  ok(OTF2_EvtWriter_Enter(events, nullptr, 120, 70));
  ok(OTF2_EvtWriter_MpiSend(events, nullptr, 125, 1, 0, 42, 1024));
  const OTF2_Type types[] = {OTF2_TYPE_INT64, OTF2_TYPE_UINT64};
  OTF2_MetricValue values[2];
  values[0].signed_int = -3;
  values[1].unsigned_int = 8;  // its definition says double
  ok(OTF2_EvtWriter_Metric(events, nullptr, 130, 9, 2, types, values));   // the class
  ok(OTF2_EvtWriter_Metric(events, nullptr, 131, 11, 2, types, values));  // an instance
  ok(OTF2_EvtWriter_Metric(events, nullptr, 132, 77, 1, types, values));  // undefined
  ok(OTF2_EvtWriter_Enter(events, nullptr, 140, 3'000'000));
  ok(OTF2_EvtWriter_ThreadFork(events, nullptr, 145, OTF2_PARADIGM_OPENMP, 4));
  ok(OTF2_EvtWriter_Enter(events, nullptr, 150, 5));  // undefined
  ok(OTF2_EvtWriter_CallingContextEnter(events, nullptr, 160, 0, 2));
  ok(OTF2_EvtWriter_CallingContextLeave(events, nullptr, 170, 0));
  ok(OTF2_EvtWriter_Leave(events, nullptr, 180, 70));  // 3'000'000 lost its leave
}

void write_known(OTF2_EvtWriter* events) {
  OTF2_AttributeList* process = OTF2_AttributeList_New();
  ok(OTF2_AttributeList_AddUint64(process, 17, 4242));
  const OTF2_StringRef arguments[] = {12, 8};
  ok(OTF2_EvtWriter_ProgramBegin(events, process, 110, 7, 2, arguments));
  OTF2_AttributeList_Delete(process);
  ok(OTF2_EvtWriter_Enter(events, nullptr, 120, 70));
  ok(OTF2_EvtWriter_ThreadCreate(events, nullptr, 130, 3, 77));
  ok(OTF2_EvtWriter_Enter(events, nullptr, 140, 3'000'000));
  ok(OTF2_EvtWriter_Leave(events, nullptr, 150, 3'000'000));
  ok(OTF2_EvtWriter_Leave(events, nullptr, 180, 70));
  ok(OTF2_EvtWriter_ProgramEnd(events, nullptr, 190, -1));
}

// Rank 1 counts its regions and strings from 0.
void write_rank1(OTF2_EvtWriter* events, ForeignEvents kinds) {
  ok(OTF2_EvtWriter_Enter(events, nullptr, 1000, 1));
  ok(OTF2_EvtWriter_Enter(events, nullptr, 1500, 0));
  ok(OTF2_EvtWriter_ParameterString(events, nullptr, 1500, 0, 0));
  ok(OTF2_EvtWriter_Leave(events, nullptr, 2000, 0));
  if (kinds == ForeignEvents::kKnown) ok(OTF2_EvtWriter_Leave(events, nullptr, 2000, 1));
}

void map_ids(OTF2_DefWriter* writer, OTF2_MappingType type,
             std::initializer_list<std::uint64_t> ids) {
  OTF2_IdMap* map = OTF2_IdMap_CreateFromUint64Array(ids.size(), ids.begin(), false);
  ok(OTF2_DefWriter_WriteMappingTable(writer, type, map));
  OTF2_IdMap_Free(map);
}

void write_local_definitions(OTF2_Archive* archive) {
  ok(OTF2_Archive_OpenDefFiles(archive));
  OTF2_DefWriter* rank0 = OTF2_Archive_GetDefWriter(archive, 0);
  ok(OTF2_Archive_CloseDefWriter(archive, rank0));
  OTF2_DefWriter* rank1 = OTF2_Archive_GetDefWriter(archive, 1);
  map_ids(rank1, OTF2_MAPPING_REGION, {3'000'000, 70});
  map_ids(rank1, OTF2_MAPPING_STRING, {20});
  map_ids(rank1, OTF2_MAPPING_PARAMETER, {6});
  // Offset -900 at 1000, -1000 at 2000: the clock is too fast by a tenth.
  ok(OTF2_DefWriter_WriteClockOffset(rank1, 1000, -900, 0));
  ok(OTF2_DefWriter_WriteClockOffset(rank1, 2000, -1000, 0));
  ok(OTF2_Archive_CloseDefWriter(archive, rank1));
  ok(OTF2_Archive_CloseDefFiles(archive));
}

void write_strings(OTF2_GlobalDefWriter* all) {
  const char* const texts[] = {"",       "node",    "cluster", "frontend",  "rank 0",
                               "rank 1", "compute", "send",    "group",     "instructions",
                               "#",      "seconds", "label",   "ProcessId", "4242"};
  for (OTF2_StringRef i = 0; i < std::size(texts); ++i) {
    ok(OTF2_GlobalDefWriter_WriteString(all, i, texts[i]));
  }
  ok(OTF2_GlobalDefWriter_WriteString(all, 20, "value"));
}

void write_places(OTF2_GlobalDefWriter* all, ForeignEvents kinds) {
  const bool known = kinds == ForeignEvents::kKnown;
  // Locations precede the definitions that they refer to: legal, though unusual.
  ok(OTF2_GlobalDefWriter_WriteLocation(all, 1, 5, OTF2_LOCATION_TYPE_CPU_THREAD, known ? 5 : 4,
                                        8));
  ok(OTF2_GlobalDefWriter_WriteLocation(all, 0, 4, OTF2_LOCATION_TYPE_CPU_THREAD, known ? 7 : 13,
                                        4));
  ok(OTF2_GlobalDefWriter_WriteLocationGroup(all, 8, 5, OTF2_LOCATION_GROUP_TYPE_PROCESS, 3,
                                             OTF2_UNDEFINED_LOCATION_GROUP));
  ok(OTF2_GlobalDefWriter_WriteLocationGroup(all, 4, 4, OTF2_LOCATION_GROUP_TYPE_PROCESS, 2,
                                             OTF2_UNDEFINED_LOCATION_GROUP));
  OTF2_AttributeValue process;
  process.stringRef = 14;
  ok(OTF2_GlobalDefWriter_WriteLocationGroupProperty(all, 4, 13, OTF2_TYPE_STRING, process));
  ok(OTF2_GlobalDefWriter_WriteSystemTreeNode(all, 1, 2, 2, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
  ok(OTF2_GlobalDefWriter_WriteSystemTreeNode(all, 2, 3, 1, 1));    // class "node"
  ok(OTF2_GlobalDefWriter_WriteSystemTreeNode(all, 3, 10, 10, 2));  // a socket of it
}

void write_regions(OTF2_GlobalDefWriter* all) {
  ok(OTF2_GlobalDefWriter_WriteRegion(all, 70, 6, 6, 0, OTF2_REGION_ROLE_LOOP, OTF2_PARADIGM_OPENMP,
                                      OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 3, 9));
  ok(OTF2_GlobalDefWriter_WriteRegion(all, 3'000'000, 7, 7, 0, OTF2_REGION_ROLE_POINT2POINT,
                                      OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, 7, 0, 0));
  const std::uint64_t members[] = {3'000'000, 99};
  ok(OTF2_GlobalDefWriter_WriteGroup(all, 0, 8, OTF2_GROUP_TYPE_REGIONS, OTF2_PARADIGM_MPI,
                                     OTF2_GROUP_FLAG_NONE, 2, members));
  ok(OTF2_GlobalDefWriter_WriteSourceCodeLocation(all, 0, 7, 12));
  ok(OTF2_GlobalDefWriter_WriteCallingContext(all, 0, 70, 0, OTF2_UNDEFINED_CALLING_CONTEXT));
}

void write_metrics(OTF2_GlobalDefWriter* all) {
  ok(OTF2_GlobalDefWriter_WriteParameter(all, 6, 12, OTF2_PARAMETER_TYPE_STRING));
  ok(OTF2_GlobalDefWriter_WriteMetricMember(all, 5, 9, 0, OTF2_METRIC_TYPE_PAPI,
                                            OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_INT64,
                                            OTF2_BASE_DECIMAL, 0, 10));
  ok(OTF2_GlobalDefWriter_WriteMetricMember(all, 2, 11, 0, OTF2_METRIC_TYPE_OTHER,
                                            OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE,
                                            OTF2_BASE_DECIMAL, -9, 11));
  const OTF2_MetricMemberRef members[] = {5, 2};
  ok(OTF2_GlobalDefWriter_WriteMetricClass(all, 9, 2, members, OTF2_METRIC_SYNCHRONOUS_STRICT,
                                           OTF2_RECORDER_KIND_CPU));
  ok(OTF2_GlobalDefWriter_WriteMetricInstance(all, 11, 9, 0, OTF2_SCOPE_LOCATION, 0));
}

void write_archive(const std::filesystem::path& directory, ForeignEvents kinds) {
  OTF2_Archive* archive =
      OTF2_Archive_Open(directory.c_str(), "foreign", OTF2_FILEMODE_WRITE, 1u << 20, 4u << 20,
                        OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  ok(OTF2_Archive_SetFlushCallbacks(archive, &kFlush, nullptr));
  ok(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
  ok(OTF2_Archive_SetCreator(archive, "some tool"));
  ok(OTF2_Archive_OpenEvtFiles(archive));
  OTF2_EvtWriter* rank0 = OTF2_Archive_GetEvtWriter(archive, 0);
  kinds == ForeignEvents::kKnown ? write_known(rank0) : write_rank0(rank0);
  ok(OTF2_Archive_CloseEvtWriter(archive, rank0));
  OTF2_EvtWriter* rank1 = OTF2_Archive_GetEvtWriter(archive, 1);
  write_rank1(rank1, kinds);
  ok(OTF2_Archive_CloseEvtWriter(archive, rank1));
  ok(OTF2_Archive_CloseEvtFiles(archive));
  write_local_definitions(archive);
  OTF2_GlobalDefWriter* all = OTF2_Archive_GetGlobalDefWriter(archive);
  ok(OTF2_GlobalDefWriter_WriteClockProperties(all, 1'000'000, 100, 900, OTF2_UNDEFINED_TIMESTAMP));
  write_strings(all);
  write_places(all, kinds);
  write_regions(all);
  write_metrics(all);
  ok(OTF2_GlobalDefWriter_WriteAttribute(all, 17, 13, 0, OTF2_TYPE_UINT64));
  ok(OTF2_Archive_CloseGlobalDefWriter(archive, all));
  ok(OTF2_Archive_Close(archive));
}

}  // namespace

void write_foreign_archive(const std::filesystem::path& directory) {
  write_archive(directory, ForeignEvents::kAny);
}

void write_known_archive(const std::filesystem::path& directory) {
  write_archive(directory, ForeignEvents::kKnown);
}

}  // namespace timeloom::otf2
