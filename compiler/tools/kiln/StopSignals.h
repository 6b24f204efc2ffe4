//===- StopSignals.h - Ctrl-C and its like ----------------------------------------------------===//
//
// SIGINT and SIGTERM end the tool soon, with a message that says where it was and the exit code
// shells expect: 128 plus the signal. Work that looks at `activity().stop` ends by itself; all
// other work ends with the process, in the handler. A second signal ends the process at once.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TOOLS_KILN_STOPSIGNALS_H
#define KILN_TOOLS_KILN_STOPSIGNALS_H

#include "Render.h"
#include "kiln/Driver/Activity.h"

#include <string>

namespace kiln::tool {

/// What this process is at.
driver::Activity &activity();

/// Handles the two signals from here on, except one that the parent made the process ignore.
void handleStopSignals();

/// `code`, or what a process ends with that a signal has stopped.
int exitCodeAfterSignals(int code);

/// `diagnostics` of work that may have been stopped: that message names the signal.
std::vector<Diagnostic> naming(std::vector<Diagnostic> diagnostics);
/// Whether a signal has come; reports it, unless `naming` has.
bool isStopped(Reporter &reporter);

} // namespace kiln::tool

#endif // KILN_TOOLS_KILN_STOPSIGNALS_H
