// The calling contexts of an archive with samples: the tree of call paths to which its enters,
// leaves and samples refer, in place of regions. OTF2 has both forms, and an archive has one of
// them.
//
// Events: one ContextWriter for each location, used by one thread; the tree is shared by all.
// Definitions: by the thread that finishes the archive; these throw Error.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "core/definitions.hpp"
#include "core/event.hpp"
#include "formats/otf2/otf2_library.hpp"

namespace timeloom::otf2 {

struct Shared;

class CallingContexts {
 public:
  struct Node {
    OTF2_CallingContextRef parent = OTF2_UNDEFINED_CALLING_CONTEXT;
    std::uint32_t region = 0;
    std::uint32_t place = 0;  // in places() + 1; 0: not known
    auto operator<=>(const Node&) const = default;
  };
  struct Place {
    std::uint32_t region = 0;  // it lies in the file of this region
    std::uint32_t line = 0;
    auto operator<=>(const Place&) const = default;
  };

  // Any thread may call these two.
  OTF2_CallingContextRef context(const Node& node);
  // The number of a source line, for Node::place.
  std::uint32_t place(const Place& place);

  // REQUIRES, for both: no thread adds any more.
  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  const std::vector<Place>& places() const noexcept { return places_; }

 private:
  std::mutex mutex_;
  std::map<Node, OTF2_CallingContextRef> numbers_;
  std::vector<Node> nodes_;
  std::map<Place, std::uint32_t> place_numbers_;
  std::vector<Place> places_;
};

class ContextWriter {
 public:
  ContextWriter(CallingContexts& contexts, const Definitions& definitions)
      : contexts_(contexts), definitions_(definitions) {}

  // Return the library's code.
  OTF2_ErrorCode enter(OTF2_EvtWriter* writer, OTF2_AttributeList* attributes, const Event& event);
  OTF2_ErrorCode leave(OTF2_EvtWriter* writer, OTF2_AttributeList* attributes, const Event& event);
  // kSampleFrame, which belongs to the next sample.
  void frame(const Event& event) { frames_.push_back(event.ref); }
  // The region of the event is defined.
  OTF2_ErrorCode sample(OTF2_EvtWriter* writer, const Event& event);

 private:
  // The call path, as regions and as contexts.
  struct Path {
    std::vector<std::uint32_t> regions;
    std::vector<OTF2_CallingContextRef> contexts;
    void push(CallingContexts& all, std::uint32_t region, std::uint32_t place = 0);
    void resize(std::size_t size);
  };
  std::uint32_t distance_to(std::size_t open);
  std::uint32_t place_of(std::uint32_t line);

  CallingContexts& contexts_;
  const Definitions& definitions_;
  Path open_;
  std::vector<std::uint32_t> frames_;
  // The frames behind the open calls, if the event before was a sample.
  std::vector<OTF2_CallingContextRef> sampled_;
};

// Interns the names. REQUIRES: called before the size of the longest string is read.
void intern_generator(Shared& shared);

// Nothing for an archive without samples.
void write_calling_contexts(Shared& shared, OTF2_GlobalDefWriter* writer);

}  // namespace timeloom::otf2
