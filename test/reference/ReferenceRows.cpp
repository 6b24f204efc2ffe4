//===- ReferenceRows.cpp - which function is the reference of which instruction ---------------===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceRows.h"

#include <algorithm>
#include <iterator>

namespace kiln::reference {

namespace {

struct Entry {
  std::string_view mnemonic;
  Row row;
};

constexpr Entry kRows[] = {
    {"nc_matmul", ncMatmul},
    {"nc_transpose", ncTranspose},
    {"activation", activation},
    {"activation_reduce", activationReduce},
    {"tensor_copy", tensorCopy},
    {"memset", memset},
    {"tensor_tensor", tensorTensor},
    {"tensor_scalar", tensorScalar},
    {"scalar_tensor_tensor", scalarTensorTensor},
    {"reciprocal", reciprocal},
    {"tensor_copy_predicated", tensorCopyPredicated},
    {"nc_stream_shuffle", ncStreamShuffle},
    {"tensor_reduce", tensorReduce},
    {"tensor_tensor_scan", tensorTensorScan},
    {"tensor_scalar_reduce", tensorScalarReduce},
    {"range_select", rangeSelect},
    {"select_reduce", selectReduce},
    {"max8", max8},
    {"bn_stats", bnStats},
    {"bn_aggr", bnAggr},
    {"iota", iota},
    {"affine_select", affineSelect},
    {"dma_copy", dmaCopy},
    {"dma_transpose", dmaTranspose},
    {"semaphore_wait", semaphoreWait},
    {"loop_begin", loopEdge},
    {"loop_end", loopEdge},
    {"register_move", registerMove},
    {"register_load", registerLoad},
    {"register_store", registerStore},
    {"register_alu", registerAlu},
    {"device_print", devicePrint},
};

Entry wrongRow{};

} // namespace

WrongRow::WrongRow(std::string_view mnemonic, Row row) { wrongRow = {mnemonic, row}; }
WrongRow::~WrongRow() { wrongRow = {}; }

Row findRow(std::string_view mnemonic) {
  if (wrongRow.row && wrongRow.mnemonic == mnemonic)
    return wrongRow.row;
  const Entry *found = std::find_if(std::begin(kRows), std::end(kRows),
                                    [&](const Entry &e) { return e.mnemonic == mnemonic; });
  return found == std::end(kRows) ? nullptr : found->row;
}

void store(Elements &to, const std::vector<Single> &values) {
  for (size_t i = 0; i < to.size(); ++i)
    to.set(i, values[i]);
}

std::vector<int32_t> affinePositions(size_t rows, const std::array<int32_t, 8> &pattern,
                                     int32_t offset, int32_t channelMultiplier) {
  std::vector<uint32_t> row{0};
  for (size_t pair = 0; pair < pattern.size(); pair += 2) {
    std::vector<uint32_t> next;
    for (uint32_t start : row)
      for (uint32_t i = 0; i < uint32_t(std::max(1, pattern[pair + 1])); ++i)
        next.push_back(start + uint32_t(pattern[pair]) * i);
    row = std::move(next);
  }
  std::vector<int32_t> all;
  for (uint32_t p = 0; p < rows; ++p)
    for (uint32_t v : row)
      all.push_back(int32_t(v + uint32_t(offset) + p * uint32_t(channelMultiplier)));
  return all;
}

} // namespace kiln::reference
