# cmake -DCOMPILER=... -DINCLUDE=... -DSOURCE=... [-DFAILS=1] -P CompileTest.cmake
# Compiles a kernel file as a plug-in is compiled, with warnings as errors. With FAILS it must be refused, and
# the compiler's output must hold the text of the file's "// expect:" line.
execute_process(
  COMMAND ${COMPILER} -std=c++20 -Wall -Wextra -Werror -fPIC -O0 -g1 -fno-omit-frame-pointer -fvisibility=hidden
          -I ${INCLUDE} -c ${SOURCE} -o /dev/null
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT FAILS)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${COMPILER} refuses ${SOURCE}:\n${output}")
  endif()
  return()
endif()
if(status EQUAL 0)
  message(FATAL_ERROR "${COMPILER} accepts ${SOURCE}")
endif()
file(STRINGS ${SOURCE} line LIMIT_COUNT 1)
string(REPLACE "// expect: " "" expected "${line}")
string(FIND "${output}" "${expected}" position)
if(position EQUAL -1)
  message(FATAL_ERROR "${COMPILER} does not say '${expected}':\n${output}")
endif()
