#include "formats/otf2/read/record_sums.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "formats/otf2/otf2.hpp"
#include "formats/otf2/read/chunk_check.hpp"
#include "formats/otf2/read/definition_reader.hpp"
#include "formats/otf2/read/record_callbacks.hpp"

namespace timeloom::otf2 {

namespace {

constexpr std::uint64_t kBatch = 1 << 16;

class ArchiveSums {
 public:
  explicit ArchiveSums(const Anchor& anchor)
      : anchor_(anchor),
        what_("cannot read the trace " + anchor.path.string()),
        reader_(open_reader(anchor)) {}

  RecordSums take() {
    References references;
    read_definitions(reader_.get(), anchor_, definitions_, references);  // checks the file
    reader_ = open_reader(anchor_);
    add_anchor();
    add_definitions();
    add_markers();
    for (const Location& location : definitions_.locations) {
      ok(OTF2_Reader_SelectLocation(reader_.get(), location.id.value()));
    }
    ok(OTF2_Reader_OpenDefFiles(reader_.get()));
    ok(OTF2_Reader_OpenEvtFiles(reader_.get()));
    for (const Location& location : definitions_.locations) {
      reading_.place = 0;
      add_local_definitions(location);
      reading_.place = 0;
      add_events(location);
    }
    add_files();
    return reading_.sums;
  }

 private:
  void ok(OTF2_ErrorCode code) const { check(code, what_); }

  void add_text(OTF2_ErrorCode (*get)(OTF2_Reader*, char**)) {
    char* text = nullptr;
    ok(get(reader_.get(), &text));
    const std::unique_ptr<char, decltype(&std::free)> owned(text, &std::free);
    if (text != nullptr)
      (void)on_record<RecordKind::kAnchor>(&reading_, const_cast<const char*>(text));
  }

  void add_anchor() {
    add_text(OTF2_Reader_GetMachineName);
    add_text(OTF2_Reader_GetCreator);
    add_text(OTF2_Reader_GetDescription);
    std::map<std::string, std::string> properties = properties_of(reader_.get(), what_);
    for (const auto& [name, value] : properties) {
      (void)on_record<RecordKind::kAnchor>(&reading_, name.c_str(), value.c_str());
    }
    std::uint32_t count = 0;
    ok(OTF2_Reader_GetNumberOfSnapshots(reader_.get(), &count));
    reading_.of(RecordKind::kSnapshot).records = count;
    ok(OTF2_Reader_GetNumberOfThumbnails(reader_.get(), &count));
    reading_.of(RecordKind::kThumbnail).records = count;
  }

  void add_definitions() {
    reading_.place = 0;
    OTF2_GlobalDefReader* all = check(OTF2_Reader_GetGlobalDefReader(reader_.get()), what_);
    ok(OTF2_Reader_RegisterGlobalDefCallbacks(reader_.get(), all, global_callbacks().get(),
                                              &reading_));
    std::uint64_t read = 0;
    ok(OTF2_Reader_ReadGlobalDefinitions(reader_.get(), all, OTF2_UNDEFINED_UINT64, &read));
    ok(OTF2_Reader_CloseGlobalDefReader(reader_.get(), all));
  }

  void add_markers() {
    if (!anchor_.markers().exists()) return;
    const std::uint64_t count =
        count_records(anchor_.markers(), FileKind::kMarkers, anchor_.definition_chunk);
    if (count == 0) return;
    reading_.place = 0;
    OTF2_MarkerReader* all = check(OTF2_Reader_GetMarkerReader(reader_.get()), what_);
    ok(OTF2_Reader_RegisterMarkerCallbacks(reader_.get(), all, marker_callbacks().get(),
                                           &reading_));
    std::uint64_t read = 0;
    ok(OTF2_Reader_ReadMarkers(reader_.get(), all, count, &read));
    ok(OTF2_Reader_CloseMarkerReader(reader_.get(), all));
  }

  void add_local_definitions(const Location& location) {
    const ArchiveFile file = anchor_.local_definitions(location.id);
    if (!file.exists()) return;
    count_records(file, FileKind::kLocalDefinitions, anchor_.definition_chunk);
    OTF2_DefReader* all =
        check(OTF2_Reader_GetDefReader(reader_.get(), location.id.value()), what_);
    ok(OTF2_Reader_RegisterDefCallbacks(reader_.get(), all, local_callbacks().get(), &reading_));
    std::uint64_t read = 0;
    ok(OTF2_Reader_ReadAllLocalDefinitions(reader_.get(), all, &read));
    ok(OTF2_Reader_CloseDefReader(reader_.get(), all));
  }

  void add_events(const Location& location) {
    const ArchiveFile file = anchor_.events(location.id);
    if (!file.exists()) return;
    std::uint64_t left = count_records(file, FileKind::kEvents, anchor_.event_chunk);
    OTF2_EvtReader* all =
        check(OTF2_Reader_GetEvtReader(reader_.get(), location.id.value()), what_);
    ok(OTF2_Reader_RegisterEvtCallbacks(reader_.get(), all, event_callbacks().get(), &reading_));
    for (std::uint64_t read = 1; left > 0 && read > 0; left -= std::min(left, read)) {
      ok(OTF2_Reader_ReadLocalEvents(reader_.get(), all, std::min(left, kBatch), &read));
    }
    ok(OTF2_Reader_CloseEvtReader(reader_.get(), all));
  }

  // Files of snapshots, of thumbnails, and of anybody.
  void add_files() {
    std::set<std::string> known;
    for (const Location& location : definitions_.locations) {
      known.insert(std::to_string(location.id.value()) + ".evt");
      known.insert(std::to_string(location.id.value()) + ".def");
    }
    std::error_code error;
    const auto files = anchor_.directory->fixed_path() / anchor_.path.stem();
    for (const auto& entry : std::filesystem::directory_iterator(files, error)) {
      if (!known.contains(entry.path().filename())) ++reading_.of(RecordKind::kFile).records;
    }
  }

  const Anchor& anchor_;
  const std::string what_;
  ReaderHandle reader_;
  Definitions definitions_;
  Reading reading_;
};

}  // namespace

const char* name_of(RecordKind kind) {
#define TIMELOOM_NAME(kind) #kind,
  static constexpr std::array kNames = {TIMELOOM_OTF2_EVENTS(TIMELOOM_NAME) "AttributeList",
                                        TIMELOOM_OTF2_GLOBAL_DEFINITIONS(TIMELOOM_NAME)
                                            TIMELOOM_OTF2_DEFINITIONS(TIMELOOM_NAME) "DefMarker",
                                        "Marker",
                                        "records of a newer OTF2",
                                        "snapshots",
                                        "thumbnails",
                                        "files of no location",
                                        "texts of the archive"};
#undef TIMELOOM_NAME
  static_assert(kNames.size() == static_cast<std::size_t>(RecordKind::kEnd));
  return kNames[static_cast<std::size_t>(kind)];
}

RecordSums sum_records(const Anchor& anchor) { return ArchiveSums(anchor).take(); }

std::vector<std::string> different_records(const std::filesystem::path& one,
                                           const std::filesystem::path& other) {
  const RecordSums sums = sum_records(read_anchor(one)), others = sum_records(read_anchor(other));
  std::vector<std::string> missing, changed;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const char* name = name_of(static_cast<RecordKind>(i));
    if (sums[i].records != others[i].records) missing.emplace_back(name);
    if (sums[i] != others[i]) changed.emplace_back(name);
  }
  // Where records are missing, others have another place.
  return missing.empty() ? changed : missing;
}

}  // namespace timeloom::otf2
