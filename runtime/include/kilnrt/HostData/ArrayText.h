//===- ArrayText.h - the elements of an array as text -----------------------------------------===//
//
// The form NumPy prints: brackets for each dim, columns aligned, the middle of a large array left
// out. A number has the fewest digits that name it as a float32 or an integer.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_HOSTDATA_ARRAYTEXT_H
#define KILNRT_HOSTDATA_ARRAYTEXT_H

#include "kilnrt/HostArray.h"

#include <string>

namespace kilnrt {

struct ArrayTextOptions {
  /// An array of more elements is cut to the ends of its dims.
  int64_t limit = 1000;
  int64_t edge = 3;   ///< elements at either end of a dim that is cut
  size_t width = 100; ///< columns of a line; a longer row goes on in the next one
};

/// Element `index`, counted in C order.
std::string valueText(const HostArray &array, int64_t index);

/// All elements, without a newline at the end: "[[1 2 3]\n [4 5 6]]". Precondition: `array.data`
/// is as long as shape and dtype say.
std::string arrayText(const HostArray &array, const ArrayTextOptions &options = {});

/// Whether arrayText leaves elements out.
bool isCut(const HostArray &array, const ArrayTextOptions &options = {});

} // namespace kilnrt

#endif // KILNRT_HOSTDATA_ARRAYTEXT_H
