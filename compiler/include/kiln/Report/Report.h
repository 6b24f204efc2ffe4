//===- Report.h - what the compiler decided, as text and as JSON ------------------------------===//
//
// Renders the measures of the analyses for people and for programs. Both forms hold the same facts;
// the JSON is one object, `"version": 1`. Nothing is measured here.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_REPORT_REPORT_H
#define KILN_REPORT_REPORT_H

#include "kiln/Analysis/MemoryMap.h"
#include "kiln/Analysis/SyncReport.h"
#include "kiln/Plan/Plan.h"

#include <string>
#include <string_view>

namespace kiln::report {

/// SBUF and PSUM of the kernel `name`: bytes of a partition, tiles live at the fullest moment with
/// range, size, partitions and line, the load of each partition, the largest saving, and the
/// rotation depth of every declaration.
std::string memoryText(const analysis::Kernel &kernel, std::string_view name,
                       const std::vector<analysis::MemoryMap> &maps);
std::string memoryJson(const analysis::Kernel &kernel, std::string_view name,
                       const std::vector<analysis::MemoryMap> &maps);

/// Totals, then one line for each need of each instruction: what it needs, why, and what became of
/// it. Instructions are numbered in program order from 0.
std::string syncText(const analysis::Kernel &kernel, std::string_view name,
                     const analysis::SyncReport &report);
std::string syncJson(const analysis::Kernel &kernel, std::string_view name,
                     const analysis::SyncReport &report);

/// How the whole tensors of a kernel are computed: a group of operations after the other, in words
/// or numbers. `instructions` is by group; `line` gives the author's line of a location, 0 when
/// unknown.
std::string remarksText(std::string_view name, const plan::Plan &plan,
                        const std::vector<size_t> &instructions,
                        const std::function<unsigned(uint32_t)> &line);
std::string remarksJson(std::string_view name, const plan::Plan &plan,
                        const std::vector<size_t> &instructions,
                        const std::function<unsigned(uint32_t)> &line);

} // namespace kiln::report

#endif // KILN_REPORT_REPORT_H
