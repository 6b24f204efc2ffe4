//===- BuildId.h - identity of the running libkiln --------------------------------------------===//

#ifndef KILN_LIB_DRIVER_BUILDID_H
#define KILN_LIB_DRIVER_BUILDID_H

#include <string>

namespace kiln::driver {

/// The linker's build id of the object this code is in, in hex; empty when it
/// was linked without one.
std::string ownBuildId();

} // namespace kiln::driver

#endif // KILN_LIB_DRIVER_BUILDID_H
