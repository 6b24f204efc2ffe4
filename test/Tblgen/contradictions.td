// A contradiction in the table is reported at the line of the record that has it. One case a macro; the
// table itself, without any, passes.
//
// RUN: kiln-tblgen -check -I %kiln_table %s
// RUN: not kiln-tblgen -check -I %kiln_table -DOPCODE_TWICE %s 2>&1 | FileCheck %s --check-prefix=OPCODE-TWICE
// RUN: not kiln-tblgen -check -I %kiln_table -DOPCODE_WIDE %s 2>&1 | FileCheck %s --check-prefix=OPCODE-WIDE
// RUN: not kiln-tblgen -check -I %kiln_table -DNAME_TWICE %s 2>&1 | FileCheck %s --check-prefix=NAME-TWICE
// RUN: not kiln-tblgen -check -I %kiln_table -DMNEMONIC_TWICE %s 2>&1 | FileCheck %s --check-prefix=MNEMONIC-TWICE
// RUN: not kiln-tblgen -check -I %kiln_table -DCPPNAME_TWICE %s 2>&1 | FileCheck %s --check-prefix=CPPNAME-TWICE
// RUN: not kiln-tblgen -check -I %kiln_table -DNO_MEMORY %s 2>&1 | FileCheck %s --check-prefix=NO-MEMORY
// RUN: not kiln-tblgen -check -I %kiln_table -DNO_DTYPE %s 2>&1 | FileCheck %s --check-prefix=NO-DTYPE
// RUN: not kiln-tblgen -check -I %kiln_table -DSIZES %s 2>&1 | FileCheck %s --check-prefix=SIZES
// RUN: not kiln-tblgen -check -I %kiln_table -DNO_IMMEDIATE %s 2>&1 | FileCheck %s --check-prefix=NO-IMMEDIATE
// RUN: not kiln-tblgen -check -I %kiln_table -DWHOLE_IMMEDIATE %s 2>&1 | FileCheck %s --check-prefix=WHOLE-IMMEDIATE
// RUN: not kiln-tblgen -check -I %kiln_table -DSHARED_IMMEDIATE %s 2>&1 | FileCheck %s --check-prefix=SHARED-IMMEDIATE
// RUN: not kiln-tblgen -check -I %kiln_table -DWIDE_IMMEDIATE %s 2>&1 | FileCheck %s --check-prefix=WIDE-IMMEDIATE
// RUN: not kiln-tblgen -check -I %kiln_table -DTILE_IMMEDIATE %s 2>&1 | FileCheck %s --check-prefix=TILE-IMMEDIATE
// RUN: not kiln-tblgen -check -I %kiln_table -DKEEPS_INPUT %s 2>&1 | FileCheck %s --check-prefix=KEEPS-INPUT
// RUN: not kiln-tblgen -check -I %kiln_table -DKEEPS_GENERATED %s 2>&1 | FileCheck %s --check-prefix=KEEPS-GENERATED
// RUN: not kiln-tblgen -check -I %kiln_table -DHBM_ENGINE %s 2>&1 | FileCheck %s --check-prefix=HBM-ENGINE
// RUN: not kiln-tblgen -check -I %kiln_table -DNO_RING %s 2>&1 | FileCheck %s --check-prefix=NO-RING
// RUN: not kiln-tblgen -check -I %kiln_table -DOBSERVER_WRITES %s 2>&1 | FileCheck %s --check-prefix=OBSERVER-WRITES
// RUN: not kiln-tblgen -check -I %kiln_table -DOBSERVER_ENGINES %s 2>&1 | FileCheck %s --check-prefix=OBSERVER-ENGINES
// RUN: not kiln-tblgen -check -I %kiln_table -DNO_TEXT %s 2>&1 | FileCheck %s --check-prefix=NO-TEXT
// RUN: not kiln-tblgen -check -I %kiln_table -DBAD_KIND %s 2>&1 | FileCheck %s --check-prefix=BAD-KIND
// RUN: not kiln-tblgen -check -I %kiln_table -DNO_WORDS %s 2>&1 | FileCheck %s --check-prefix=NO-WORDS
// RUN: not kiln-tblgen -check -I %kiln_table -DBAD_CASE %s 2>&1 | FileCheck %s --check-prefix=BAD-CASE
// RUN: not kiln-tblgen -check -I %kiln_table -DFOREIGN_CASE %s 2>&1 | FileCheck %s --check-prefix=FOREIGN-CASE
// RUN: not kiln-tblgen -check -I %kiln_table -DREFUSED_DEFAULT %s 2>&1 | FileCheck %s --check-prefix=REFUSED-DEFAULT
// RUN: not kiln-tblgen -check -I %kiln_table -DREFUSED_RULE %s 2>&1 | FileCheck %s --check-prefix=REFUSED-RULE
// RUN: not kiln-tblgen -check -I %kiln_table -DNO_COMMAND %s 2>&1 | FileCheck %s --check-prefix=NO-COMMAND
// RUN: not kiln-tblgen -check -I %kiln_table -DTWO_ENGINES %s 2>&1 | FileCheck %s --check-prefix=TWO-ENGINES
// RUN: not kiln-tblgen -check -I %kiln_table -DBAD_DEFAULT %s 2>&1 | FileCheck %s --check-prefix=BAD-DEFAULT
// RUN: not kiln-tblgen -check -I %kiln_table -DNO_ENUM %s 2>&1 | FileCheck %s --check-prefix=NO-ENUM
// RUN: not kiln-tblgen -check -I %kiln_table -DBAD_RULE %s 2>&1 | FileCheck %s --check-prefix=BAD-RULE
// RUN: not kiln-tblgen -check -I %kiln_table -DRULE_TWICE %s 2>&1 | FileCheck %s --check-prefix=RULE-TWICE
// RUN: not kiln-tblgen -check -I %kiln_table -DNO_ENGINE %s 2>&1 | FileCheck %s --check-prefix=NO-ENGINE
// RUN: not kiln-tblgen -check -I %kiln_table -DENGINE_TWICE %s 2>&1 | FileCheck %s --check-prefix=ENGINE-TWICE
// RUN: not kiln-tblgen -check -I %kiln_table -DNO_COST %s 2>&1 | FileCheck %s --check-prefix=NO-COST
// RUN: not kiln-tblgen -check -I %kiln_table -DFOREIGN_COST %s 2>&1 | FileCheck %s --check-prefix=FOREIGN-COST
// RUN: not kiln-tblgen -check -I %kiln_table -DCOST_FRACTION %s 2>&1 | FileCheck %s --check-prefix=COST-FRACTION
// RUN: not kiln-tblgen -check -I %kiln_table -DENUM_WIDE %s 2>&1 | FileCheck %s --check-prefix=ENUM-WIDE
// RUN: not kiln-tblgen -check -I %kiln_table -DENUM_VALUE_TWICE %s 2>&1 | FileCheck %s --check-prefix=ENUM-VALUE
// RUN: not kiln-tblgen -check -I %kiln_table -DENUM_NAME_TWICE %s 2>&1 | FileCheck %s --check-prefix=ENUM-NAME
// RUN: not kiln-tblgen -check -I %kiln_table -DCATALOGUE_TWICE %s 2>&1 | FileCheck %s --check-prefix=CATALOGUE-TWICE
// RUN: not kiln-tblgen -check -I %kiln_table -DRULE_SEVERITY %s 2>&1 | FileCheck %s --check-prefix=RULE-SEVERITY
// RUN: not kiln-tblgen -check -I %kiln_table -DRULE_PERFORMANCE %s 2>&1 | FileCheck %s --check-prefix=RULE-PERFORMANCE
// RUN: not kiln-tblgen -check -I %kiln_table -DRULE_DEMOTABLE %s 2>&1 | FileCheck %s --check-prefix=RULE-DEMOTABLE
// RUN: not kiln-tblgen -check -I %kiln_table -DRULE_FORM %s 2>&1 | FileCheck %s --check-prefix=RULE-FORM
// RUN: not kiln-tblgen -check -I %kiln_table -DRULE_EXAMPLE %s 2>&1 | FileCheck %s --check-prefix=RULE-EXAMPLE
// RUN: not kiln-tblgen -check -I %kiln_table -DRULE_FUNCTION %s 2>&1 | FileCheck %s --check-prefix=RULE-FUNCTION
// RUN: not kiln-tblgen -check -I %kiln_table -DRULE_NONE %s 2>&1 | FileCheck %s --check-prefix=RULE-NONE

include "Instructions.td"

/// A legal row to break.
class Probe<string m, int op = 0x7000> : Inst<op, m, [EngineVector]> {
  let cppName = "Probe";
  let summary = "A row of this test";
  let description = "";
  let example = "";
  let operands = [Out<"dst", OnChip, AnyDtype, "">];
  let costs = [Cost<"vector", 1, 1, 62, 150, 64, "", "choice">];
}

#ifdef OPCODE_TWICE
// OPCODE-TWICE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe' uses opcode 16 of 'nc_matmul'
def P : Probe<"probe", 0x10>;
#endif

#ifdef OPCODE_WIDE
// OPCODE-WIDE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': opcode 65536 is outside 1 to 65535
def P : Probe<"probe", 0x10000>;
#endif

#ifdef NAME_TWICE
// NAME-TWICE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe' has two operands or fields named 'dst'
def P : Probe<"probe"> {
  let fields = [FBool<"dst", "">];
}
#endif

#ifdef MNEMONIC_TWICE
// MNEMONIC-TWICE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'memset' is defined twice
def P : Probe<"memset">;
#endif

#ifdef CPPNAME_TWICE
// CPPNAME-TWICE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe' uses the C++ name 'Memset' of another one
def P : Probe<"probe"> {
  let cppName = "Memset";
}
#endif

#ifdef NO_MEMORY
// NO-MEMORY: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': operand 'dst' lies in no memory
def P : Probe<"probe"> {
  let operands = [Out<"dst", [], AnyDtype, "">];
}
#endif

#ifdef NO_DTYPE
// NO-DTYPE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': operand 'dst' has no dtype
def P : Probe<"probe"> {
  let operands = [Out<"dst", OnChip, [], "">];
}
#endif

#ifdef SIZES
// SIZES: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': operand 'src' takes 9 to 8 elements
def P : Probe<"probe"> {
  let operands = [In<"src", OnChip, AnyDtype, "", 9, 8>];
}
#endif

#ifdef NO_IMMEDIATE
// NO-IMMEDIATE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': operand 's' falls back on 'imm', which is no field
def P : Probe<"probe"> {
  let operands = [ScalarOperand<"s", OnChip, AnyDtype, "imm", "">];
}
#endif

#ifdef WHOLE_IMMEDIATE
// WHOLE-IMMEDIATE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': operand 's' falls back on 'imm', which is not one real number
def P : Probe<"probe"> {
  let operands = [ScalarOperand<"s", OnChip, AnyDtype, "imm", "">];
  let fields = [FI32<"imm", "0", "">];
}
#endif

#ifdef SHARED_IMMEDIATE
// SHARED-IMMEDIATE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': operand 't' falls back on 'imm' of operand 's'
def P : Probe<"probe"> {
  let operands = [ScalarOperand<"s", OnChip, AnyDtype, "imm", "">,
                  ScalarOperand<"t", OnChip, AnyDtype, "imm", "">];
  let fields = [FF32<"imm", "0", "">];
}
#endif

#ifdef WIDE_IMMEDIATE
// WIDE-IMMEDIATE: contradictions.td:[[#@LINE+2]]:5: error: instruction 'probe': operand 's' has an immediate but is no optional input
def WideScalar : In<"s", OnChip, AnyDtype, ""> { let immediate = "imm"; }
def P : Probe<"probe"> {
  let operands = [WideScalar];
  let fields = [FF32<"imm", "0", "">];
}
#endif

#ifdef TILE_IMMEDIATE
// TILE-IMMEDIATE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': operand 's' is a tile or a number, which no tile function takes
def P : Probe<"probe"> {
  let operands = [TileOrNumber<"s", OnChip, AnyDtype, "imm", "">];
  let fields = [FF32<"imm", "0", "">];
  let isTileFunction = 1;
}
#endif

#ifdef KEEPS_INPUT
// KEEPS-INPUT: contradictions.td:[[#@LINE+2]]:5: error: instruction 'probe': operand 's' keeps old elements but is no output
def Kept : In<"s", OnChip, AnyDtype, ""> { let keepsOld = 1; }
def P : Probe<"probe"> {
  let operands = [Kept];
}
#endif

#ifdef KEEPS_GENERATED
// KEEPS-GENERATED: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': operand 'd' keeps old elements: its handler, not a tile function, says which
def P : Probe<"probe"> {
  let operands = [InOut<"d", OnChip, AnyDtype, "">];
  let isTileFunction = 1;
}
#endif

#ifdef HBM_ENGINE
// HBM-ENGINE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': operand 's' lies in HBM, which only a transfer reaches
def P : Probe<"probe"> {
  let operands = [In<"s", [Sbuf, Hbm], AnyDtype, "">];
}
#endif

#ifdef NO_RING
// NO-RING: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe' is a transfer without a u32 field 'ring'
def P : Probe<"probe"> {
  let fields = [FF32<"ring", "0", "">];
  let isTransfer = 1;
}
#endif

#ifdef OBSERVER_WRITES
// OBSERVER-WRITES: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': operand 'dst' is an output of a row that only looks
def P : Probe<"probe"> {
  let isObserver = 1;
}
#endif

#ifdef OBSERVER_ENGINES
// OBSERVER-ENGINES: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe' only looks: one engine runs it, or there would be two orders
def P : Inst<0x7000, "probe", [EngineVector, EngineScalar]> {
  let cppName = "Probe";
  let summary = "";
  let description = "";
  let example = "";
  let isObserver = 1;
}
#endif

#ifdef NO_TEXT
// NO-TEXT: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe' only looks, without a u32 field 'text'
def P : Probe<"probe"> {
  let operands = [In<"data", [Hbm], AnyDtype, "">];
  let fields = [FWords<"text", 2, "">];
  let isObserver = 1;
}
#endif

#ifdef BAD_KIND
// BAD-KIND: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': field 'x' has the unknown kind 'i7'
def P : Probe<"probe"> {
  let fields = [Field<"x", "i7", 1, "0", "">];
}
#endif

#ifdef NO_WORDS
// NO-WORDS: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': field 'x' has no words
def P : Probe<"probe"> {
  let fields = [Field<"x", "i32", 0, "0", "">];
}
#endif

#ifdef BAD_CASE
// BAD-CASE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': field 'op' default 'plus' is not a case of 'AluOp'
def P : Probe<"probe"> {
  let fields = [FEnum<"op", AluOpEnum, "plus", "">];
}
#endif

#ifdef FOREIGN_CASE
// FOREIGN-CASE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': field 'op' takes 'copy', which is not a case of 'AluOp'
def P : Probe<"probe"> {
  let fields = [FEnumOf<"op", AluOpEnum, [AluAdd, ActCopy], "D-17", "", "">];
}
#endif

#ifdef REFUSED_DEFAULT
// REFUSED-DEFAULT: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': field 'op' does not take its default 'multiply'
def P : Probe<"probe"> {
  let fields = [FEnumOf<"op", AluOpEnum, [AluAdd], "D-17", "multiply", "">];
}
#endif

#ifdef REFUSED_RULE
// REFUSED-RULE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': rule id 'Z-99' is not in the rule catalogue
def P : Probe<"probe"> {
  let fields = [FEnumOf<"op", AluOpEnum, [AluAdd], "Z-99", "", "">];
}
#endif

#ifdef NO_COMMAND
// NO-COMMAND: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': accumulators 'op' is neither a field with a reduction command nor a command
def P : Probe<"probe"> {
  let fields = [FEnum<"op", AluOpEnum, "", "">];
  let accumulators = "op";
}
#endif

#ifdef TWO_ENGINES
// TWO-ENGINES: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe' has accumulators, it must run on one engine
def P : Probe<"probe"> {
  let engines = [EngineVector, EngineScalar];
  let accumulators = "reset_reduce";
}
#endif

#ifdef BAD_DEFAULT
// BAD-DEFAULT: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': field 'n' default '-1' is not a value of kind 'u32'
def P : Probe<"probe"> {
  let fields = [FU32<"n", "-1", "">];
}
#endif

#ifdef NO_ENUM
// NO-ENUM: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': field 'op' names no enum
def P : Probe<"probe"> {
  let fields = [Field<"op", "enum", 1, "", "">];
}
#endif

#ifdef BAD_RULE
// BAD-RULE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': rule id 'P-99' is not in the rule catalogue
def P : Probe<"probe"> {
  let rules = [Rule<"P-99", "samePartitions", "">];
}
#endif

#ifdef RULE_TWICE
// RULE-TWICE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe' runs rule 'samePartitions' twice
def P : Probe<"probe"> {
  let rules = [Rule<"P-04", "samePartitions", "">, Rule<"P-05", "samePartitions", "">];
}
#endif

#ifdef NO_ENGINE
// NO-ENGINE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe' runs on no engine
def P : Probe<"probe"> {
  let engines = [];
}
#endif

#ifdef ENGINE_TWICE
// ENGINE-TWICE: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe' lists engine 'vector' twice
def P : Probe<"probe"> {
  let engines = [EngineVector, EngineVector];
}
#endif

#ifdef NO_COST
// NO-COST: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe' has no cost for engine 'vector'
def P : Probe<"probe"> {
  let costs = [];
}
#endif

#ifdef FOREIGN_COST
// FOREIGN-COST: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe' has a cost for engine 'tensor', which does not run it
def P : Probe<"probe"> {
  let costs = [Cost<"tensor", 1, 1, 0, 0, 0, "", "choice">];
}
#endif

#ifdef COST_FRACTION
// COST-FRACTION: contradictions.td:[[#@LINE+1]]:5: error: instruction 'probe': the cost per element on engine 'vector' is not a positive fraction
def P : Probe<"probe"> {
  let costs = [Cost<"vector", 1, 0, 0, 0, 0, "", "choice">];
}
#endif

#ifdef ENUM_WIDE
// ENUM-WIDE: contradictions.td:[[#@LINE+1]]:5: error: enum 'E' value 256 of 'a' does not fit one byte
def E : TableEnum<"E", "", [Case<"a", 256>]>;
#endif

#ifdef ENUM_VALUE_TWICE
// ENUM-VALUE: contradictions.td:[[#@LINE+1]]:5: error: enum 'E': 'a' and 'b' share value 1
def E : TableEnum<"E", "", [Case<"a", 1>, Case<"b", 1>]>;
#endif

#ifdef ENUM_NAME_TWICE
// ENUM-NAME: contradictions.td:[[#@LINE+1]]:5: error: enum 'E' has two cases named 'a'
def E : TableEnum<"E", "", [Case<"a", 1>, Case<"a", 2>]>;
#endif

#ifdef CATALOGUE_TWICE
// CATALOGUE-TWICE: contradictions.td:[[#@LINE+1]]:5: error: rule 'P-01' stands twice in the catalogue
def zAgain : RuleText<"P-01", "", "", "">;
#endif

/// A legal rule to break.
class ProbeRule : RuleText<"Z-01", "", "", ""> {
  let wrong = "Tensor kernel(Tensor x) {}";
  let right = wrong;
}

#ifdef RULE_SEVERITY
// RULE-SEVERITY: contradictions.td:[[#@LINE+1]]:5: error: rule 'Z-01' has severity 'hint', it is error, warning or note
def Z : ProbeRule {
  let severity = "hint";
}
#endif

#ifdef RULE_PERFORMANCE
// RULE-PERFORMANCE: contradictions.td:[[#@LINE+1]]:5: error: rule 'Z-01' is no warning, so -Wperf cannot turn it on
def Z : ProbeRule {
  let isPerformance = 1;
}
#endif

#ifdef RULE_DEMOTABLE
// RULE-DEMOTABLE: contradictions.td:[[#@LINE+1]]:5: error: rule 'Z-01' is no error, so -Wno-error has nothing to turn into a warning
def Z : ProbeRule {
  let severity = "warning";
  let isDemotable = 1;
}
#endif

#ifdef RULE_FORM
// RULE-FORM: contradictions.td:[[#@LINE+1]]:5: error: rule 'Z-01' has examples of form 'poem'
def Z : ProbeRule {
  let form = "poem";
}
#endif

#ifdef RULE_EXAMPLE
// RULE-EXAMPLE: contradictions.td:[[#@LINE+1]]:5: error: rule 'Z-01' has no right example
def Z : ProbeRule {
  let right = "";
}
#endif

#ifdef RULE_FUNCTION
// RULE-FUNCTION: contradictions.td:[[#@LINE+1]]:5: error: rule 'Z-01' has a wrong example without a function 'kernel'
def Z : ProbeRule {
  let wrong = "Tensor other(Tensor x) {}";
}
#endif

#ifdef RULE_NONE
// RULE-NONE: contradictions.td:[[#@LINE+1]]:5: error: rule 'Z-01' has a wrong example of form none
def Z : ProbeRule {
  let form = "none";
}
#endif
