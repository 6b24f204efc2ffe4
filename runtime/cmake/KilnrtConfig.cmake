# find_package(Kilnrt): kilnrt::Executor runs programs, kilnrt::HostData reads and writes arrays,
# kilnrt::Debug looks into runs.
# Needs fmt and Highway, and no LLVM.
include(CMakeFindDependencyMacro)
find_dependency(fmt)
include(${CMAKE_CURRENT_LIST_DIR}/KilnrtTargets.cmake)
