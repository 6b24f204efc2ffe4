//===- HostArray.h - a tensor on the host side ------------------------------------------------===//
//
// What goes into a run and what comes out of it: row-major, contiguous, little-endian, in a device
// dtype.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_HOSTARRAY_H
#define KILNRT_HOSTARRAY_H

#include "kiln/ISA/Types.h"

#include <cstddef>
#include <vector>

namespace kilnrt {

using kiln::isa::DType;

struct HostArray {
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;  ///< every extent >= 1
  std::vector<std::byte> data; ///< elements() * bytesOf(dtype) bytes, C order

  int64_t elements() const {
    int64_t n = 1;
    for (int64_t e : shape)
      n *= e;
    return n;
  }
};

} // namespace kilnrt

#endif // KILNRT_HOSTARRAY_H
