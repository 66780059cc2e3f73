// Configuration files of Omnitrace in XML, as cereal writes them: an element for each variable, at
// any depth, with its value as text or in an element <value>. Attributes, comments and
// declarations of types do not count.
//
// A plain function, for any thread. Throws Error with the name of the file in the message.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doors/omnitrace/settings/omnitrace_config.hpp"

namespace timeloom {

std::vector<ConfigLine> parse_omnitrace_xml(std::string_view text, const std::string& name);

}  // namespace timeloom
