#include "view/page/page.hpp"

#include "os/embedded_file.hpp"

TIMELOOM_EMBED_FILE(timeloom_page, TIMELOOM_PAGE);

namespace timeloom::view {

std::string_view page() noexcept { return TIMELOOM_EMBEDDED_TEXT(timeloom_page); }

}  // namespace timeloom::view
