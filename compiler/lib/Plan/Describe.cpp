//===- Describe.cpp - a plan in words ---------------------------------------------------------===//

#include "kiln/Plan/Plan.h"

#include "kiln/ISA/Text.h"

namespace kiln::plan {

std::vector<std::string> describe(const Plan &plan, const Group &group) {
  std::vector<std::string> out;
  (void)plan;
  out.push_back(text("group of ", group.nodes.size(), " nodes, ", group.steps.size(), " steps"));
  return out;
}

} // namespace kiln::plan
