//===- PrintText.h - an nl::device_print as text ----------------------------------------------===//

#ifndef KILNRT_DEBUG_PRINTTEXT_H
#define KILNRT_DEBUG_PRINTTEXT_H

#include "kilnrt/Executor.h"
#include "kilnrt/HostData/ArrayText.h"

namespace kilnrt {

/// A line of prefix, dtype, shape, place and iterations, and the elements:
///   sums float32 [2, 1] at softmax.cpp:17, iteration 3
///   [[0.5]
///    [2]]
/// Ends with a newline. Control characters of the prefix come out as \xNN.
std::string toText(const DevicePrint &print, const ArrayTextOptions &options = {});

/// "helpers.h:7 from softmax.cpp:33", or "an unknown line".
std::string placeText(const CallChain &place);

} // namespace kilnrt

#endif // KILNRT_DEBUG_PRINTTEXT_H
