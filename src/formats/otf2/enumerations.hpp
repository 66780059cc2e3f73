// The enumerations of OTF2's definitions, as ours and back. Ours without a counterpart are written
// as unknown or other ones, and what other tools write and we have no word for is read so.

#pragma once

#include <otf2/otf2.h>

#include <optional>

#include "core/definitions.hpp"

namespace timeloom::otf2 {

OTF2_Paradigm paradigm_of(Paradigm paradigm);
OTF2_RegionRole role_of(RegionRole role);
OTF2_LocationType type_of(LocationType type);
OTF2_ParameterType type_of(ParameterType type);
OTF2_MetricType type_of(MetricSource source);
OTF2_MetricMode mode_of(MetricMode mode);
OTF2_Type type_of(MetricValueType type);

Paradigm paradigm_of(OTF2_Paradigm paradigm);
RegionRole role_of(OTF2_RegionRole role);
LocationType location_type_of(OTF2_LocationType type);
ParameterType parameter_type_of(OTF2_ParameterType type);
MetricValueType metric_type_of(OTF2_Type type);
// Metrics that count otherwise, from one event to the next say, have no mode.
std::optional<MetricMode> metric_mode_of(OTF2_MetricMode mode);

}  // namespace timeloom::otf2
