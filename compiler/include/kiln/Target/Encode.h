//===- Encode.h - from nisa and stream ops to a program ---------------------------------------===//
//
// Every level is encodable: flags of the program say what holds. Before
// placement each on-chip buffer gets a private byte range, before
// synchronisation the records carry one global order.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TARGET_ENCODE_H
#define KILN_TARGET_ENCODE_H

#include "kiln/Dialect/Stream/IR/Stream.h"
#include "kilnrt/Program.h"

namespace kiln {

/// The program of `kernel`. Precondition: engines are resolved. Cannot
/// fail: what the file format cannot hold is found by the program's verifier.
kilnrt::Program encode(nisa::KernelOp kernel);

} // namespace kiln

#endif // KILN_TARGET_ENCODE_H
