//===- Executor.cpp - prepare once, run any number of times -----------------------------------===//

#include "kilnrt/Executor.h"

#include "Core.h"
#include "Diagnose.h"
#include "Operation.h"
#include "Runner.h"

#include <new>

using namespace kilnrt;

struct Executable::Impl {
  std::unique_ptr<Image> image;
};

Executable::Executable(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Executable::Executable(Executable &&) noexcept = default;
Executable &Executable::operator=(Executable &&) noexcept = default;
Executable::~Executable() = default;

Expected<Executable> Executable::prepare(const Program &program) {
  Expected<std::unique_ptr<Image>> image = decodeImage(program);
  if (!image)
    return image.error();
  auto impl = std::make_unique<Impl>();
  impl->image = std::move(*image);
  return Executable(std::move(impl));
}

/// "float32 (128, 512)".
static std::string typeText(isa::DType dtype, std::span<const int64_t> shape) {
  std::string text = std::string(isa::name(dtype)) + " (";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + ")";
}

static Status checkArguments(const Image &image, std::span<const HostArray> inputs) {
  if (inputs.size() != image.inputs.size())
    return makeError(Fault::User,
                     "the program takes " + std::to_string(image.inputs.size()) +
                         " arguments, found " + std::to_string(inputs.size()),
                     "pass one array for each input tensor", "K-10");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorInfo &info = image.info.tensors[image.inputs[i]];
    const HostArray &array = inputs[i];
    if (array.dtype == info.dtype && array.shape == info.shape &&
        array.data.size() == size_t(array.elements()) * isa::bytesOf(array.dtype))
      continue;
    return makeError(
        Fault::User,
        "argument " + std::to_string(i) + " for '" + info.name + "' is " +
            typeText(array.dtype, array.shape) + " in " + std::to_string(array.data.size()) +
            " bytes; the program was compiled for " + typeText(info.dtype, info.shape),
        "pass an array of that dtype and shape, or compile again for this one", "K-10");
  }
  return Status::ok();
}

namespace {

/// Gives the HBM tensors of the program's border their bytes: inputs and constants are read where
/// they are, outputs are made.
class Borders {
public:
  Borders(const Image &image, std::span<const HostArray> inputs, Storage &memory) {
    for (size_t i = 0; i < inputs.size(); ++i)
      bindRead(image.inputs[i], inputs[i].data, memory);
    for (uint32_t t = 0; t < image.info.tensors.size(); ++t)
      if (image.info.tensors[t].role == TensorRole::Constant)
        bindRead(t, image.info.constants[image.info.tensors[t].index].data, memory);
    for (uint32_t t : image.outputs) {
      const TensorInfo &info = image.info.tensors[t];
      outputs.push_back({info.dtype, info.shape, {}});
      outputs.back().data.resize(size_t(info.freeBytes()));
      memory.bind(t, outputs.back().data.data(), /*written=*/false);
    }
  }

  std::vector<HostArray> outputs;

private:
  // Nothing writes through this pointer: a verified program has no input or constant as an output.
  static void bindRead(uint32_t tensor, const std::vector<std::byte> &data, Storage &memory) {
    memory.bind(tensor, const_cast<std::byte *>(data.data()), /*written=*/true);
  }
};

} // namespace

static Expected<RunResult> runImage(const Image &image, std::span<const HostArray> inputs,
                                    const RunOptions &options) {
  if (Status status = checkArguments(image, inputs); !status)
    return status.error();

  Core core(image, options);
  Borders borders(image, inputs, core.memory);
  if (options.observer)
    options.observer->starts({image.info, image.layout, core.memory});
  Runner runner(core);
  const Status status = runner.run();
  if (options.observer)
    options.observer->finishes();
  if (!status)
    return status.error();

  RunResult result;
  result.stats = runner.stats;
  result.prints = std::move(core.prints);
  result.stop = std::move(runner.stop);
  if (result.stop)
    return result;
  for (uint32_t tensor : image.outputs)
    if (std::optional<UnwrittenBytes> why = core.memory.unwritten(tensor)) {
      Diagnostic diagnostic = unwrittenOutput(image, tensor, *why);
      if (image.info.flags.synchronised)
        addSchedule(diagnostic, options.schedule);
      return diagnostic;
    }
  result.outputs = std::move(borders.outputs);
  return result;
}

Expected<RunResult> Executable::run(std::span<const HostArray> inputs,
                                    const RunOptions &options) const {
  // The only exception the standard library has for us here.
  try {
    return runImage(*impl->image, inputs, options);
  } catch (const std::bad_alloc &) {
    return makeError(Fault::Limit, "the run needs more memory than the host gives",
                     "use smaller tensors, or place the program", "X-02");
  }
}
