# The root of the copy: the table, KilnISA, the runtime, the kernel language and two test programs. No
# MLIR. The generator and Numerics come from the build that runs the test.
cmake_minimum_required(VERSION 3.25)
project(AddingAnInstruction LANGUAGES C CXX)

list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR}/compiler/cmake)
include(KilnOptions)
include(AddKiln)
include(GoogleTest)
find_package(GTest REQUIRED)
find_package(fmt REQUIRED)
find_program(KILN_FLATC flatc REQUIRED)
find_path(KILN_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED)

add_executable(kiln-tblgen IMPORTED GLOBAL)
set_target_properties(kiln-tblgen PROPERTIES IMPORTED_LOCATION ${KILN_TBLGEN})
add_library(KilnrtNumerics STATIC IMPORTED GLOBAL)
set_target_properties(KilnrtNumerics PROPERTIES
  IMPORTED_LOCATION ${KILN_NUMERICS}
  INTERFACE_INCLUDE_DIRECTORIES ${CMAKE_CURRENT_SOURCE_DIR}/runtime/include
  INTERFACE_LINK_LIBRARIES ${KILN_HIGHWAY_LIBRARY})

add_subdirectory(dialects/table)
add_subdirectory(dialects/lib/ISA)
add_subdirectory(dialects/lib/TileGraph)
add_subdirectory(runtime)
set(KILN_COMPILER_INCLUDES ${CMAKE_CURRENT_SOURCE_DIR}/compiler/include)
add_subdirectory(compiler/lib/DSL)
add_subdirectory(test/unit/Instructions)

add_executable(AgreementTest test/unit/DSL/TableAgreementTest.cpp)
target_link_libraries(AgreementTest PRIVATE KilnDSL GTest::gmock GTest::gtest_main)
target_compile_definitions(AgreementTest PRIVATE
  KILN_ISA_HEADER="${CMAKE_CURRENT_SOURCE_DIR}/compiler/include/nl/isa.h")
