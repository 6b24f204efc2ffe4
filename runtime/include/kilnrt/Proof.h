//===- Proof.h - what holds for every schedule of a program -----------------------------------===//
//
// Static checks of the final streams. Three questions, each answered for all schedules at once:
//
//   races     any two accesses to the same bytes, one of them a write, are ordered by program order
//             of a stream and by semaphores, in the direction of the program's order numbers
//   deadlock  every wait is reached
//   memory    no tensor is used after another one took its bytes, and every access of the old one
//             comes before every access of the new one
//
// A program of which all three are proven gives the same bits in every schedule. Answers need the
// addresses to be known before the run, which they are; only the work allowed can end a proof
// early.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_PROOF_H
#define KILNRT_PROOF_H

#include "kilnrt/Program.h"

#include <atomic>

namespace kilnrt {

enum class Answer : uint8_t {
  Proven,       ///< holds for every schedule
  Refuted,      ///< some schedule breaks it: see the findings
  NotProven,    ///< not decided: see `reason`
  NotApplicable ///< the program is not synchronised: it runs in one order
};
/// "proven", "refuted", "not proven", "not applicable".
std::string_view answerText(Answer answer);

//---- graphs -------------------------------------------------------------===//

/// An instruction in a graph.
struct GraphNode {
  isa::Engine engine = isa::Engine::Unknown;
  uint32_t index = 0; ///< in its stream
  std::string text;   ///< "nc_matmul"
  kiln::CallChain place;
};

struct GraphEdge {
  enum class Kind : uint8_t {
    Program,   ///< one stream, in program order
    Semaphore, ///< an update that a wait proves complete
    WaitsFor,  ///< cannot start before the other
    Missing,   ///< the order that nothing enforces
  } kind = Kind::Program;
  uint32_t from = 0, to = 0; ///< nodes
  std::string text;          ///< "semaphore 3 >= 16"; may be empty
};

/// The instructions and orders that a finding rests on, and no more.
struct Graph {
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
};
/// One line a node and an edge.
std::string graphText(const Graph &graph);
/// A digraph of Graphviz's language, named `name`.
std::string graphDot(const Graph &graph, std::string_view name);

//---- proofs -------------------------------------------------------------===//

struct Finding {
  enum class Kind : uint8_t {
    Race,    ///< two accesses in no order
    Order,   ///< two accesses in the order opposite to the program's
    Overlap, ///< a tensor is used after another one was written over it
    Reuse,   ///< a tensor may be used before the one whose bytes it takes is done with
    Deadlock ///< a wait is never reached
  } kind = Kind::Race;
  Diagnostic diagnostic; ///< the instructions, their lines, the bytes, what is missing
  Graph graph;
};
/// "race", "order", "overlap", "reuse", "deadlock".
std::string_view kindText(Finding::Kind kind);

struct ProofOptions {
  size_t maxFindings = 20; ///< the proof ends with so many
  /// Steps that single pairs of accesses may take: of comparing their patterns, and events that a
  /// run for one pair looks at. More leave the races not proven.
  uint64_t maxWork = 2'000'000'000;
  /// The author accepts tensors placed over each other. Bytes in order still give one result, so
  /// memory is not judged; except in PSUM, where a tensor that takes the place of another ends its
  /// matmul sums: that has to happen in one order.
  bool acceptsOverlaps = false;
  /// Another thread or a signal handler may set it; the proof ends soon after, not proven.
  const std::atomic<bool> *stop = nullptr;
};

struct ProofStats {
  uint64_t instructions = 0; ///< records of all streams
  uint64_t epochs = 0;       ///< stretches between edges of loops
  uint64_t comparisons = 0;  ///< accesses compared with accesses
  uint64_t pairsDecided = 0; ///< pairs that a run of their own decided
};

struct Proof {
  Answer races = Answer::Proven, deadlock = Answer::Proven, memory = Answer::Proven;
  std::string reason; ///< of NotProven
  std::vector<Finding> findings;
  ProofStats stats;
  /// Every schedule gives the same bits. Also true of a program with one order only.
  bool isProven() const {
    const auto isFine = [](Answer a) { return a == Answer::Proven || a == Answer::NotApplicable; };
    return isFine(races) && isFine(deadlock) && isFine(memory);
  }
};

/// Proves what it can of a program that `load` or `verify` has accepted. About linear in the
/// instructions. Fails only where a verified program cannot: for want of memory.
Expected<Proof> prove(const Program &program, const ProofOptions &options = {});

} // namespace kilnrt

#endif // KILNRT_PROOF_H
