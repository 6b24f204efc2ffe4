//===- Commands.h - the subcommands of kiln ---------------------------------------------------===//
//
// Each command is: options, filled by CLI11, and one function from options to
// an exit code. main.cpp only declares them. Results go to stdout or -o,
// everything else to stderr.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TOOLS_KILN_COMMANDS_H
#define KILN_TOOLS_KILN_COMMANDS_H

#include "Render.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::tool {

/// Options of every command that compiles.
struct CompileOptions {
  std::string kernel;                ///< KERNEL: file.cpp:name, lib.so:name, or a program
  std::vector<std::string> args;     ///< ARG...
  std::vector<std::string> warnings; ///< -W flags without the W, in order
  int64_t cores = 1;
  bool traceTwice = false;
  bool noCache = false;
  std::string placement = "rotation";            ///< or compact
  std::string memoryReport, syncReport, remarks; ///< text or json on stdout, or a file; empty: none
  std::string hostCompiler;
  std::string testFault; ///< hidden: makes a pass fail, for the test of reproducers
};

/// Options that look into a run; Debugging.h reads them.
struct DebugOptions {
  std::vector<std::string> dumps;    ///< --dump TENSOR@FILE:LINE=OUT.npy
  std::vector<std::string> watches;  ///< --watch RANGE
  std::vector<std::string> whoWrote; ///< --who-wrote RANGE
  std::string stopAt;                ///< --stop-at FILE:LINE
  bool watchReads = false;
};

struct RunOptions {
  CompileOptions compile;
  DebugOptions debug;
  std::vector<std::string> outputs; ///< -o, in order of return
  std::string check;                ///< --check REF.npy
  double rtol = 0, atol = 0;
  std::string json; ///< --json FILE
  std::string schedule = "program";
  uint64_t maxSteps = 0; ///< 0: the executor's default
  bool raw = false;
  int64_t printLimit = 1000; ///< elements of an nl::device_print that is shown whole
  bool noProof = false;      ///< run without proving the streams free of races first
  bool unchecked = false;    ///< read memory as it is, written or not
  std::string poison;        ///< bytes in hex or random:SEED; empty: the executor's default
};

struct CheckOptions {
  CompileOptions compile;
  unsigned randomSchedules = 8;
  uint64_t seed = 1;     ///< of the first random schedule; the others follow
  std::string json;      ///< --json FILE
  std::string graph;     ///< --graph FILE.dot
  bool clocks = false;   ///< vector clocks in every run, also of what is proven
  uint64_t maxSteps = 0; ///< of each run; 0: the executor's default
};

struct CompileToOptions {
  CompileOptions compile;
  std::string output;
  std::string emit = "program";
  std::string stopAfter;
  std::string json;
};

int runCommand(const RunOptions &options, Reporter &reporter);
int checkCommand(const CheckOptions &options, Reporter &reporter);
int compileCommand(const CompileToOptions &options, Reporter &reporter);
int objdumpCommand(const std::string &file, Reporter &reporter);
int asmCommand(const std::string &file, const std::string &output, Reporter &reporter);
int listCommand(const std::string &file, const CompileOptions &options, Reporter &reporter);
int explainCommand(const std::string &code, bool asJson, Reporter &reporter);

} // namespace kiln::tool

#endif // KILN_TOOLS_KILN_COMMANDS_H
