// Maps Timeloom's enumerations to OTF2's and back. Values of Timeloom without a counterpart are
// written as unknown or other. Values of other tools without a counterpart are read likewise. Plain
// functions, for any thread.

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
// Metrics that count differently, for example from one event to the next, have no mode.
std::optional<MetricMode> metric_mode_of(OTF2_MetricMode mode);

}  // namespace timeloom::otf2
