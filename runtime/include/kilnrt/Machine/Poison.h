//===- Poison.h - the bytes of memory that nothing was written to -----------------------------===//
//
// A right program never depends on them. With the checks of a run off, they are what a read of
// unwritten memory gives.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_MACHINE_POISON_H
#define KILNRT_MACHINE_POISON_H

#include "kilnrt/Expected.h"
#include "kilnrt/Machine/SplitMix.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kilnrt {

/// What memory is filled with by default: NaN in every float dtype of 16 and 32 bits, and
/// in every other byte as an 8-bit one; an odd number in every integer dtype.
inline constexpr std::array<uint8_t, 2> kPoison = {0xDB, 0x7F};

struct Poison {
  static constexpr size_t kMaxPattern = 64; ///< bytes of a pattern

  std::array<uint8_t, kMaxPattern> pattern{kPoison[0], kPoison[1]};
  uint32_t length = kPoison.size(); ///< bytes of the pattern, which is repeated; at least 1
  std::optional<uint64_t> seed;     ///< random bytes instead
  bool operator==(const Poison &) const = default;
};

/// "DB7F": bytes in hex, lowest address first; or "random:SEED". An error of class Usage says what
/// is allowed.
Expected<Poison> parsePoison(std::string_view text);

/// Fills ranges of bytes one after the other.
class PoisonFill {
public:
  explicit PoisonFill(const Poison &poison) : poison(poison), random(poison.seed.value_or(0)) {}
  /// The pattern restarts at `data`; random bytes go on.
  void fill(std::byte *data, int64_t bytes);

private:
  Poison poison;
  SplitMix random;
};

} // namespace kilnrt

#endif // KILNRT_MACHINE_POISON_H
