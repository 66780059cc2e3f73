// The zstd contexts of the calling thread, for all locations that it packs and unpacks. Any thread;
// throw std::bad_alloc.
#pragma once

#include "packing/streams.hpp"

namespace timeloom::packed {

packing::Compressor& thread_compressor();
packing::Decompressor& thread_decompressor();

}  // namespace timeloom::packed
