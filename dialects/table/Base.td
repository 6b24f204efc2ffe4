//===- Base.td - the classes every record of the instruction table is made of ------------------===//
//
// The table is plain TableGen: it includes nothing of MLIR. Three readers share it: kiln-tblgen (the
// C++ of dialects/include/kiln/ISA, the manual), mlir-tblgen through NisaOps.td (the ops), and people.
// A fact about an instruction or the machine stands here once and nowhere else.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef KILN_TABLE_BASE_TD
#define KILN_TABLE_BASE_TD

//---- machine ---------------------------------------------------------------------------------===//

/// One number of the target. C++ reads it as `isa::machine.<name>`.
class MachineConst<string n, int v, string u, string src, string conf, string d> {
  string name = n;
  int value = v;
  string unit = u;        // "partitions", "bytes", "elements", ...
  string source = src;    // the public page or measurement it comes from
  string confidence = conf; // "published", "measured", "derived" or "choice"
  string doc = d;
}

//---- enums -----------------------------------------------------------------------------------===//

/// One enumerator: its spelling in NKI and in every textual form, and its encoding.
/// The C++ enumerator is the name in CamelCase unless `cppName` says otherwise.
class Case<string n, int v, string d = "", string cpp = ""> {
  string name = n;
  int value = v;
  string doc = d;
  string cppName = cpp;
}

/// An enum shared by the DSL, the dialects and the encoding. Values fit one byte.
class TableEnum<string cpp, string d, list<Case> cs> {
  string cppName = cpp;
  string doc = d;
  list<Case> cases = cs;
}

//---- engines, memories, dtypes -----------------------------------------------------------------===//

class EngineRec<string n, int v, string abbrev, int clock, string d> : Case<n, v, d> {
  string shortName = abbrev; // the name in streams: pe, act, dve, pool, sp
  int clockMHz = clock;
}

class MemoryRec<string n, int v, string d> : Case<n, v, d>;

class DtypeRec<string n, string cpp, int v, string mlir, int size, bit fp, bit sgn, string d>
    : Case<n, v, d, cpp> {
  string mlirName = mlir; // spelling in !nisa.buf types and in assembler text
  int bytes = size;
  bit isFloat = fp;
  bit isSigned = sgn;
}

//---- operators and functions -------------------------------------------------------------------===//

/// An ALU operator of the Vector, GpSimd and Scalar Engines. x is the left argument, y the right.
class AluOpRec<string n, int v, string formula, bit bitvecClass, bit unary, bit reduces>
    : Case<n, v, formula> {
  bit isBitvec = bitvecClass; // raw integer bits, Vector Engine only; else fp32 arithmetic
  bit isUnary = unary;        // ignores y
  bit isReduction = reduces;  // legal as a reduction operator
}

/// A function of the Scalar Engine: the exact function, rounded once to fp32. [low, high] is the
/// domain in which the hardware's approximation is valid; an empty string means all floats.
class ActFnRec<string n, int v, string formula, string lo = "", string hi = ""> : Case<n, v, formula> {
  string low = lo;
  string high = hi;
}

//---- operands ----------------------------------------------------------------------------------===//

/// An operand of an instruction. A `column` operand is [P, 1]: one element a partition, repeated
/// along the free axis. An operand of `low` to `high` elements a partition (0: any) in at most `dims`
/// free dims (0: as many as an access has) says so here; rules S-08 and S-06 hold it to that.
class Operand<string n, bit output, bit optional, bit col, list<MemoryRec> mems, list<DtypeRec> types,
              string d, int low = 0, int high = 0, int dims = 0> {
  string name = n;
  bit isOutput = output;
  bit isOptional = optional;
  bit isColumn = col;
  list<MemoryRec> memories = mems;
  list<DtypeRec> dtypes = types;
  string doc = d;
  int minElements = low;
  int maxElements = high;
  int maxDims = dims;
  string immediate = ""; // the f32 or f64 field that is read when the operand is absent
  bit keepsOld = 0; // output: elements may stay as they were, so the instruction depends on them
}
class Out<string n, list<MemoryRec> mems, list<DtypeRec> types, string d, int low = 0, int high = 0,
          int dims = 0> : Operand<n, 1, 0, 0, mems, types, d, low, high, dims>;
/// An output of which the instruction may leave elements as it found them.
class InOut<string n, list<MemoryRec> mems, list<DtypeRec> types, string d, int low = 0, int high = 0,
            int dims = 0> : Out<n, mems, types, d, low, high, dims> {
  let keepsOld = 1;
}
class In<string n, list<MemoryRec> mems, list<DtypeRec> types, string d, int low = 0, int high = 0,
         int dims = 0> : Operand<n, 0, 0, 0, mems, types, d, low, high, dims>;
class Column<string n, list<MemoryRec> mems, list<DtypeRec> types, string d>
    : Operand<n, 0, 0, 1, mems, types, d>;
class OptColumn<string n, list<MemoryRec> mems, list<DtypeRec> types, string d>
    : Operand<n, 0, 1, 1, mems, types, d>;
/// A tile or, without the tile, the number in field `imm`. Kernels pass either in one place.
class TileOrNumber<string n, list<MemoryRec> mems, list<DtypeRec> types, string imm, string d>
    : Operand<n, 0, 1, 0, mems, types, d> {
  let immediate = imm;
}
/// A scalar operand: one value a partition or, without the column, the number in field `imm`. Kernels
/// pass either in one place; a tile function takes both as one `Scalar`.
class ScalarOperand<string n, list<MemoryRec> mems, list<DtypeRec> types, string imm, string d>
    : Operand<n, 0, 1, 1, mems, types, d> {
  let immediate = imm;
}
class OptOutColumn<string n, list<MemoryRec> mems, list<DtypeRec> types, string d>
    : Operand<n, 1, 1, 1, mems, types, d>;

//---- fields ------------------------------------------------------------------------------------===//

/// A field: a value known when the instruction is encoded. `kind` is one of bool, enum, i32, u32, f32,
/// f64, reg (a register of the engine's sequencer, by number); `words` values of that kind stand side by side. `init` is the default as text ("" = required).
class Field<string n, string k, int w, string i, string d> {
  string name = n;
  string kind = k;
  int words = w;
  string init = i;
  string doc = d;
  TableEnum enumType = ?;
  list<Case> allowed = [];  // enum: the cases this row takes; [] stands for all
  string allowedRule = "";  // the rule that another case breaks
}
class FBool<string n, string d> : Field<n, "bool", 1, "false", d>;
class FI32<string n, string i, string d> : Field<n, "i32", 1, i, d>;
class FU32<string n, string i, string d> : Field<n, "u32", 1, i, d>;
class FF32<string n, string i, string d> : Field<n, "f32", 1, i, d>;
class FF64<string n, string i, string d> : Field<n, "f64", 1, i, d>;
/// A register the instruction reads or writes; an optional one may be left out.
class FRegister<string n, string d> : Field<n, "reg", 1, "", d>;
class FOptRegister<string n, string d> : Field<n, "reg", 1, "65535", d>; // isa::kNoRegister
class FWords<string n, int w, string d> : Field<n, "u32", w, "", d>;
class FPattern<string n, string d> : Field<n, "i32", 8, "0", d>; // four [step, num] pairs, outermost first
class FEnum<string n, TableEnum e, string i, string d> : Field<n, "enum", 1, i, d> {
  let enumType = e;
}
/// An enum of which the row takes the cases `cs`; the others break `rule`.
class FEnumOf<string n, TableEnum e, list<Case> cs, string rule, string i, string d>
    : FEnum<n, e, i, d> {
  let allowed = cs;
  let allowedRule = rule;
}

//---- rules -------------------------------------------------------------------------------------===//

/// An entry of the catalogue behind `kiln explain`: what the rule says, why the machine or the language has
/// it, what to write instead, and a kernel that breaks it beside one that does not. Every id used anywhere
/// has one; a test compiles and runs the examples.
class RuleText<string i, string t, string w, string f> {
  string id = i;
  string title = t;
  string why = w;
  string wayOut = f;
  // error, warning or note: what breaking it is. -W flags act on warnings.
  string severity = "error";
  bit isPerformance = 0; // a warning that is off unless -Wperf or -WID asks for it
  bit isDemotable = 0;   // an error that -Wno-error=ID turns into a warning

  // What the examples are, and where the wrong one is found out:
  //   kernel        while it is traced and compiled
  //   host          by the host compiler
  //   alone         the same, but it would spoil a file it shares with other examples
  //   unregistered  it lacks its NL_KERNEL
  //   run           by the executor
  //   asm           assembler text, when it is read or run
  //   none          no instruction there is can break the rule
  string form = "kernel";
  // The function `kernel` of an example, without its #include of nl/nl.h, using-declaration and NL_KERNEL.
  code wrong = "";
  code right = "";
  string arguments = "";      // of the command line
  string wrongArguments = ""; // of the wrong example, where they are the mistake
  string flags = "";          // of the wrong example: -Wperf, --cores 4
}

/// A rule beyond what the operands state (memory, dtype, presence). `check` names a function of
/// kiln/ISA/Rules.h; a rule without its function does not link. The id is the one users see.
class Rule<string i, string fn, string t> {
  string id = i;
  string check = fn;
  string text = t;
}

//---- cost --------------------------------------------------------------------------------------===//

/// Issue interval II = max(floor, perElement * N + issue) and latency LAT = perElement * N + latency,
/// in cycles of the engine; N is the number of elements per partition of the main input. perElement is
/// perElementNum / perElementDen.
class Cost<string eng, int num, int den, int iss, int lat, int flr, string src, string conf> {
  string engine = eng;
  int perElementNum = num;
  int perElementDen = den;
  int issueCycles = iss;
  int latencyCycles = lat;
  int floorCycles = flr;
  string source = src;
  string confidence = conf;
}

//---- instructions ------------------------------------------------------------------------------===//

class Inst<int op, string m, list<EngineRec> engs> {
  int opcode = op;            // never reused once released in a format version
  string mnemonic = m;        // as in nisa::
  string cppName = ?;
  string summary = ?;
  string description = ?;     // semantics in our words; becomes the op description and the manual page
  string example = ?;         // one line of IR, parsed by a test
  list<EngineRec> engines = engs; // legal engines; the first is taken when the author names none
  list<Operand> operands = [];
  list<Field> fields = [];
  list<Rule> rules = [];
  list<Cost> costs = [];
  string spec = "";           // paragraph of the public instruction reference
  bit isInternal = 0;         // emitted by the compiler only: no DSL builder, no nisa op
  // The executor's handler is generated: it calls the function of kilnrt/Semantics/Rows.h, declared from
  // this record. 0: the row needs more than its tiles and fields, and a handler is written by hand.
  bit isTileFunction = 0;
  // What the row does to the accumulators of its engine, one fp32 register for each row of the tile: the
  // name of the ReduceCmd field that says so, or of the one command it always is. "": nothing. They are
  // read out into the operand `reduce_res`, if the row has it.
  string accumulators = "";
  bit idleLosesAccumulators = 0; // the command idle leaves them without a value, not as they are
  // The elements move on a DMA ring (field `ring`), in shares; the engine only starts them. The limits of
  // an engine's access port do not hold, and only transfers reach HBM.
  bit isTransfer = 0;
  // It only looks: it has no output and reaches every memory, no limit of an engine's access port holds, and
  // whoever runs the program gets what it saw, under the text its field `text` numbers. The language has it
  // in nl::, not in nisa::.
  bit isObserver = 0;
  // It works on the registers of the engine's sequencer and runs there: it reaches every memory, one element at a
  // time, and no limit of an engine's access port holds.
  bit isSequencer = 0;
  // An element of an output may come from another partition: in place, the inputs are read in full first.
  bit crossesPartitions = 0;
}

#endif // KILN_TABLE_BASE_TD
