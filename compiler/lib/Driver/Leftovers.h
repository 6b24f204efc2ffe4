//===- Leftovers.h - what a process that ends at once must not leave
//---------------------------===//
//
// The host compiler that runs and the folder of a build that is not in the cache. Normally both end
// with the objects that own them; a signal handler that ends the process has only this.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_DRIVER_LEFTOVERS_H
#define KILN_LIB_DRIVER_LEFTOVERS_H

#include <string>
#include <sys/types.h>

namespace kiln::driver {

/// The process group of the host compiler; 0: none runs.
void setCompilerGroup(pid_t group);
/// A folder with at most one file in it, until forgetBuild. Of several builds at a time the first
/// one is remembered.
void rememberBuild(const std::string &folder, const std::string &file);
void forgetBuild(const std::string &folder);
/// Ends the host compiler and removes the folder. Only what a signal handler may do.
void abandonBuild();

} // namespace kiln::driver

#endif // KILN_LIB_DRIVER_LEFTOVERS_H
