// The processed format of the Firefox Profiler, version 48: a thread table for each thread. Its
// samples are stretches of time with the same call stack. docs/convert.md describes the contents.
//
// Streams: memory grows with the number of call paths of a thread, not with its events; the columns
// of a thread are collected in temporary files. Any thread may use kFormat; its functions throw
// Error.
#pragma once

#include "exchange/export_format.hpp"

namespace timeloom::firefox {

extern const exchange::Format kFormat;

}  // namespace timeloom::firefox
