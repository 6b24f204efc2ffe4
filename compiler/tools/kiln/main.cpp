//===- main.cpp - the kiln command line -------------------------------------------------------===//
//
// Declares the subcommands and their options; the work is in the command files.
// Starts without LLVM.
//
//===------------------------------------------------------------------------------------------===//

#include "Commands.h"
#include "SignalMessage.h"
#include "StopSignals.h"

#include <CLI/CLI.hpp>

#include <functional>

using namespace kiln::tool;

namespace {

constexpr const char *kFooter =
    "KERNEL  file.cpp:name, lib.so:name, or a program file.kiln\n"
    "ARG     file.npy, file.npy:bf16 (cast on load), zeros:SHAPE:DTYPE, "
    "ones:..., iota:..., rand:SHAPE:DTYPE[:SEED],\n"
    "        randn:SHAPE:DTYPE[:SEED], or a number, true, false or text for a "
    "scalar; SHAPE is 512x256\n"
    "Exit    0 done  1 kernel or input at fault  2 wrong command line  3 --check or a "
    "check of the executor failed\n"
    "        4 a limit was reached  70 fault of Kiln  130, 143 stopped by Ctrl-C or SIGTERM\n"
    "Example kiln run examples/03_matmul.cpp:matmul_blocked "
    "rand:256x128:bf16:1 rand:256x512:bf16:2 -o c.npy\n"
    "Running a .cpp builds and runs native code: run only kernels you trust.";

void addCompileOptions(CLI::App *command, CompileOptions &options) {
  command->add_option("KERNEL", options.kernel, "Kernel or program")->required();
  command->add_option("ARG", options.args, "Arguments, in the kernel's order");
  command
      ->add_option("-W", options.warnings,
                   "Warnings: -Wperf shows performance warnings, -Wno-ID hides a rule's, "
                   "-Werror or -Werror=ID makes errors of them, -Wno-error=ID does not")
      ->allow_extra_args(false)
      ->type_name("FLAG");
  command
      ->add_option("--placement", options.placement,
                   "rotation reuses an address as late as it can, compact as early")
      ->check(CLI::IsMember({"rotation", "compact"}))
      ->capture_default_str();
  command->add_option("--cores", options.cores, "Cores to launch on")->capture_default_str();
  command->add_flag("--trace-twice", options.traceTwice,
                    "Trace the kernel again and compare: it shall depend on its arguments only");
  command->add_flag("--no-cache", options.noCache, "Build the kernel file anew");
  command->add_option("--host-compiler", options.hostCompiler,
                      "C++ compiler for kernel files (default: $CXX, g++, clang++)");
  command->add_option("--test-fault", options.testFault)->group("");
}

void addRemarks(CLI::App *command, CompileOptions &options) {
  command->add_flag("--remarks{text}", options.remarks,
                    "How whole tensors are computed: groups, tiles, bytes, and why values go "
                    "through HBM: =text, =json, or =FILE (FILE.json holds JSON)");
}

void addDebugOptions(CLI::App *command, DebugOptions &options) {
  command
      ->add_option(
          "--dump", options.dumps,
          "Write a tensor to a file after an instruction of a line, the last one or number "
          "N; without @ at the end of the run")
      ->allow_extra_args(false)
      ->type_name("TENSOR[@FILE:LINE[#N]]=OUT.npy");
  command
      ->add_option("--watch", options.watches,
                   "Show every write to bytes: sbuf:P0-P1:B0-B1, psum:..., or TENSOR[0:2, 16:32]")
      ->allow_extra_args(false)
      ->type_name("RANGE");
  command->add_flag("--watch-reads", options.watchReads, "Show what reads them too");
  command
      ->add_option("--who-wrote", options.whoWrote,
                   "Show at the end, at a fault or at --stop-at who wrote bytes last")
      ->allow_extra_args(false)
      ->type_name("RANGE");
  command
      ->add_option("--stop-at", options.stopAt,
                   "Stop before the first instruction of a line, or number N; no result is written")
      ->type_name("FILE:LINE[#N]");
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"Kiln: compiles NKI-style kernels for AWS Trainium2 and runs "
               "what it compiles",
               "kiln"};
  app.set_version_flag("--version", "kiln " KILN_VERSION " (trn2)");
  app.require_subcommand(1);
  app.footer(kFooter);
  std::string diagnostics = "text";
  app.add_option("--diagnostics", diagnostics, "How messages are written to stderr")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.fallthrough();

  std::function<int(Reporter &)> action;

  RunOptions run;
  CLI::App *runApp = app.add_subcommand("run", "Compile a kernel for its arguments and run it");
  addCompileOptions(runApp, run.compile);
  runApp
      ->add_option("-o,--output", run.outputs,
                   "File of a result, .npy; once for each, in order of return")
      ->allow_extra_args(false);
  runApp->add_option("--check", run.check, "Compare the first result with this .npy");
  runApp->add_option("--rtol", run.rtol, "Tolerance of --check relative to the reference")
      ->capture_default_str();
  runApp->add_option("--atol", run.atol, "Absolute tolerance of --check")->capture_default_str();
  runApp->add_option("--json", run.json, "Write a machine-readable report ('-' for stdout)");
  runApp
      ->add_option("--schedule", run.schedule,
                   "Order the engines move in: program, round-robin, random:SEED, "
                   "adversarial:NAME such as adversarial:starve-vector; adversarial alone runs "
                   "all of these and compares the results")
      ->capture_default_str();
  runApp->add_option("--max-steps", run.maxSteps, "Stop after so many steps (default 1000000000)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 62));
  addDebugOptions(runApp, run.debug);
  runApp
      ->add_option("--print-limit", run.printLimit,
                   "Elements of an nl::device_print that is shown whole; of a larger one the ends "
                   "of each dim are")
      ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 62))
      ->capture_default_str();
  runApp->add_flag("--raw", run.raw, "Write 16-bit floats as their bits instead of as float32");
  runApp->add_flag("--no-proof", run.noProof,
                   "Run without proving the streams free of races and deadlocks first");
  runApp->add_flag(
      "--poison{db7f}", run.poison,
      "Fill memory before it is first written, and again when a tensor's time is over, with "
      "these bytes in hex (=00) or random ones (=random:SEED)");
  runApp->add_flag(
      "--unchecked", run.unchecked,
      "Let reads of memory that nothing was written to see what is there, such as the poison");
  addRemarks(runApp, run.compile);
  runApp->callback([&] { action = [&](Reporter &r) { return runCommand(run, r); }; });

  CheckOptions check;
  CLI::App *checkApp = app.add_subcommand(
      "check", "Prove the streams free of races and deadlocks, and run them in many orders; a "
               "program without ARGs gets values made for it");
  addCompileOptions(checkApp, check.compile);
  checkApp->add_option("--random", check.randomSchedules, "Random schedules to run")
      ->check(CLI::Range(0u, 100000u))
      ->capture_default_str();
  checkApp->add_option("--seed", check.seed, "Seed of the first of them")->capture_default_str();
  checkApp->add_flag("--clocks", check.clocks,
                     "Watch the runs with vector clocks, also where races are proven absent");
  checkApp->add_option("--json", check.json, "Write a machine-readable report ('-' for stdout)");
  checkApp->add_option("--graph", check.graph,
                       "Write the graphs of the findings for Graphviz, FILE.dot");
  checkApp->add_option("--max-steps", check.maxSteps, "Stop a run after so many steps")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 62));
  checkApp->callback([&] { action = [&](Reporter &r) { return checkCommand(check, r); }; });

  CompileToOptions compile;
  CLI::App *compileApp = app.add_subcommand("compile", "Compile a kernel for its arguments");
  addCompileOptions(compileApp, compile.compile);
  compileApp->add_option("-o,--output", compile.output, "File for the result ('-' for stdout)");
  compileApp
      ->add_option("--emit", compile.emit, "Level: tile, nisa, placed, scheduled, streams, program")
      ->capture_default_str();
  compileApp->add_option("--stop-after", compile.stopAfter, "Print the IR after this pass");
  compileApp->add_flag("--memory-report{text}", compile.compile.memoryReport,
                       "What lies where when SBUF and PSUM are fullest: =text, =json, or =FILE "
                       "(FILE.json holds JSON)");
  addRemarks(compileApp, compile.compile);
  compileApp->add_flag("--sync-report{text}", compile.compile.syncReport,
                       "Every wait, and why the others were left out: =text, =json, or =FILE");
  compileApp->add_option("--json", compile.json,
                         "Write a machine-readable report ('-' for stdout)");
  compileApp->callback([&] { action = [&](Reporter &r) { return compileCommand(compile, r); }; });

  std::string file, output, code;
  CompileOptions listOptions;
  CLI::App *objdump = app.add_subcommand("objdump", "Print a program as assembler text");
  objdump->add_option("PROG", file, "Program file")->required();
  objdump->callback([&] { action = [&](Reporter &r) { return objdumpCommand(file, r); }; });

  CLI::App *assemble = app.add_subcommand("asm", "Assemble text into a program");
  assemble->add_option("FILE", file, "Assembler text")->required();
  assemble->add_option("-o,--output", output, "Program file")->required();
  assemble->callback([&] { action = [&](Reporter &r) { return asmCommand(file, output, r); }; });

  CLI::App *list = app.add_subcommand("list", "List the kernels of a file");
  list->add_option("FILE", file, "A .cpp or .so of kernels")->required();
  list->add_flag("--no-cache", listOptions.noCache, "Build the kernel file anew");
  list->add_option("--host-compiler", listOptions.hostCompiler, "C++ compiler for kernel files");
  list->callback([&] { action = [&](Reporter &r) { return listCommand(file, listOptions, r); }; });

  CLI::App *explain = app.add_subcommand("explain", "Say what a rule id means");
  explain->add_option("CODE", code, "Rule id, such as P-06; without one, all are listed");
  bool explainJson = false;
  explain->add_flag("--json", explainJson, "Print the entries as JSON");
  explain->callback(
      [&] { action = [&](Reporter &r) { return explainCommand(code, explainJson, r); }; });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &e) {
    // CLI11 prints help and version for its own pseudo-errors; every real one
    // is a wrong command line.
    return app.exit(e) == 0 ? 0 : exitCodeOf(kiln::Fault::Usage);
  }
  Reporter reporter(stderr, diagnostics == "json");
  signalContext.asJson = reporter.isJson();
  activity().begin("in command", app.get_subcommands().front()->get_name().c_str());
  handleStopSignals();
  const int exitCode = action(reporter);
  isStopped(reporter);
  return exitCodeAfterSignals(exitCode);
}
