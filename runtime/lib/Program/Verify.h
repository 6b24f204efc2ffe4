//===- Verify.h - the halves of the program verifier ------------------------------------------===//
//
// Private to the library. `verify` runs the declarations first: the streams
// are checked against tensors and locations that are already sound.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_PROGRAM_VERIFY_H
#define KILNRT_LIB_PROGRAM_VERIFY_H

#include "kilnrt/Program.h"

namespace kilnrt {

/// Target, sizes, locations, tensors, constants.
Status verifyDeclarations(const Program &program);
/// Records, orders, accesses, rules, semaphores. Precondition: the
/// declarations are sound.
Status verifyStreams(const Program &program);
/// At least the bytes `serialize` would write.
uint64_t fileBytesBound(const Program &program);

} // namespace kilnrt

#endif // KILNRT_LIB_PROGRAM_VERIFY_H
