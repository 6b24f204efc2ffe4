//===- NisaBase.td - the nisa dialect, its type, its access attribute -----------------*- tablegen -*-===//
//
// What the instruction ops of NisaOps.td are made of. Decisions: dialects/docs/NisaRationale.md.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef KILN_DIALECT_NISA_IR_NISABASE_TD
#define KILN_DIALECT_NISA_IR_NISABASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Nisa_Dialect : Dialect {
  let name = "nisa";
  let cppNamespace = "::kiln::nisa";
  let summary = "Instructions of one core on buffers in SBUF, PSUM and HBM";
  let description = [{
    One op for each row of the instruction table, the allocations they work on, static loops, and the
    kernel that holds them. An instruction's operand is a buffer and an access attribute; there are no
    view ops. Instructions have no results: they write the buffers their operands name.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Ops are registered where their classes are defined: they are most of the dialect's code.
    void registerOps();

    /// Attributes nearly every instruction has, made once: uniquing them again for each instruction is a
    /// third of the cost of building it.
    ::mlir::IntegerAttr getI32Attr(int32_t value) const;
    ::mlir::FloatAttr getF64Attr(double value) const;

  private:
    static constexpr int32_t kNumSmallInts = 64;
    ::std::array<::mlir::IntegerAttr, kNumSmallInts> smallInts;
    ::mlir::FloatAttr zero, one;
  public:
  }];
}

//---- type --------------------------------------------------------------------------------------===//

def Nisa_BufType : TypeDef<Nisa_Dialect, "Buf"> {
  let mnemonic = "buf";
  let summary = "A tensor in one memory of the core";
  let description = [{
    Memory, shape and element type of a buffer. In SBUF and PSUM dim 0 is the partition dimension and at
    least one free dimension follows; in HBM the elements are row-major over all dims. Element types are
    the table's, by their short names; MLIR types play no part.

    Example: `!nisa.buf<sbuf, 128x512xbf16>`
  }];
  let parameters = (ins
    AttrOrTypeParameter<"::kiln::isa::Memory", "where it lies">:$memory,
    ArrayRefParameter<"int64_t", "extents, partitions first on chip">:$shape,
    AttrOrTypeParameter<"::kiln::isa::DType", "element type">:$dtype
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isOnChip() const { return getMemory() != ::kiln::isa::Memory::Hbm; }
  }];
}

//---- access attribute ----------------------------------------------------------------------------===//

def Nisa_AccessAttr : AttrDef<Nisa_Dialect, "Access"> {
  let mnemonic = "access";
  let summary = "The elements of a buffer an operand touches";
  let description = [{
    `isa::Access` without its tensor (that is the operand's SSA value; `access.tensor` is always 0), and
    one coefficient for each enclosing loop, outermost first, that is added to the offset once an
    iteration. No coefficients stand for zeros; `access.loopStep` is not used.

    On chip: first partition + partitions, then the offset inside a partition and the free dims as
    step x count, outermost first. In HBM: rows of a row step. An instruction prints its accesses behind
    the operand and names the element type only where it differs from the buffer's.

    Examples: `#nisa.access<f32, [32+32, 64: 128x4, 1x64]>`,
    `#nisa.access<bf16, [128 rows of 4096, 0: 1x512 loop 65536 512]>`
  }];
  let parameters = (ins
    AttrOrTypeParameter<"::kiln::isa::Access", "the pattern, `tensor` = 0">:$access,
    OptionalArrayRefParameter<"int64_t", "elements added to the offset in each iteration">:$perIteration
  );
  let builders = [
    AttrBuilder<(ins "const ::kiln::isa::Access &":$access,
                     CArg<"::llvm::ArrayRef<int64_t>", "{}">:$perIteration), [{
      ::kiln::isa::Access canonical = access;
      canonical.tensor = 0;
      canonical.loopStep.fill(0);
      for (unsigned i = access.rank; i < ::kiln::isa::kMaxFreeDims; ++i)
        canonical.step[i] = canonical.num[i] = 0;
      return $_get($_ctxt, canonical, perIteration);
    }]>
  ];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//---- fields of the table as attributes -------------------------------------------------------------===//

/// An enum of the table, stored as i32 and read as the C++ enum.
class Nisa_EnumField<string cppName, string doc> : Attr<I32Attr.predicate, doc> {
  let storageType = "::mlir::IntegerAttr";
  let returnType = "::kiln::isa::" # cppName;
  let convertFromStorage = "static_cast<::kiln::isa::" # cppName # ">($_self.getInt())";
  let constBuilderCall = "$_builder.getI32IntegerAttr(static_cast<int32_t>($0))";
}

/// A 32-bit number; `cpp` is int32_t or uint32_t.
class Nisa_WordField<string cpp, string doc> : Attr<I32Attr.predicate, doc> {
  let storageType = "::mlir::IntegerAttr";
  let returnType = cpp;
  let convertFromStorage = "static_cast<" # cpp # ">($_self.getInt())";
  let constBuilderCall = "$_builder.getI32IntegerAttr(static_cast<int32_t>($0))";
}

/// A float immediate; f64 storage holds every f32 exactly.
class Nisa_RealField<string doc> : Attr<F64Attr.predicate, doc> {
  let storageType = "::mlir::FloatAttr";
  let returnType = "double";
  let convertFromStorage = "$_self.getValueAsDouble()";
  let constBuilderCall = "$_builder.getF64FloatAttr($0)";
}

class Nisa_BoolField<string doc> : Attr<BoolAttr.predicate, doc> {
  let storageType = "::mlir::BoolAttr";
  let returnType = "bool";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "$_builder.getBoolAttr($0)";
}

/// Several numbers side by side.
class Nisa_WordsField<int words, string doc>
    : Attr<And<[DenseI64ArrayAttr.predicate,
                CPred<"::llvm::cast<::mlir::DenseI64ArrayAttr>($_self).size() == " # words>]>, doc> {
  let storageType = "::mlir::DenseI64ArrayAttr";
  let returnType = "::llvm::ArrayRef<int64_t>";
  let convertFromStorage = "$_self.asArrayRef()";
  let constBuilderCall = "$_builder.getDenseI64ArrayAttr($0)";
}

#endif // KILN_DIALECT_NISA_IR_NISABASE_TD
