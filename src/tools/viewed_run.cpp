#include "tools/viewed_run.hpp"

#include <algorithm>
#include <thread>

#include "formats/otf2/otf2.hpp"
#include "tools/view_describe.hpp"
#include "view/index_place.hpp"
#include "weave/run.hpp"

namespace timeloom::tools {

ViewedRun::ViewedRun(const std::filesystem::path& run)
    : title_(run.string()),
      anchor_(weave::trace_of(run)),
      source_(otf2::open(anchor_)),
      definitions_(source_->definitions()),
      identity_(view::source_identity(anchor_)),
      content_(definitions_, [this](const view::Index* index) {
        return describe_for_viewer(definitions_, title_, index, content_.marks()->read());
      }) {
  content_.set_marks(std::make_shared<const view::MarksFile>(anchor_));
  content_.set_index(view::find_index(anchor_, identity_, definitions_.locations.size()));
}

void ViewedRun::make_index() {
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  content_.set_index(view::make_index(*source_, anchor_, identity_, content_.progress(), threads));
}

std::shared_ptr<const view::Index> ViewedRun::index() {
  if (!has_index()) make_index();
  return content_.index();
}

}  // namespace timeloom::tools
