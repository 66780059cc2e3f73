// Any bytes as a spool, woven into an OTF2 archive and a call tree: done,
// or refused with an Error. The archive is read again.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "core/error.hpp"
#include "formats/otf2/otf2.hpp"
#include "profile/call_tree_sink.hpp"
#include "spool_input.hpp"
#include "weave/spool_source.hpp"

namespace timeloom {
namespace {

// Counts events and aborts on what no source may replay.
class Checker : public RunSink {
 public:
  void begin(const Definitions& definitions) override { definitions_ = &definitions; }
  std::unique_ptr<LocationSink> open_location(const Location&) override {
    return std::make_unique<Part>(*this);
  }
  void finish() override {}
  std::uint64_t events() const { return events_; }

 private:
  class Part : public LocationSink {
   public:
    explicit Part(Checker& all) : all_(all) {}
    void consume(std::span<const Event> events) override {
      for (const Event& event : events) check(event);
      all_.events_ += events.size();
    }
    void finish() override {
      if (!open_.empty()) std::abort();
    }

   private:
    void check(const Event& event) {
      if (event.time < last_) std::abort();
      last_ = event.time;
      if (event.kind == EventKind::kEnter) {
        if (event.ref >= all_.definitions_->regions.size()) std::abort();
        open_.push_back(event.ref);
      } else if (event.kind == EventKind::kLeave) {
        if (open_.empty() || open_.back() != event.ref) std::abort();
        open_.pop_back();
      }
    }
    Checker& all_;
    Timestamp last_{};
    std::vector<std::uint32_t> open_;
  };
  const Definitions* definitions_ = nullptr;
  std::uint64_t events_ = 0;
};

void weave_and_read(const std::string& spool, const std::filesystem::path& output) {
  weave::SpoolSource source({spool});
  const auto trace = otf2::create(output);
  profile::CallTreeSink tree;
  Checker checker;
  const std::array<RunSink*, 3> sinks{&checker, trace.get(), &tree};
  source.replay(sinks, 1);
  if (checker.events() != source.events()) std::abort();
  Checker again;
  const std::array<RunSink*, 1> readers{&again};
  otf2::open(output / "traces.otf2")->replay(readers, 1);
  if (again.events() != checker.events()) std::abort();
}

}  // namespace
}  // namespace timeloom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace timeloom;
  const std::string& spool = fuzz::write_spool({data, size});
  const std::filesystem::path output = fuzz::work_directory() + "/output";
  std::filesystem::remove_all(output);
  std::filesystem::create_directory(output);
  try {
    weave_and_read(spool, output);
  } catch (const Error&) {
    // said clearly
  }
  return 0;
}
