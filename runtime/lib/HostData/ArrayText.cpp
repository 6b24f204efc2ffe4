//===- ArrayText.cpp - the elements of an array as text ---------------------------------------===//

#include "kilnrt/HostData/ArrayText.h"

#include "Text.h"
#include "Values.h"

#include <algorithm>
#include <utility>

namespace kilnrt {
namespace {

constexpr std::string_view kDots = "...";

class Writer {
public:
  Writer(const HostArray &array, const ArrayTextOptions &options)
      : array(array), options(options), rank(array.shape.size()),
        isCut(kilnrt::isCut(array, options)) {
    stride.resize(rank, 1);
    for (size_t d = rank; d-- > 1;)
      stride[d - 1] = stride[d] * array.shape[d];
  }

  std::string run() {
    measure(0, 0);
    write(0, 0);
    return std::move(out);
  }

private:
  /// Calls `visit(i)` for each index of dim `d` that is shown, `skip()` where some are left out.
  template <typename Visit, typename Skip>
  void forEach(size_t d, const Visit &visit, const Skip &skip) const {
    const int64_t n = array.shape[d];
    const bool cut = isCut && n > 2 * options.edge;
    for (int64_t i = 0; i < n; ++i) {
      if (cut && i == options.edge) {
        skip();
        i = n - options.edge;
        if (i == n)
          return;
      }
      visit(i);
    }
  }

  /// The width of a column: of the longest element that is shown.
  void measure(size_t d, int64_t at) {
    if (d == rank) {
      column = std::max(column, valueText(array, at).size());
      return;
    }
    forEach(d, [&](int64_t i) { measure(d + 1, at + i * stride[d]); }, [] {});
  }

  void write(size_t d, int64_t at) {
    out += '[';
    if (d + 1 == rank)
      writeRow(d, at);
    else
      writeBlocks(d, at);
    out += ']';
  }

  void writeBlocks(size_t d, int64_t at) {
    bool isFirst = true;
    auto separate = [&] {
      if (!std::exchange(isFirst, false))
        out += std::string(rank - 1 - d, '\n') + std::string(d + 1, ' ');
    };
    forEach(
        d,
        [&](int64_t i) {
          separate();
          write(d + 1, at + i * stride[d]);
        },
        [&] {
          separate();
          out += kDots;
        });
  }

  void writeRow(size_t d, int64_t at) {
    size_t used = rank;
    auto add = [&](const std::string &item) {
      if (used > rank && used + 1 + item.size() > options.width) {
        out += '\n' + std::string(rank, ' ');
        used = rank;
      } else if (used > rank) {
        out += ' ';
        ++used;
      }
      out += item;
      used += item.size();
    };
    forEach(
        d,
        [&](int64_t i) {
          const std::string item = valueText(array, at + i * stride[d]);
          add(std::string(column - item.size(), ' ') + item);
        },
        [&] { add(std::string(kDots)); });
  }

  const HostArray &array;
  const ArrayTextOptions &options;
  const size_t rank;
  const bool isCut;
  std::vector<int64_t> stride; ///< in elements
  size_t column = 0;
  std::string out;
};

} // namespace

bool isCut(const HostArray &array, const ArrayTextOptions &options) {
  return array.elements() > options.limit &&
         std::ranges::any_of(array.shape, [&](int64_t n) { return n > 2 * options.edge; });
}

std::string valueText(const HostArray &array, int64_t index) {
  double value = 0;
  detail::widen(array.dtype, array.data.data() + index * kiln::isa::bytesOf(array.dtype),
                {&value, 1});
  return detail::describeValue(value, array.dtype);
}

std::string arrayText(const HostArray &array, const ArrayTextOptions &options) {
  if (array.shape.empty())
    return valueText(array, 0);
  return Writer(array, options).run();
}

} // namespace kilnrt
