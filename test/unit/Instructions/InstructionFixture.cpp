//===- InstructionFixture.cpp - a kernel of one instruction, run ------------------------------===//

#include "InstructionFixture.h"

#include "kiln/ISA/DiagnosticText.h"
#include "kiln/ISA/Rules.h"
#include "kilnrt/Executor.h"
#include "kilnrt/Numerics/Convert.h"

#include <map>
#include <numeric>

namespace kiln::test {
namespace {

using kilnrt::Expected, kilnrt::Program, kilnrt::Record;

/// A trace as a program: tensors one after the other, records in order.
class ProgramOfTrace {
public:
  explicit ProgramOfTrace(const trace::Trace &trace) : trace(trace) {
    program.kernel = trace.kernel;
    program.texts = trace.texts;
    for (const trace::Tensor &tensor : trace.tensors)
      addTensor(tensor);
    for (const trace::Instruction &instruction : trace.instructions)
      addRecord(instruction.inst);
    for (auto &[engine, bytes] : streams)
      program.streams.push_back({engine, std::move(bytes)});
  }

  Program program;

private:
  void addTensor(const trace::Tensor &tensor) {
    kilnrt::TensorInfo info;
    info.name = tensor.name;
    info.memory = tensor.memory;
    info.dtype = tensor.dtype;
    info.role = kilnrt::TensorRole(tensor.role);
    info.shape = tensor.shape;
    info.index = tensor.index;
    if (tensor.memory != isa::Memory::Hbm) {
      uint64_t &next = nextByte[unsigned(tensor.memory)];
      info.byte = next;
      const uint64_t align = 2048; // a bank; SBUF asks for less
      next += (uint64_t(info.freeBytes()) + align - 1) / align * align;
    }
    program.tensors.push_back(std::move(info));
  }

  void addRecord(const isa::Instruction &inst) {
    Record record;
    record.inst = inst;
    record.order = order++;
    if (inst.engine == isa::Engine::Unknown) {
      isa::InstView view{inst, inst.desc(), {}};
      for (unsigned i = 0; i < inst.desc().operands.size(); ++i)
        if (inst.operands[i].present()) {
          const trace::Tensor &tensor = trace.tensors[inst.operands[i].tensor];
          view.tensors[i] = {tensor.name, tensor.memory, tensor.dtype, tensor.shape, 0};
        }
      record.inst.engine = isa::chooseEngine(view);
    }
    ASSERT_TRUE(kilnrt::checkEncodable(record));
    std::vector<std::byte> bytes;
    kilnrt::encodeRecord(record, bytes);
    std::span<const std::byte> rest = bytes;
    Expected<Record> decoded = kilnrt::decodeRecord(rest);
    ASSERT_TRUE(decoded) << toText(decoded.error());
    EXPECT_EQ(*decoded, record) << "a record comes back from its bytes as it was";
    std::vector<std::byte> &stream = streams[record.inst.engine];
    stream.insert(stream.end(), bytes.begin(), bytes.end());
  }

  const trace::Trace &trace;
  std::map<isa::Engine, std::vector<std::byte>> streams;
  std::array<uint64_t, 2> nextByte{};
  uint32_t order = 0;
};

/// The program after a round through its file and its text.
void roundTrip(const Program &program, std::string *text) {
  Expected<Program> loaded = kilnrt::load(kilnrt::serialize(program));
  ASSERT_TRUE(loaded) << toText(loaded.error());
  EXPECT_EQ(*loaded, program);
  Expected<std::string> printed = kilnrt::disassemble(program);
  ASSERT_TRUE(printed) << toText(printed.error());
  Expected<Program> assembled = kilnrt::assemble(*printed, "kernel.s");
  ASSERT_TRUE(assembled) << toText(assembled.error()) << *printed;
  EXPECT_EQ(*assembled, program) << *printed;
  if (text)
    *text = *printed;
}

} // namespace

HostArray arrayOf(DType dtype, std::vector<int64_t> shape, const std::vector<float> &values) {
  HostArray array{dtype, std::move(shape), {}};
  EXPECT_EQ(size_t(array.elements()), values.size());
  array.data.resize(values.size() * isa::bytesOf(dtype));
  kilnrt::storeRow(dtype, values.data(), array.data.data(), isa::bytesOf(dtype), values.size());
  return array;
}

HostArray counting(DType dtype, std::vector<int64_t> shape) {
  std::vector<float> values(size_t(HostArray{dtype, shape, {}}.elements()));
  std::iota(values.begin(), values.end(), 1.0f);
  return arrayOf(dtype, std::move(shape), values);
}

std::vector<float> floatsOf(const HostArray &array) {
  std::vector<float> values(size_t(array.elements()));
  kilnrt::loadRow(array.dtype, array.data.data(), isa::bytesOf(array.dtype), values.size(),
                  values.data());
  return values;
}

std::vector<HostArray> runTrace(const TraceResult &traced, const std::vector<HostArray> &inputs,
                                std::string *text) {
  Expected<kilnrt::RunResult> result = resultOf(traced, inputs, text);
  if (!result) {
    ADD_FAILURE() << toText(result.error());
    return {};
  }
  return std::move(result->outputs);
}

Expected<kilnrt::RunResult> resultOf(const TraceResult &traced,
                                     const std::vector<HostArray> &inputs, std::string *text) {
  EXPECT_EQ(errorsOf(traced), "");
  if (!traced.ok)
    return kilnrt::makeError(kilnrt::Fault::User, "the kernel has errors");
  const Program program = ProgramOfTrace(traced.trace).program;
  roundTrip(program, text);
  Expected<kilnrt::Executable> executable = kilnrt::Executable::prepare(program);
  if (!executable)
    return executable.error();
  return executable->run(inputs);
}

} // namespace kiln::test
