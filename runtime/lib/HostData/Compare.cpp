//===- Compare.cpp - is a result close enough to its reference? -------------------------------===//
//
// See Compare.h. Sums run in C order in float64, so the figures are the same on
// every host.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/HostData/Compare.h"

#include "Text.h"
#include "Values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace kilnrt {
namespace {

/// Index of an element that was not met.
constexpr int64_t kNone = -1;

/// Gathers the figures element by element; indices stay flat until the end.
struct Tally {
  Tolerance tolerance;
  int64_t mismatches = 0, nonFiniteMismatches = 0, zeroMismatches = 0;
  int64_t firstZero = kNone, lastZero = kNone;
  double maxAbs = 0, maxRel = 0, squaredErrors = 0, squaredReferences = 0;
  int64_t first = kNone, maxAbsAt = kNone, maxRelAt = kNone;

  void add(int64_t index, double actual, double expected) {
    if (!std::isfinite(actual) || !std::isfinite(expected)) {
      const bool equal = actual == expected || (std::isnan(actual) && std::isnan(expected));
      mismatches += !equal;
      nonFiniteMismatches += !equal;
      if (!equal && first == kNone)
        first = index;
      return;
    }
    const double error = std::fabs(actual - expected), size = std::fabs(expected);
    if (error > tolerance.atol + tolerance.rtol * size) {
      ++mismatches;
      if (first == kNone)
        first = index;
      if (actual == 0) {
        ++zeroMismatches;
        lastZero = index;
        if (firstZero == kNone)
          firstZero = index;
      }
    }
    if (maxAbsAt == kNone || error > maxAbs) {
      maxAbs = error;
      maxAbsAt = index;
    }
    if (size > 0 && (maxRelAt == kNone || error / size > maxRel)) {
      maxRel = error / size;
      maxRelAt = index;
    }
    squaredErrors += error * error;
    squaredReferences += size * size;
  }

  double l2() const {
    if (squaredErrors == 0)
      return 0;
    return squaredReferences > 0 ? std::sqrt(squaredErrors / squaredReferences)
                                 : std::numeric_limits<double>::infinity();
  }
};

double valueAt(const HostArray &array, int64_t index) {
  double value;
  detail::widen(array.dtype, array.data.data() + index * kiln::isa::bytesOf(array.dtype),
                {&value, 1});
  return value;
}

} // namespace

Expected<Comparison> compareArrays(const HostArray &actual, const HostArray &expected,
                                   Tolerance tolerance) {
  for (auto [name, value] : {std::pair{"rtol", tolerance.rtol}, std::pair{"atol", tolerance.atol}})
    if (!std::isfinite(value) || value < 0)
      return makeError(Fault::Usage,
                       fmt::format("{} is {}; a tolerance is finite and at least 0", name, value));
  if (actual.shape != expected.shape)
    return makeError(Fault::Check, fmt::format("the result has shape {}, the reference has {}",
                                               detail::describeShape(actual.shape),
                                               detail::describeShape(expected.shape)));
  for (const HostArray *array : {&actual, &expected})
    if (detail::byteCount(array->shape, kiln::isa::bytesOf(array->dtype)) != array->data.size())
      return makeError(Fault::Internal,
                       fmt::format("an array of shape {} with {} bytes cannot be compared",
                                   detail::describeShape(array->shape), array->data.size()));
  Tally tally{.tolerance = tolerance};
  std::array<double, 1024> a, b;
  const int64_t count = actual.elements();
  for (int64_t begin = 0; begin < count; begin += static_cast<int64_t>(a.size())) {
    const size_t n = std::min(a.size(), static_cast<size_t>(count - begin));
    detail::widen(actual.dtype, actual.data.data() + begin * kiln::isa::bytesOf(actual.dtype),
                  {a.data(), n});
    detail::widen(expected.dtype, expected.data.data() + begin * kiln::isa::bytesOf(expected.dtype),
                  {b.data(), n});
    for (size_t i = 0; i < n; ++i)
      tally.add(begin + static_cast<int64_t>(i), a[i], b[i]);
  }

  const auto element = [&](int64_t at) -> ComparedElement {
    if (at == kNone)
      return {};
    return {detail::unflatten(actual.shape, at), valueAt(actual, at), valueAt(expected, at)};
  };
  Comparison result;
  result.actualType = actual.dtype;
  result.expectedType = expected.dtype;
  result.elements = count;
  result.mismatches = tally.mismatches;
  result.nonFiniteMismatches = tally.nonFiniteMismatches;
  result.first = element(tally.first);
  result.zeroMismatches = tally.zeroMismatches;
  if (tally.zeroMismatches > 0) {
    const int64_t rowElements = actual.shape.empty() ? count : count / actual.shape[0];
    result.firstZeroRow = tally.firstZero / rowElements;
    result.lastZeroRow = tally.lastZero / rowElements;
  }
  result.maxAbsError = tally.maxAbs;
  result.maxAbsAt = element(tally.maxAbsAt);
  result.maxRelError = tally.maxRel;
  result.maxRelAt = element(tally.maxRelAt);
  result.l2RelError = tally.l2();
  return result;
}

std::string Comparison::describe() const {
  std::string text = matches()
                         ? fmt::format("{} within tolerance", detail::countOf(elements, "element"))
                         : fmt::format("{} of {} out of tolerance, the first at {}: got {}, "
                                       "expected {}",
                                       mismatches, detail::countOf(elements, "element"),
                                       detail::describeIndex(first.index),
                                       detail::describeValue(first.actual, actualType),
                                       detail::describeValue(first.expected, expectedType));
  if (!maxAbsAt.index.empty())
    text += fmt::format("; largest absolute error {:.3g} at {}", maxAbsError,
                        detail::describeIndex(maxAbsAt.index));
  if (!maxRelAt.index.empty())
    text += fmt::format("; largest relative error {:.3g} at {}", maxRelError,
                        detail::describeIndex(maxRelAt.index));
  text += fmt::format("; L2-relative error {:.3g}", l2RelError);
  // Zeros here and there are rounding; when they are most of what is wrong, a store is missing.
  if (zeroMismatches > 0 && 2 * zeroMismatches >= mismatches)
    text +=
        fmt::format("; {:.1f} % of the result is zero and should not be, in rows {} to {}",
                    100.0 * double(zeroMismatches) / double(elements), firstZeroRow, lastZeroRow);
  return text;
}

} // namespace kilnrt
