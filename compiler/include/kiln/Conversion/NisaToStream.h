//===- NisaToStream.h - from one program order to streams -------------------------------------===//

#ifndef KILN_CONVERSION_NISATOSTREAM_H
#define KILN_CONVERSION_NISATOSTREAM_H

#include "kiln/Dialect/Stream/IR/Stream.h"

#include "mlir/Pass/Pass.h"

namespace kiln {

#define GEN_PASS_DECL
#include "kiln/Conversion/NisaToStreamPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "kiln/Conversion/NisaToStreamPasses.h.inc"

} // namespace kiln

#endif // KILN_CONVERSION_NISATOSTREAM_H
