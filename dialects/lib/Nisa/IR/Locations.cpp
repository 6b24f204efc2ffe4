//===- Locations.cpp - call chains as MLIR locations, and back --------------------------------===//

#include "kiln/Dialect/Nisa/IR/Locations.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln::nisa {

Location toLoc(MLIRContext *context, StringRef file, unsigned line) {
  return FileLineColLoc::get(context, file, line, /*column=*/0);
}

Location toLoc(MLIRContext *context, const CallChain &chain) {
  if (chain.empty())
    return UnknownLoc::get(context);
  auto frame = [&](const FileLine &f) { return toLoc(context, f.file, f.line); };
  Location loc = frame(chain.back());
  for (auto it = std::next(chain.rbegin()); it != chain.rend(); ++it)
    loc = CallSiteLoc::get(frame(*it), loc);
  return loc;
}

CallChain chainOf(Location loc) {
  CallChain chain;
  // A chain is a list that hangs off the caller side; walking it avoids a
  // recursion as deep as the author's.
  for (LocationAttr next = loc; next;) {
    if (auto call = dyn_cast<CallSiteLoc>(next)) {
      CallChain callee = chainOf(call.getCallee());
      chain.insert(chain.end(), callee.begin(), callee.end());
      next = call.getCaller();
    } else if (auto name = dyn_cast<NameLoc>(next)) {
      next = name.getChildLoc();
    } else if (auto fused = dyn_cast<FusedLoc>(next)) {
      for (Location part : fused.getLocations()) {
        CallChain inner = chainOf(part);
        if (inner.empty())
          continue;
        chain.insert(chain.end(), inner.begin(), inner.end());
        break;
      }
      return chain;
    } else {
      if (auto frame = dyn_cast<FileLineColLoc>(next))
        chain.push_back({frame.getFilename().str(), frame.getLine()});
      return chain;
    }
  }
  return chain;
}

} // namespace kiln::nisa
