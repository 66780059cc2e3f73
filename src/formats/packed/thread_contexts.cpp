#include "formats/packed/thread_contexts.hpp"

namespace timeloom::packed {

packing::Compressor& thread_compressor() {
  thread_local packing::Compressor compressor;
  return compressor;
}

packing::Decompressor& thread_decompressor() {
  thread_local packing::Decompressor decompressor;
  return decompressor;
}

}  // namespace timeloom::packed
