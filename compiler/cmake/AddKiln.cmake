# The wrappers every folder uses; one idea each.

# add_kiln_plain_library(NAME sources... LINK libs...): C++ without LLVM or MLIR. Its folder's header
# root is public; an installed tree has all of them in one place.
function(add_kiln_plain_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS;INCLUDE" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  foreach(folder ${ARG_INCLUDE})
    target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${folder}>)
  endforeach()
  if(ARG_LINK)
    target_link_libraries(${name} PUBLIC ${ARG_LINK})
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# add_kiln_library(NAME sources... MLIR_LIBS libs... LINK libs... DEPENDS targets...): C++ with MLIR.
function(add_kiln_library name)
  cmake_parse_arguments(ARG "" "" "MLIR_LIBS;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_include_directories(${name} PUBLIC ${KILN_MLIR_INCLUDES})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set_target_properties(${name} PROPERTIES KILN_MLIR_LIBS "${ARG_MLIR_LIBS}")
  kiln_link_mlir(${name} ${ARG_MLIR_LIBS})
endfunction()

# kiln_link_mlir(TARGET libs...): the only way MLIR is linked. In shared mode a direct link to an
# archive would put a second MLIR into the process.
function(kiln_link_mlir target)
  if(MLIR_LINK_MLIR_DYLIB)
    target_link_libraries(${target} PUBLIC MLIR LLVM)
  else()
    target_link_libraries(${target} PUBLIC ${ARGN})
  endif()
endfunction()

# add_kiln_unittest(NAME sources... LINK libs... [LABEL label]): one gtest program, one ctest entry a case.
function(add_kiln_unittest name)
  cmake_parse_arguments(ARG "" "LABEL" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/unit)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 900 LABELS "${ARG_LABEL}")
endfunction()
