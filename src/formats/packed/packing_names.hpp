// Names of src/packing that this folder uses as its own.
#pragma once

#include "packing/streams.hpp"
#include "packing/varint.hpp"

namespace timeloom::packed {

using packing::ByteReader;
using packing::Bytes;
using packing::ByteSpan;
using packing::put_varint;
using packing::StreamReader;
using packing::StreamWriter;
using packing::unzigzag;
using packing::zigzag;

}  // namespace timeloom::packed
