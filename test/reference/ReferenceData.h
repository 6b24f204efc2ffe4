//===- ReferenceData.h - what the memory of a trial holds at the start ------------------------===//

#ifndef KILN_TEST_REFERENCE_REFERENCEDATA_H
#define KILN_TEST_REFERENCE_REFERENCEDATA_H

#include "ReferenceMachine.h"

#include <random>

namespace kiln::reference {

using Rng = std::mt19937_64;
/// A number in [0, n). std::uniform_int_distribution differs between libraries; this does not.
inline uint64_t below(Rng &rng, uint64_t n) { return rng() % n; }
inline bool isOneIn(Rng &rng, unsigned n) { return below(rng, n) == 0; }

/// Kinds of contents. Each draws its own faults out: sums that cancel, specials side by side, bits
/// that are no number of anybody's.
enum class Style : uint8_t {
  Plain,     ///< small multiples of a quarter; small integers
  Ordinary,  ///< any digits, magnitudes between 2^-6 and 2^6
  Counts,    ///< 0 to 40
  Gaps,      ///< half of the elements 0, the others ordinary
  Sprinkled, ///< ordinary, one in sixteen special
  Wide,      ///< any finite number
  Specials,  ///< NaN payloads, infinities, zeros, denormals, largest numbers, ties, edges of
             ///< integers
  Bits,      ///< any bits
};
inline constexpr unsigned kStyles = 8;

/// One element.
uint32_t drawElement(isa::DType dtype, Style style, Rng &rng);
/// `count` elements, back to back.
Bytes drawElements(isa::DType dtype, size_t count, Style style, Rng &rng);

} // namespace kiln::reference

#endif // KILN_TEST_REFERENCE_REFERENCEDATA_H
