//===- Score.h - how many mutants of a program are caught -------------------------------------===//
//
// A mutant goes through the gates a program meets: the verifier, the static proof, a run with all
// checks. What passes all of them has to be proven equal to the original by the oracle, or it was
// missed.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_MUTATION_SCORE_H
#define KILN_TEST_MUTATION_SCORE_H

#include "Mutants.h"
#include "Oracle.h"

#include <array>
#include <functional>
#include <optional>

namespace kilnrt::mutation {

/// What became of a mutant, by the first gate that stopped it.
enum class Outcome : uint8_t {
  Verifier,   ///< `verify` refuses it
  Race,       ///< the proof finds accesses that nothing orders,
  Order,      ///<   accesses in the wrong order,
  Reuse,      ///<   bytes taken too early,
  Overlap,    ///<   tensors over each other,
  Deadlock,   ///<   a wait that is never satisfied
  Run,        ///< a run of the executor stops, or gives other bits
  Equivalent, ///< the oracle proves that no execution can tell it from the original
  Missed,
};
inline constexpr size_t kOutcomes = size_t(Outcome::Missed) + 1;
/// "race".
std::string_view nameOf(Outcome outcome);

/// The answer of the static proof, in the words of this library.
struct ProofAnswer {
  bool isProven = false;
  /// Race, Order, Reuse, Overlap or Deadlock; nothing when it is proven, and when the proof could
  /// not decide.
  std::optional<Outcome> finding;
  std::string message; ///< of the first finding
  /// Its answer about deadlocks alone, which the oracle can be held against.
  std::optional<bool> isReached = {};
};
/// The proof, or what stands in for it in a test. The program passes the verifier.
using Prover = std::function<ProofAnswer(const Program &)>;

/// A mutant the reader has to look at.
struct Remark {
  std::string program; ///< for whoever counts several
  size_t id = 0;       ///< index into Mutator::mutants()
  std::string text;
};

/// Mutants of one program or of many, counted.
struct Score {
  std::array<std::array<uint64_t, kOutcomes>, kMutationKinds> counts{};
  std::vector<Remark> missed;
  /// Mutants and originals the oracle was asked about besides.
  uint64_t compared = 0;
  /// The proof says proven and the oracle does not, or the other way.
  std::vector<Remark> missedByProof, falseAlarms;

  uint64_t mutants() const;
  uint64_t of(Outcome outcome) const;
  /// Caught or proven equivalent, of 1; 1 when there is no mutant.
  double score() const;
  void add(const Score &other);
};

struct ScoreOptions {
  /// Mutants to try, spread evenly over the kinds; 0: all.
  size_t sample = 0;
  uint64_t seed = 0;
  std::optional<size_t> only = {}; ///< try this mutant and no other
  /// Ask the oracle about every program that passes the verifier, and compare.
  bool compare = false;
  /// Schedules, random and adversarial ones in turns, in which every mutant that counts as
  /// equivalent has to give the original's bits; programs that run long are left out.
  uint32_t schedules = 0;
  /// Give the kernel's inputs these values.
  uint64_t inputSeed = 1;
};

/// Judges the mutants of `program`. An error when the program is not synchronised, when the
/// verifier refuses it, when the proof does not prove it, or when it does not run.
Expected<Score> scoreOf(const Program &program, const Prover &prover,
                        const ScoreOptions &options = {});

/// Indices of `count` mutants: as many of each kind as of every other, as far as there are. All, in
/// order, when `count` is 0 or no less than there are.
std::vector<size_t> sampleOf(const std::vector<Mutant> &mutants, size_t count, uint64_t seed);

/// One line a kind with at least one mutant, and a sum.
std::string tableOf(const Score &score);
/// {"mutants": ..., "score": ..., "kinds": {"drop-wait": {"verifier": ...}}, "missed": [...], ...}.
std::string jsonOf(const Score &score);

} // namespace kilnrt::mutation

#endif // KILN_TEST_MUTATION_SCORE_H
