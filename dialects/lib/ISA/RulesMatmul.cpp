//===- RulesMatmul.cpp - rules of the matmul and of the transposes ----------------------------===//
//
// Sizes of the array, shapes and dtypes of what enters and leaves it, and what
// each engine can transpose.
//
//===------------------------------------------------------------------------------------------===//

#include "RuleHelpers.h"

namespace kiln::isa::rules {
namespace {

/// Operands of nc_matmul and of nc_transpose, in the table's order.
enum : unsigned { Dst = 0, Stationary = 1, Moving = 2, Data = 1 };

bool isTransposing(const InstView &view) { return fieldOf(view, "is_transpose") != 0; }

bool isDoubleRow(const InstView &view) {
  return MatmulPerfMode(fieldOf(view, "perf_mode")) == MatmulPerfMode::DoubleRow;
}

/// Columns of an input: its free elements, or half of them where they are two rows.
int64_t columnsOf(const InstView &view, unsigned operand) {
  return view.access(operand).freeElements() / (isDoubleRow(view) ? 2 : 1);
}

int64_t blocks(int64_t n, int64_t size) { return (n + size - 1) / size; }

/// "512 + 128": blocks of at most `size`, the middle ones left out.
std::string splitInto(int64_t n, int64_t size) {
  int64_t count = blocks(n, size), rest = n - (count - 1) * size;
  if (count > 3)
    return text(count, " blocks of at most ", size);
  std::string out = text(size);
  for (int64_t i = 2; i < count; ++i)
    out += text(" + ", size);
  return out + text(" + ", rest);
}

/// "(64, 512)", from partitions and flattened free elements.
std::string flatShape(const Access &a) {
  return text("(", a.partitionCount, ", ", a.freeElements(), ")");
}

/// The same of an input of a matmul: "(64, 2, 512)" where it has two rows a partition.
std::string inputShape(const InstView &view, unsigned operand) {
  const Access &a = view.access(operand);
  return isDoubleRow(view) ? text("(", a.partitionCount, ", 2, ", columnsOf(view, operand), ")")
                           : flatShape(a);
}

} // namespace

void matmulContraction(const InstView &view, std::string_view id, const RuleSink &sink) {
  const Access &stationary = view.access(Stationary), &moving = view.access(Moving);
  if (stationary.partitionCount == moving.partitionCount)
    return;
  report(sink, id, Moving,
         text(view.describe(Stationary), " spans ", counted(stationary.partitionCount, "partition"),
              " but ", view.describe(Moving), " spans ", moving.partitionCount,
              ": both must have the contraction dim on partitions"),
         "pass the operand as [K, M], or transpose it");
}

void matmulStationarySize(const InstView &view, std::string_view id, const RuleSink &sink) {
  int64_t columns = columnsOf(view, Stationary), limit = machine.matmulMaxStationaryFree;
  if (columns > limit)
    report(
        sink, id, Stationary,
        text(view.describe(Stationary), " has ", columns, " columns, the array holds ", limit),
        text("loop over ", blocks(columns, limit), " column blocks: ", splitInto(columns, limit)));
}

void matmulMovingSize(const InstView &view, std::string_view id, const RuleSink &sink) {
  int64_t columns = columnsOf(view, Moving), limit = machine.matmulMaxMovingFree;
  if (columns > limit)
    report(sink, id, Moving,
           text(view.describe(Moving), " has ", columns,
                " columns, one matmul on trn2 moves at most ", limit,
                " (one PSUM bank of float32)"),
           text("split the moving operand into ", splitInto(columns, limit)));
}

void matmulResultShape(const InstView &view, std::string_view id, const RuleSink &sink) {
  const Access &dst = view.access(Dst), &stationary = view.access(Stationary),
               &moving = view.access(Moving);
  int64_t k = stationary.partitionCount, m = columnsOf(view, Stationary),
          n = columnsOf(view, Moving);
  // An identity whose height is wrong already broke the contraction rule.
  if (isTransposing(view) && n != k && moving.partitionCount == stationary.partitionCount)
    return report(sink, id, Moving,
                  text("a transposing matmul moves a (", k, ", ", k, ") identity, ",
                       view.describe(Moving), " is ", flatShape(moving)),
                  text("slice the identity to (", k, ", ", k, ")"));
  if (dst.partitionCount == m && dst.freeElements() == n)
    return;
  bool swapped = dst.partitionCount == n && dst.freeElements() == m;
  report(sink, id, Dst,
         text(view.describe(Dst), " must be (stationary free, moving free) = (", m, ", ", n,
              "), got ", flatShape(dst)),
         text(view.describe(Stationary), " is ", inputShape(view, Stationary), " and ",
              view.describe(Moving), " is ", inputShape(view, Moving),
              swapped ? "; swap the two, or the dims of dst" : ""));
}

void matmulBank(const InstView &view, std::string_view id, const RuleSink &sink) {
  const Access &dst = view.access(Dst);
  if (memoryOf(view, Dst) != Memory::Psum || !view.desc.operands[Dst].allows(dst.dtype))
    return;
  // Too many moving columns overflow the bank as well: that is one fault, and
  // it has its own rule.
  if (int64_t n = columnsOf(view, Moving);
      n > machine.matmulMaxMovingFree && n == dst.freeElements())
    return;
  // A PSUM tensor starts at a bank, so offsets inside the tensor decide.
  constexpr int64_t bank = machine.psumBankBytesPerPartition;
  ElementRange range = elementRangeSaturated(dst);
  int64_t size = bytesOf(dst.dtype);
  int64_t first = mulSaturated(range.first, size),
          last = addSaturated(mulSaturated(range.last, size), size - 1);
  // An access that leaves its tensor has been reported.
  const TensorView &tensor = view.tensors[Dst];
  bool inside = first >= 0 && last < mulSaturated(tensor.freeElements(), bytesOf(tensor.dtype));
  if (!inside || first / bank == last / bank)
    return;
  if (last - first >= bank)
    return report(
        sink, id, Dst,
        text(view.describe(Dst), " spans ", last - first + 1,
             " bytes per partition, they do not fit one ", bank, "-byte PSUM bank"),
        text("write at most ", bank / size, " ", name(dst.dtype), " per partition in one matmul"));
  report(sink, id, Dst,
         text(view.describe(Dst), " covers bytes ", first, " to ", last,
              " of each partition, which cross the PSUM bank boundary at ", last / bank * bank),
         text("start at a multiple of ", bank / size, " elements, or split the columns at element ",
              last / bank * bank / size));
}

void matmulDtypeMix(const InstView &view, std::string_view id, const RuleSink &sink) {
  DType stationary = view.access(Stationary).dtype, moving = view.access(Moving).dtype;
  // Integers have no path at all, which the operands report.
  if (!isFloat(stationary) || !isFloat(moving))
    return;
  bool wideStationary = bytesOf(stationary) == machine.psumCellBytes;
  bool wideMoving = bytesOf(moving) == machine.psumCellBytes;
  if (wideStationary == wideMoving)
    return;
  report(sink, id, wideStationary ? Stationary : Moving,
         text("matmul cannot mix 32-bit and narrower operands: ", view.describe(Stationary), " is ",
              name(stationary), ", ", view.describe(Moving), " is ", name(moving)),
         "cast one while copying to SBUF");
}

void matmulResultDtype(const InstView &view, std::string_view id, const RuleSink &sink) {
  DType dst = view.access(Dst).dtype, data = view.access(Stationary).dtype;
  if (!view.desc.operands[Dst].allows(dst))
    return;
  if (isTransposing(view)) {
    // 8-bit data leaves the array in 16-bit elements.
    if (isFloat(data) && bytesOf(data) == 1) {
      if (bytesOf(dst) != 2)
        report(sink, id, Dst,
               text("the array transposes 8-bit data into 16-bit elements: ", view.describe(Dst),
                    " is ", name(dst), ", ", view.describe(Stationary), " is ", name(data)),
               "allocate dst as bfloat16 and view its bytes");
      return;
    }
    if (dst != data && isFloat(data))
      report(sink, id, Dst,
             text("a transposing matmul moves bits: ", view.describe(Dst), " is ", name(dst), ", ",
                  view.describe(Stationary), " is ", name(data)),
             text("allocate dst as ", name(data), " and cast in the copy that evacuates PSUM"));
    return;
  }
  if (dst != DType::Float32)
    report(sink, id, Dst,
           text("PSUM accumulates float32 on trn2, ", view.describe(Dst), " is ", name(dst)),
           "allocate it as float32 and narrow in the copy that evacuates PSUM");
}

void matmulDoubleRow(const InstView &view, std::string_view id, const RuleSink &sink) {
  if (!isDoubleRow(view))
    return;
  if (isTransposing(view))
    return report(sink, id, -1, "perf_mode double_row does not transpose",
                  "leave perf_mode or is_transpose out");
  for (unsigned operand : {unsigned(Stationary), unsigned(Moving)}) {
    const Access &access = view.access(operand);
    if (bytesOf(access.dtype) != 1)
      report(sink, id, int(operand),
             text("perf_mode double_row takes 8-bit floats, ", view.describe(operand), " is ",
                  name(access.dtype)),
             "cast it to float8_e4m3 or float8_e5m2, or leave perf_mode out");
    else if (access.freeElements() % 2 != 0)
      report(sink, id, int(operand),
             text("perf_mode double_row takes two rows a partition, ", view.describe(operand),
                  " has ", counted(access.freeElements(), "element"), " in each"),
             "shape it (K, 2, columns); pad an odd contraction with zeros");
  }
  if (const int64_t columns = fieldOf(view, "tile_size", 1);
      columns != 0 && columns != machine.matmulMaxStationaryFree)
    report(sink, id, -1,
           text("perf_mode double_row uses all ", machine.matmulMaxStationaryFree,
                " columns of the array, tile_size has ", columns),
           "leave column tiling or perf_mode out");
}

void matmulTile(const InstView &view, std::string_view id, const RuleSink &sink) {
  struct Side {
    std::string_view name;
    int64_t position, size, whole, used;
    int operand;
    std::string_view what;
  };
  const Side sides[] = {{"row", fieldOf(view, "tile_position", 0), fieldOf(view, "tile_size", 0),
                         machine.matmulMaxContraction, view.access(Stationary).partitionCount,
                         Stationary, "contraction rows"},
                        {"column", fieldOf(view, "tile_position", 1), fieldOf(view, "tile_size", 1),
                         machine.matmulMaxStationaryFree, columnsOf(view, Stationary), Stationary,
                         "stationary columns"}};
  if (sides[0].size == 0 && sides[1].size == 0) {
    if (sides[0].position != 0 || sides[1].position != 0)
      report(sink, id, -1, "nc_matmul has a tile_position but no tile_size",
             "give both, or neither");
    return;
  }
  for (const Side &side : sides) {
    const int64_t smallest = machine.matmulTileSize;
    if (side.size != smallest && side.size != 2 * smallest && side.size != side.whole)
      return report(sink, id, -1,
                    text("the ", side.name, " side of tile_size is ", side.size,
                         ", the array is cut into ", smallest, ", ", 2 * smallest, " or ",
                         side.whole),
                    "choose one of them");
    if (side.position % side.size != 0 || side.position + side.size > side.whole)
      return report(sink, id, -1,
                    text("the ", side.name, " of tile_position is ", side.position, ", a tile of ",
                         side.size, " starts at a multiple of it, up to ", side.whole - side.size),
                    "move the tile");
    if (side.used > side.size)
      return report(sink, id, side.operand,
                    text(view.describe(unsigned(side.operand)), " has ", side.used, " ", side.what,
                         ", the tile of the array ", side.size),
                    "use a larger tile, or fewer of them");
  }
  for (unsigned operand : {unsigned(Dst), unsigned(Stationary), unsigned(Moving)}) {
    const int64_t start = physicalStart(view, operand);
    const Side &side = sides[operand == Dst ? 1 : 0];
    if (start != side.position)
      report(sink, id, int(operand),
             text(view.describe(operand), " starts at partition ", start, ", the tile at ",
                  side.name, " ", side.position, " of the array"),
             text("let it start at partition ", side.position));
  }
}

void matmulTransposeOverwrites(const InstView &view, std::string_view id, const RuleSink &sink) {
  if (isTransposing(view) && Accumulate(fieldOf(view, "accumulate")) == Accumulate::Add)
    report(sink, id, Dst,
           text("a transposing matmul always overwrites, it cannot add to ", view.describe(Dst)),
           "leave accumulate unset");
}

void transposeDtype(const InstView &view, std::string_view id, const RuleSink &sink) {
  DType dst = view.access(Dst).dtype, data = view.access(Data).dtype;
  if (dst != data)
    report(sink, id, Dst,
           text("a transpose moves bits: ", view.describe(Dst), " is ", name(dst), ", ",
                view.describe(Data), " is ", name(data)),
           "cast in a separate copy");
}

void transposeShape(const InstView &view, std::string_view id, const RuleSink &sink) {
  const Access &dst = view.access(Dst), &data = view.access(Data);
  if (dst.partitionCount == data.freeElements() && dst.freeElements() == data.partitionCount)
    return;
  report(sink, id, Dst,
         text(view.describe(Dst), " must be (data free, data partitions) = (", data.freeElements(),
              ", ", data.partitionCount, "), got ", flatShape(dst)),
         text(view.describe(Data), " is ", flatShape(data)));
}

void transposeSize(const InstView &view, std::string_view id, const RuleSink &sink) {
  const Access &data = view.access(Data);
  bool array = engineOf(view) == Engine::Tensor;
  int64_t rows = array ? machine.matmulMaxContraction : machine.vectorTransposeMax;
  int64_t columns = array ? machine.matmulMaxStationaryFree : machine.vectorTransposeMax;
  int64_t p = data.partitionCount, f = data.freeElements();
  // More partitions than the core has are the operand's own fault.
  if ((p <= rows && f <= columns) || p > machine.numPartitions)
    return;
  std::string help = text("loop over ", blocks(p, rows) * blocks(f, columns), " blocks");
  if (!array && view.inst.engine == Engine::Unknown)
    help += isFloat(data.dtype)
                ? text(", or put data in SBUF and dst in PSUM: "
                       "the Tensor Engine transposes up to ",
                       machine.matmulMaxContraction, " x ", machine.matmulMaxStationaryFree)
                : text(", or view data and dst as float tiles "
                       "of the same width with dst in PSUM");
  report(sink, id, Data,
         text(view.describe(Data), " is ", flatShape(data), ", a transpose on ",
              title(engineOf(view)), " takes at most ", rows, " x ", columns),
         std::move(help));
}

void transposeBuffers(const InstView &view, std::string_view id, const RuleSink &sink) {
  if (engineOf(view) == Engine::Tensor && memoryOf(view, Dst) == Memory::Sbuf)
    report(sink, id, Dst,
           text("the Tensor Engine writes PSUM only, ", view.describe(Dst), " is in SBUF"),
           text("allocate ", quoted(view, Dst), " with nl::psum and copy it out afterwards"));
}

void transposeSource(const InstView &view, std::string_view id, const RuleSink &sink) {
  if (engineOf(view) == Engine::Tensor && memoryOf(view, Data) == Memory::Psum)
    report(sink, id, Data, text(view.describe(Data), " is in PSUM; the Tensor Engine reads SBUF"),
           "insert nisa::tensor_copy to an SBUF tile");
}

void transposeIntegers(const InstView &view, std::string_view id, const RuleSink &sink) {
  DType data = view.access(Data).dtype;
  if (engineOf(view) == Engine::Tensor && !isFloat(data))
    report(sink, id, Data,
           text("the Tensor Engine has no integer path, ", view.describe(Data), " is ", name(data)),
           "use engine::vector, or view the tiles as a float dtype of the same "
           "width");
  else if (engineOf(view) == Engine::Tensor && bytesOf(data) == 1)
    report(sink, id, Data,
           text("the Tensor Engine transposes elements of 2 and 4 bytes, ", view.describe(Data),
                " is ", name(data)),
           "use engine::vector, or cast to bfloat16, which holds every value of it");
}

} // namespace kiln::isa::rules
