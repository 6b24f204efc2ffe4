//===- Agreement.cpp - the public headers say what the table says -----------------------------===//
//
// Kernel files see no generated header, so the language headers spell sizes and enum values
// themselves. Any difference from the table stops the build here; operators are compared by a unit
// test, name by name.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/ISA/Types.h"
#include "nl/util.h"

namespace {

using namespace kiln;

template <class A, class B>
constexpr bool same(A a, B b) {
  return static_cast<int64_t>(a) == static_cast<int64_t>(b);
}

static_assert(same(nl::float32, isa::DType::Float32) && same(nl::bfloat16, isa::DType::BFloat16) &&
              same(nl::float16, isa::DType::Float16) && same(nl::int32, isa::DType::Int32) &&
              same(nl::uint8, isa::DType::UInt8) && same(nl::int8, isa::DType::Int8) &&
              same(nl::int16, isa::DType::Int16) && same(nl::uint16, isa::DType::UInt16) &&
              same(nl::uint32, isa::DType::UInt32) &&
              same(nl::float8_e4m3, isa::DType::Float8E4M3) &&
              same(nl::float8_e5m2, isa::DType::Float8E5M2) &&
              same(nl::float8_e4m3fn, isa::DType::Float8E4M3FN) &&
              same(nl::tfloat32, isa::DType::TFloat32));
static_assert(same(nisa::engine::unknown, isa::Engine::Unknown) &&
              same(nisa::engine::tensor, isa::Engine::Tensor) &&
              same(nisa::engine::scalar, isa::Engine::Scalar) &&
              same(nisa::engine::gpsimd, isa::Engine::Gpsimd) &&
              same(nisa::engine::vector, isa::Engine::Vector) &&
              same(nisa::engine::sync, isa::Engine::Sync));
static_assert(same(nisa::reduce_cmd::idle, isa::ReduceCmd::Idle) &&
              same(nisa::reduce_cmd::reset, isa::ReduceCmd::Reset) &&
              same(nisa::reduce_cmd::reduce, isa::ReduceCmd::Reduce) &&
              same(nisa::reduce_cmd::reset_reduce, isa::ReduceCmd::ResetReduce) &&
              same(nisa::reduce_cmd::load_reduce, isa::ReduceCmd::LoadReduce));
static_assert(same(nisa::dge_mode::unknown, isa::DgeMode::Unknown) &&
              same(nisa::dge_mode::swdge, isa::DgeMode::Swdge) &&
              same(nisa::dge_mode::hwdge, isa::DgeMode::Hwdge) &&
              same(nisa::dge_mode::none, isa::DgeMode::None));
static_assert(same(nisa::oob_mode::error, isa::OobMode::Error) &&
              same(nisa::oob_mode::skip, isa::OobMode::Skip));

constexpr auto &size = nl::tile_size;
constexpr isa::Machine machine{};
static_assert(same(size.pmax, machine.numPartitions) &&
              same(size.psum_num_banks, machine.psumBanks) &&
              same(size.psum_bank_fmax_bytes, machine.psumBankBytesPerPartition) &&
              same(size.psum_bank_fmax,
                   machine.psumBankBytesPerPartition / machine.psumCellBytes) &&
              same(size.gemm_stationary_fmax, machine.matmulMaxStationaryFree) &&
              same(size.gemm_moving_fmax, machine.matmulMaxMovingFree) &&
              same(size.bn_stats_fmax, machine.bnStatsMaxFree) &&
              same(size.sbuf_fmax_bytes, machine.sbufUsableBytesPerPartition) &&
              same(size.sbuf_fmax, machine.sbufUsableBytesPerPartition / int64_t(sizeof(float))) &&
              same(size.psum_min_align, machine.psumMinAlign) &&
              same(size.sbuf_min_align, machine.sbufMinAlign));
static_assert(same(nl::detail::maxRank, machine.maxRank));

} // namespace
