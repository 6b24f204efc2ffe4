# Packages from Debian and the MLIR link mode. third_party/README.md says why each is here.
find_package(MLIR 22.1 REQUIRED CONFIG)
find_package(GTest REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_program(KILN_FLATC flatc REQUIRED)
find_path(KILN_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED)

set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})

# Both or neither: LLVM's package exports only its own half, and a mix carries two MLIRs.
if(KILN_LINK_MODE STREQUAL "static")
  set(LLVM_LINK_LLVM_DYLIB OFF)
  set(MLIR_LINK_MLIR_DYLIB OFF)
else()
  set(LLVM_LINK_LLVM_DYLIB ON)
  set(MLIR_LINK_MLIR_DYLIB ON)
endif()
set(LLVM_ENABLE_EH ON) # the DSL and CLI11 throw; set before HandleLLVMOptions
set(LLVM_ENABLE_RTTI ON)
set(LLVM_REQUIRES_EH ON)
set(LLVM_REQUIRES_RTTI ON)
include(TableGen)
include(AddLLVM)
include(AddMLIR)
# HandleLLVMOptions is left out on purpose: it only adds LLVM's own warning and optimisation flags,
# and KilnOptions sets ours.

set(KILN_LIT ${LLVM_TOOLS_BINARY_DIR}/lit)
