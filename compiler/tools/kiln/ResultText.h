//===- ResultText.h - values of results for people --------------------------------------------===//

#ifndef KILN_TOOLS_KILN_RESULTTEXT_H
#define KILN_TOOLS_KILN_RESULTTEXT_H

#include "kilnrt/HostArray.h"

#include <string>

namespace kiln::tool {

/// "(3, 448)": the index of element `i`.
std::string indexText(const kilnrt::HostArray &array, size_t i);
/// "float32 [128, 512]: 1 2 3 4 5 6 ...".
std::string summary(const kilnrt::HostArray &array);

} // namespace kiln::tool

#endif // KILN_TOOLS_KILN_RESULTTEXT_H
