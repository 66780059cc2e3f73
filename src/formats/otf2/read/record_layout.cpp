#include "formats/otf2/read/record_layout.hpp"

#include <array>
#include <cstring>

namespace timeloom::otf2 {

namespace {

using Table = std::array<const char*, 256>;

// A leading '!' marks records without a length.
constexpr Table make_event_table() {
  Table table{};
  table[6] = "n(uv)";                          // attribute list of the event that follows
  table[10] = "q";                             // BufferFlush
  table[11] = "b";                             // MeasurementOnOff
  table[12] = table[13] = "!u";                // Enter, Leave
  table[14] = table[18] = "uuuU";              // MpiSend, MpiRecv
  table[15] = table[19] = "uuuUU";             // MpiIsend, MpiIrecv
  table[16] = table[17] = "!U";                // MpiIsendComplete, MpiIrecvRequest
  table[20] = table[21] = "!U";                // MpiRequestTest, MpiRequestCancelled
  table[22] = table[25] = table[37] = "";      // MpiCollectiveBegin, OmpJoin, RmaCollectiveBegin
  table[23] = "buuUU";                         // MpiCollectiveEnd
  table[24] = "!u";                            // OmpFork
  table[26] = table[27] = "uu";                // OmpAcquireLock, OmpReleaseLock
  table[28] = table[29] = table[30] = "!U";    // OmpTask*
  table[31] = "uc(bU)";                        // Metric
  table[32] = "uu";                            // ParameterString
  table[33] = table[34] = "uU";                // ParameterInt, ParameterUnsignedInt
  table[35] = table[36] = "u";                 // RmaWinCreate, RmaWinDestroy
  table[38] = "buuuUU";                        // RmaCollectiveEnd
  table[39] = "uuu";                           // RmaGroupSync
  table[40] = table[41] = table[42] = "uuUb";  // RmaRequestLock, RmaAcquireLock, RmaTryLock
  table[43] = "uuU";                           // RmaReleaseLock
  table[44] = "uub";                           // RmaSync
  table[45] = "u";                             // RmaWaitChange
  table[46] = table[47] = "uuUU";              // RmaPut, RmaGet
  table[48] = "uubUUU";                        // RmaAtomic
  table[49] = table[50] = table[51] = table[52] = "uU";  // RmaOp*
  table[53] = "bu";                                      // ThreadFork
  table[54] = "b";                                       // ThreadJoin
  table[55] = table[56] = "u";                           // ThreadTeamBegin, ThreadTeamEnd
  table[57] = table[58] = "buu";                         // ThreadAcquireLock, ThreadReleaseLock
  table[59] = table[60] = table[61] = "uuu";             // ThreadTask*
  table[62] = table[63] = table[64] = table[65] = "uU";  // ThreadCreate, Begin, Wait, End
  table[66] = "uu";                                      // CallingContextEnter
  table[67] = "u";                                       // CallingContextLeave
  table[68] = "uuu";                                     // CallingContextSample
  table[69] = "ubuu";                                    // IoCreateHandle
  table[70] = "u";                                       // IoDestroyHandle
  table[71] = "uuu";                                     // IoDuplicateHandle
  table[72] = "uUbU";                                    // IoSeek
  table[73] = "uu";                                      // IoChangeStatusFlags
  table[74] = "bu";                                      // IoDeleteFile
  table[75] = "ubuUU";                                   // IoOperationBegin
  table[76] = table[77] = table[79] = "uU";              // IoOperationTest, Issued, Cancelled
  table[78] = "uUU";                                     // IoOperationComplete
  table[80] = table[81] = table[82] = "ub";              // IoAcquireLock, IoReleaseLock, IoTryLock
  table[83] = "un(u)";                                   // ProgramBegin
  table[84] = table[85] = "U";                           // ProgramEnd, NonBlockingCollectiveRequest
  table[86] = "buuUUU";                                  // NonBlockingCollectiveComplete
  table[87] = table[88] = "u";                           // CommCreate, CommDestroy
  return table;
}

// The records that global and local definitions share.
constexpr Table make_definition_table() {
  Table table{};
  table[10] = "us";                 // String
  table[11] = "uub|u";              // Attribute
  table[12] = "uuuu";               // SystemTreeNode
  table[13] = "uubu|u";             // LocationGroup
  table[14] = "UubUu";              // Location
  table[15] = "uuubuuu|ubbu";       // Region
  table[16] = "uuuuu";              // Callsite
  table[17] = "uuu";                // Callpath
  table[18] = "uubn(U)|bbu";        // Group
  table[19] = "uuubbbbUu";          // MetricMember
  table[20] = "uc(u)b|b";           // MetricClass
  table[21] = "uuUbU";              // MetricInstance
  table[22] = "uuuu|u";             // Comm
  table[23] = "uub";                // Parameter
  table[24] = "uuu|u";              // RmaWin
  table[25] = "uU";                 // MetricClassRecorder
  table[26] = table[28] = "uuu|v";  // SystemTreeNodeProperty, LocationGroupProperty
  table[27] = "ub";                 // SystemTreeNodeDomain
  table[29] = "Uuu|v";              // LocationProperty
  table[30] = "uuub";               // CartDimension
  table[31] = "uuuc(u)";            // CartTopology
  table[32] = "uuc(u)";             // CartCoordinate
  table[33] = "uuu";                // SourceCodeLocation
  table[34] = "uuuu";               // CallingContext
  table[35] = table[37] = "uuv";    // CallingContextProperty, IoFileProperty
  table[36] = "uubbUU";             // InterruptGenerator
  table[38] = table[39] = "uuu";    // IoRegularFile, IoDirectory
  table[40] = "uuubuuu";            // IoHandle
  table[41] = "ubu";                // IoPreCreatedHandleState
  table[42] = "uuv";                // CallpathParameter
  table[43] = "uuuuuu";             // InterComm
  return table;
}

constexpr Table make_global_table() {
  Table table = make_definition_table();
  table[5] = "UUU|U";       // ClockProperties
  table[6] = "bub";         // Paradigm
  table[7] = "bbv";         // ParadigmProperty
  table[8] = "buubuc(bv)";  // IoParadigm
  return table;
}

constexpr Table make_local_table() {
  Table table = make_definition_table();
  table[5] = "bm";   // MappingTable
  table[6] = "qUq";  // ClockOffset
  return table;
}

constexpr Table make_marker_table() {
  Table table{};
  table[5] = "ussb";    // DefMarker
  table[6] = "UUubUs";  // Marker
  return table;
}

constexpr Table kEvents = make_event_table();
constexpr Table kGlobal = make_global_table();
constexpr Table kLocal = make_local_table();
constexpr Table kMarkers = make_marker_table();

bool skip(std::uint64_t size, Bytes& bytes) {
  if (bytes.left() < size) return false;
  bytes.at += size;
  return true;
}

bool walk_text(Bytes& bytes) {
  const void* end = std::memchr(bytes.at, 0, bytes.left());
  if (end == nullptr) return false;
  bytes.at = static_cast<const std::uint8_t*>(end) + 1;
  return true;
}

// The numbers are the OTF2_TYPE_* of the library's OTF2_GeneralDefinitions.h.
bool walk_value(Bytes& bytes) {
  if (bytes.left() < 1) return false;
  const std::uint8_t type = *bytes.at++;
  std::uint64_t value = 0;
  switch (type) {
    case 1:
    case 5: return skip(1, bytes);  // uint8, int8
    case 2:
    case 6: return skip(2, bytes);   // uint16, int16
    case 9: return skip(4, bytes);   // float
    case 10: return skip(8, bytes);  // double
    case 0:
    case 4:
    case 8:
    case 13: return walk_number(8, bytes, value);                  // 64 bits
    default: return walk_number(type > 25 ? 8 : 4, bytes, value);  // 32 bits, references
  }
}

bool walk_mapping(Bytes& bytes) {
  std::uint64_t count = 0;
  if (!walk_number(8, bytes, count) || bytes.left() < 1 || count == 0) return false;
  const std::uint8_t mode = *bytes.at++;
  if (mode > 1 || count > bytes.left()) return false;
  if (mode == 1) count *= 2;  // pairs
  for (std::uint64_t i = 0, value = 0; i < count; ++i) {
    if (!walk_number(8, bytes, value)) return false;
  }
  return true;
}

// `layout`: just behind the letter of the count; at the ')' afterwards.
bool walk_array(const char*& layout, std::uint64_t count, Bytes& bytes) {
  const char* const end = std::strchr(layout, ')');
  char element[8] = {};
  std::memcpy(element, layout + 1, static_cast<std::size_t>(end - layout - 1));
  layout = end;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (bytes.left() == 0 || !walk(element, bytes)) return false;
  }
  return true;
}

}  // namespace

bool walk_number(unsigned longest, Bytes& bytes, std::uint64_t& value) {
  if (bytes.left() < 1) return false;
  const unsigned size = *bytes.at++;
  value = size == 0xff ? UINT64_MAX : 0;
  if (size == 0xff) return true;
  if (size > longest || bytes.left() < size) return false;
  for (unsigned i = 0; i < size; ++i) {
    const std::uint64_t byte = bytes.at[i];
    value |= byte << 8 * (bytes.big_endian ? size - 1 - i : i);
  }
  bytes.at += size;
  return true;
}

bool walk(const char* layout, Bytes& bytes) {
  std::uint64_t value = 0;
  for (; *layout != '\0'; ++layout) {
    bool fits = true;
    switch (*layout) {
      case 'b': fits = skip(1, bytes); break;
      case 'q': fits = skip(8, bytes); break;
      case 'u': fits = walk_number(4, bytes, value); break;
      case 'U': fits = walk_number(8, bytes, value); break;
      case 's': fits = walk_text(bytes); break;
      case 'v': fits = walk_value(bytes); break;
      case 'm': fits = walk_mapping(bytes); break;
      case '|':
        if (bytes.left() == 0) return true;
        break;
      case 'c':
        if (bytes.left() < 1) return false;
        value = *bytes.at++;
        fits = walk_array(++layout, value, bytes);
        break;
      default:  // 'n'
        fits = walk_number(4, bytes, value) && walk_array(++layout, value, bytes);
        break;
    }
    if (!fits) return false;
  }
  return true;
}

RecordLayout layout_of(FileKind file, std::uint8_t record) {
  const Table* table = &kEvents;
  if (file == FileKind::kGlobalDefinitions) table = &kGlobal;
  if (file == FileKind::kLocalDefinitions) table = &kLocal;
  if (file == FileKind::kMarkers) table = &kMarkers;
  const char* fields = (*table)[record];
  if (fields != nullptr && *fields == '!') return {fields + 1, true};
  return {fields, false};
}

}  // namespace timeloom::otf2
