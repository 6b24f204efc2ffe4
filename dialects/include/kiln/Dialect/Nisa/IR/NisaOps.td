//===- NisaOps.td - one op for each row of the instruction table -----------------------*- tablegen -*-===//
//
// The instruction ops are not written here: the loop at the end defines them from the table's records.
// Kernel, allocation and loop are in NisaStructure.td.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef KILN_DIALECT_NISA_IR_NISAOPS_TD
#define KILN_DIALECT_NISA_IR_NISAOPS_TD

include "Instructions.td"
include "kiln/Dialect/Nisa/IR/NisaBase.td"
include "kiln/Dialect/Nisa/IR/NisaInterfaces.td"
include "kiln/Dialect/Nisa/IR/NisaStructure.td"

/// The attribute constraint of a table field. A field with a default may be left out.
class Nisa_FieldAttr<Field f> {
  // An enum's default is the value of the case it names.
  string enumDefault = !if(!eq(f.kind, "enum"),
      !foldl("0", f.enumType.cases, acc, c, !if(!eq(c.name, f.init), "" # c.value, acc)), "0");
  string init = !cond(
    !eq(f.kind, "enum"): "static_cast<::kiln::isa::"
        # !if(!eq(f.kind, "enum"), f.enumType.cppName, "") # ">(" # enumDefault # ")",
    !gt(f.words, 1): "::llvm::SmallVector<int64_t>(" # f.words # ", " # f.init # ")",
    true: f.init);
  Attr bare = !cond(
    !gt(f.words, 1): Nisa_WordsField<f.words, f.doc>,
    !eq(f.kind, "bool"): Nisa_BoolField<f.doc>,
    !eq(f.kind, "enum"): Nisa_EnumField<!if(!eq(f.kind, "enum"), f.enumType.cppName, ""), f.doc>,
    !eq(f.kind, "i32"): Nisa_WordField<"int32_t", f.doc>,
    !or(!eq(f.kind, "u32"), !eq(f.kind, "reg")): Nisa_WordField<"uint32_t", f.doc>,
    true: Nisa_RealField<f.doc>);
  Attr attr = !if(!empty(f.init), bare, DefaultValuedAttr<bare, init>);
}

/// Base of all instruction ops.
class Nisa_InstOp<Inst inst>
    : Op<Nisa_Dialect, inst.mnemonic,
         !listconcat([DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                      DeclareOpInterfaceMethods<Nisa_InstOpInterface>],
                     // ODS refuses the trait where the segments are clear without it.
                     !if(!gt(!size(!filter(o, inst.operands, o.isOptional)), 1),
                         !listconcat([AttrSizedOperandSegments], []<Trait>), []<Trait>))> {
  let summary = inst.summary;

  string operandDoc = !foldl("", inst.operands, acc, o,
      acc # "    * `" # o.name # "`" # !if(o.isOptional, " (optional)", "")
          # !if(o.isOutput, ", written: ", ", read: ") # o.doc # "\n");
  string ruleDoc = !foldl("", inst.rules, acc, r, acc # "    * " # r.id # ": " # r.text # "\n");
  let description = inst.description # "\n    Operands:\n\n" # operandDoc
      # !if(!empty(inst.rules), "", "\n    Rules:\n\n" # ruleDoc)
      # "\n    Example (the buffer types of the operands follow a colon):\n\n    ```mlir\n    "
      # inst.example # "\n    ```\n";

  let arguments = !con(
    !dag(ins,
         !foreach(o, inst.operands,
                  !if(o.isOptional, !cast<TypeConstraint>(Optional<Nisa_BufType>),
                                    !cast<TypeConstraint>(Nisa_BufType))),
         !foreach(o, inst.operands, o.name)),
    !dag(ins,
         !foreach(o, inst.operands,
                  !if(o.isOptional, !cast<Attr>(OptionalAttr<Nisa_AccessAttr>),
                                    !cast<Attr>(Nisa_AccessAttr))),
         !foreach(o, inst.operands, o.name # "_access")),
    !dag(ins, !foreach(f, inst.fields, Nisa_FieldAttr<f>.attr),
         !foreach(f, inst.fields, f.name)),
    (ins DefaultValuedAttr<Nisa_EnumField<"Engine", "the engine that runs it">,
                           "::kiln::isa::Engine::Unknown">:$engine));

  // `tensors` is what the accesses' tensor numbers index. NisaInst.h has the faster generic form.
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "const ::kiln::isa::Instruction &":$inst,
                                 "::llvm::ArrayRef<::mlir::Value>":$tensors),
      "instimpl::fillState<" # inst.cppName # "Op>($_builder, $_state, inst, tensors);">];
  let hasVerifier = 1;

  // One grammar for IR and assembler, read from the table at run time: a declarative form would have to
  // repeat each record, and could not print an access next to its operand.
  let hasCustomAssemblyFormat = 1;

  string attrVisits = !foldl("", inst.operands, acc, o, acc # "      fn(p." # o.name # "_access);\n")
      # !foldl("", inst.fields, acc, f, acc # "      fn(p." # f.name # ");\n")
      # "      fn(p.engine);\n";
  let extraClassDeclaration = [{
    static constexpr ::kiln::isa::Opcode kOpcode = ::kiln::isa::Opcode::}] # inst.cppName # [{;
    /// Calls `fn` with a reference to each attribute: accesses in operand order, fields in table order,
    /// the engine.
    template <typename PropertiesT, typename Fn>
    static void eachAttr(PropertiesT &p, Fn &&fn) {
}] # attrVisits # [{    }
  }];
  let extraClassDefinition = [{
    ::kiln::isa::Opcode $cppClass::getOpcode() { return kOpcode; }
    void $cppClass::copyAttrs(::mlir::Attribute *out) {
      eachAttr(getProperties(), [&](::mlir::Attribute attr) { *out++ = attr; });
    }
    ::llvm::LogicalResult $cppClass::verify() { return instimpl::verifyInst(*this); }
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      instimpl::getInstEffects(*this, effects);
    }
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser,
                                         ::mlir::OperationState &state) {
      return instimpl::parseInst<$cppClass>(parser, state);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) { instimpl::printInst(*this, printer); }
  }];
}

foreach inst = !instances<Inst>() in {
  if !not(inst.isInternal) then
    def Nisa_#inst.cppName#Op : Nisa_InstOp<inst> {
      let opName = inst.mnemonic;
      string cppName = inst.cppName;
    }
}

#endif // KILN_DIALECT_NISA_IR_NISAOPS_TD
