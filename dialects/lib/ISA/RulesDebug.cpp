//===- RulesDebug.cpp - what a print may show, and what it says about its loops ---------------===//
//
// The fields are the language's to fill in: only a program made by hand can get them wrong.
//
//===------------------------------------------------------------------------------------------===//

#include "RuleHelpers.h"

namespace kiln::isa::rules {

void printedElements(const InstView &view, std::string_view id, const RuleSink &sink) {
  const unsigned data = mainInput(view.desc);
  const int64_t elements =
      mulSaturated(freeElementsSaturated(view.access(data)), view.access(data).partitionCount);
  if (elements > machine.maxPrintedElements)
    report(sink, id, int(data),
           text(view.desc.mnemonic, " shows ", elements, " elements of ", quoted(view, data),
                ", one print shows at most ", machine.maxPrintedElements),
           "print a part of it");
}

void printedLoops(const InstView &view, std::string_view id, const RuleSink &sink) {
  const Access &data = view.access(mainInput(view.desc));
  if (fieldOf(view, "flat") && (data.partitionCount != 1 || data.rank != 1))
    report(sink, id, -1,
           text("flat of ", view.desc.mnemonic, " is true, but data is ", shapeOf(data),
                ": only one row of one free dim is one dim"),
           "leave flat out");
  const int64_t loops = fieldOf(view, "loops");
  if (loops > kMaxLoopDepth)
    return report(sink, id, -1,
                  text("loops of ", view.desc.mnemonic, " is ", loops, ", at most ", kMaxLoopDepth,
                       " stand inside one another"));
  for (unsigned l = unsigned(loops); l < kMaxLoopDepth; ++l)
    if (fieldOf(view, "base", l) != 0 || fieldOf(view, "step", l) != 0)
      return report(sink, id, -1,
                    text(view.desc.mnemonic, " has numbers for loop ", l, ", loops is ", loops),
                    "write 0 for the loops there are not");
}

void oneElement(const InstView &view, std::string_view id, const RuleSink &sink) {
  const unsigned operand = 0; // the only one
  const Access &access = view.access(operand);
  if (freeElementsSaturated(access) == 1 && access.partitionCount == 1)
    return;
  report(sink, id, int(operand),
         text(quoted(view, operand), " of ", view.desc.mnemonic, " is ", shapeOf(access),
              ", a register holds one element"),
         "choose one element of it");
}

} // namespace kiln::isa::rules
