# The runtime for other programs: archives, headers, and a package for find_package(Kilnrt).
# Included by the root once all targets exist; install component "runtime".
set(kilnrt_targets KilnISA KilnrtNumerics KilnrtSemantics KilnrtProgram KilnrtMachine KilnrtExecutor
  KilnrtHostData KilnrtProof KilnrtDebug)
foreach(target ${kilnrt_targets})
  string(REGEX REPLACE "^Kiln(rt)?" "" name ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} INTERFACE cxx_std_20)
endforeach()
install(TARGETS ${kilnrt_targets} EXPORT Kilnrt
  ARCHIVE DESTINATION lib COMPONENT runtime
  INCLUDES DESTINATION include)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/kilnrt
  DESTINATION include COMPONENT runtime FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/dialects/include/kiln/ISA
  DESTINATION include/kiln COMPONENT runtime FILES_MATCHING PATTERN "*.h")
# What the table's headers include; the rest of the generated files is for the build alone.
install(DIRECTORY ${KILN_GENERATED_INCLUDES}/kiln/ISA
  DESTINATION include/kiln COMPONENT runtime FILES_MATCHING PATTERN "*.h.inc")

set(kilnrt_package lib/cmake/Kilnrt)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/KilnrtConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY ExactVersion)
install(EXPORT Kilnrt NAMESPACE kilnrt:: FILE KilnrtTargets.cmake
  DESTINATION ${kilnrt_package} COMPONENT runtime)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/KilnrtConfig.cmake ${CMAKE_BINARY_DIR}/KilnrtConfigVersion.cmake
  DESTINATION ${kilnrt_package} COMPONENT runtime)
