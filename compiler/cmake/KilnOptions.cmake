# Language level, warnings, sanitizers, ccache. Included once by the root before any target exists.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Release keeps our own asserts: LLVM's configuration resets LLVM_ENABLE_ASSERTIONS, so NDEBUG is
# simply never defined.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")

# Every float operation is rounded on its own, on every host.
add_compile_options(-ffp-contract=off -Wall -Wextra)
if(KILN_WERROR)
  add_compile_options(-Werror)
endif()
if(KILN_SANITIZE)
  # vptr checks need type information of the uninstrumented LLVM libraries.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
endif()

if(KILN_SANITIZE_THREADS)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=thread)
endif()

find_program(KILN_CCACHE ccache)
if(KILN_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${KILN_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${KILN_CCACHE})
endif()

# The tool and libkiln refuse each other across builds that differ in this.
set(KILN_BUILD_ID "${PROJECT_VERSION}")

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# An installed tree finds its own library beside it and LLVM where the package put it.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib;/usr/lib/llvm-22/lib")
