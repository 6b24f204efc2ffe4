//===- Parse.cpp - graphs from text -----------------------------------------------------------===//
//
// One line at a time, words separated by blanks. Attributes are keywords with one value and may
// come in any order.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Tile/Parse.h"

#include "GraphSupport.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <map>

using namespace kiln;
using namespace kiln::tile;

namespace {

constexpr Op kOps[] = {Op::Load,   Op::Store,     Op::Materialize, Op::Splat,   Op::Iota,
                       Op::Unary,  Op::Binary,    Op::Select,      Op::Cast,    Op::Matmul,
                       Op::Reduce, Op::Transpose, Op::Reshape,     Op::Slice,   Op::Concat,
                       Op::Pad,    Op::Broadcast, Op::Softmax,     Op::RmsNorm, Op::LayerNorm};

/// The words of one line. Each `take` function moves on when it succeeds.
class Words {
public:
  explicit Words(std::string_view line) : rest(line) { skip(); }

  bool atEnd() const { return rest.empty(); }
  /// The next word, up to a blank; a comma at its end does not belong to it.
  std::string_view peek() const {
    std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
    return word.size() > 1 && word.back() == ',' ? word.substr(0, word.size() - 1) : word;
  }
  std::string_view word() {
    const std::string_view out = peek();
    rest.remove_prefix(out.size());
    if (!rest.empty() && rest.front() == ',')
      rest.remove_prefix(1);
    skip();
    return out;
  }
  bool take(std::string_view expected) {
    if (peek() != expected)
      return false;
    word();
    return true;
  }
  template <typename Number>
  bool number(Number &out) {
    const std::string_view digits = peek();
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    if (code != std::errc() || end != digits.data() + digits.size())
      return false;
    word();
    return true;
  }
  /// "(1, 2)", "(1,)" or "()".
  bool tuple(std::vector<int64_t> &out) {
    const size_t close = rest.find(')');
    if (rest.empty() || rest.front() != '(' || close == std::string_view::npos)
      return false;
    Words inner(rest.substr(1, close - 1));
    while (!inner.atEnd()) {
      int64_t value;
      if (!inner.number(value))
        return false;
      out.push_back(value);
    }
    rest.remove_prefix(close + 1);
    skip();
    return true;
  }

private:
  void skip() {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t' || rest.front() == '\r'))
      rest.remove_prefix(1);
  }
  std::string_view rest;
};

class Parser {
public:
  Parser(Graph &graph, std::string &error) : graph(graph), error(error) {}

  bool line(std::string_view text) {
    Words words(text);
    if (words.atEnd() || text.starts_with("//"))
      return true;
    const bool isBuffer = words.peek().starts_with('@');
    return isBuffer ? buffer(words) : node(words);
  }

private:
  bool fail(std::string message) {
    error = std::move(message);
    return false;
  }
  bool unexpected(Words &words, std::string_view wanted) {
    return fail(words.atEnd() ? text("the line ends where ", wanted, " is expected")
                              : text("'", words.peek(), "' stands where ", wanted, " is expected"));
  }

  /// ": 128x512 float32" and the end of the line.
  bool type(Words &words, Shape &shape, isa::DType &dtype) {
    if (!words.take(":"))
      return unexpected(words, "an attribute or ':'");
    std::string_view extents = words.peek();
    if (extents != "scalar")
      for (bool more = true; more;) {
        const size_t cross = extents.find('x');
        int64_t extent;
        const std::string_view digits = extents.substr(0, cross);
        const auto [end, code] =
            std::from_chars(digits.data(), digits.data() + digits.size(), extent);
        if (code != std::errc() || end != digits.data() + digits.size())
          return unexpected(words, "a shape such as 128x512");
        shape.push_back(extent);
        more = cross != std::string_view::npos;
        extents.remove_prefix(more ? cross + 1 : extents.size());
      }
    words.word();
    const std::optional<isa::DType> parsed = isa::parseDType(words.peek());
    if (!parsed)
      return unexpected(words, "a dtype");
    dtype = *parsed;
    words.word();
    return words.atEnd() || unexpected(words, "the end of the line");
  }

  bool memory(Words &words, isa::Memory &out) {
    const std::optional<uint32_t> value = isa::valueOf(isa::memoryCases(), words.peek());
    if (!value)
      return unexpected(words, "a memory");
    out = isa::Memory(*value);
    words.word();
    return true;
  }

  bool buffer(Words &words) {
    Buffer out;
    out.name = words.word().substr(1);
    if (out.name.empty() || names.contains(out.name))
      return fail(text("a buffer needs a name of its own, this one has '", out.name, "'"));
    if (!words.take("="))
      return unexpected(words, "'='");
    if (!memory(words, out.memory))
      return false;
    for (const auto &[word, role] :
         {std::pair("input", Buffer::Role::Input), std::pair("output", Buffer::Role::Output)})
      if (words.take(word)) {
        out.role = role;
        if (!words.number(out.index))
          return unexpected(words, "a number");
      }
    if (!type(words, out.shape, out.dtype))
      return false;
    names.emplace(out.name, uint32_t(graph.buffers.size()));
    graph.buffers.push_back(std::move(out));
    return true;
  }

  bool node(Words &words) {
    if (!words.take(text("%", graph.nodes.size())))
      return unexpected(words, text("'%", graph.nodes.size(), "', the number of the node,"));
    if (!words.take("="))
      return unexpected(words, "'='");
    Node out;
    if (!operation(words, out) || !operands(words, out))
      return false;
    bool hasStrides = false;
    while (!words.atEnd() && words.peek() != ":")
      if (!attribute(words, out, hasStrides))
        return false;
    if (!type(words, out.shape, out.dtype))
      return false;
    if (!hasStrides && out.view.buffer != kNone)
      fillView(out);
    graph.add(std::move(out));
    return true;
  }

  bool operation(Words &words, Node &out) {
    const std::string_view spelled = words.peek();
    bool isKnown = false;
    for (Op op : kOps)
      if (name(op) == spelled) {
        out.op = op;
        isKnown = true;
      }
    if (!isKnown)
      return unexpected(words, "an operation");
    words.word();
    if (out.op == Op::Unary) {
      const auto fn = isa::valueOf(isa::actFnCases(), words.peek());
      if (!fn)
        return unexpected(words, "a function");
      out.fn = isa::ActFn(*fn);
      words.word();
    }
    if (out.op == Op::Binary || out.op == Op::Reduce) {
      const auto alu = isa::valueOf(isa::aluOpCases(), words.peek());
      if (!alu)
        return unexpected(words, "an operator");
      out.alu = isa::AluOp(*alu);
      words.word();
    }
    return true;
  }

  bool operands(Words &words, Node &out) {
    while (words.peek().starts_with('%')) {
      const std::string_view spelled = words.peek().substr(1);
      Words digits(spelled);
      NodeId id;
      if (!digits.number(id))
        return unexpected(words, "an operand such as %0");
      out.operands.push_back(id);
      words.word();
    }
    if (words.peek().starts_with('@')) {
      const auto found = names.find(words.peek().substr(1));
      if (found == names.end())
        return unexpected(words, "a buffer");
      out.view.buffer = found->second;
      words.word();
    }
    return true;
  }

  bool real(Words &words, double &out) {
    if (words.take("nan"))
      out = std::numeric_limits<double>::quiet_NaN();
    else if (words.take("inf"))
      out = std::numeric_limits<double>::infinity();
    else if (words.take("-inf"))
      out = -std::numeric_limits<double>::infinity();
    else
      return words.number(out) || unexpected(words, "a number");
    return true;
  }

  bool attribute(Words &words, Node &out, bool &hasStrides) {
    const std::string_view key = words.word();
    const auto list = [&](std::vector<int64_t> &into) {
      return words.tuple(into) || unexpected(words, "a list such as (0, 1)");
    };
    const auto count = [&](auto &into) {
      return words.number(into) || unexpected(words, "a whole number");
    };
    if (key == "axes")
      return list(out.axes);
    if (key == "starts")
      return list(out.starts);
    if (key == "ends")
      return list(out.ends);
    if (key == "steps")
      return list(out.steps);
    if (key == "strides")
      return hasStrides = true, list(out.view.stride);
    if (key == "partition")
      return count(out.view.partition);
    if (key == "offset")
      return count(out.view.offset);
    if (key == "axis")
      return count(out.axis);
    if (key == "number")
      return real(words, out.number);
    if (key == "after")
      return count(out.position);
    if (key == "keepdims")
      return out.keepDims = true;
    if (key == "transpose_x")
      return out.transposeX = true;
    if (key == "transpose_y")
      return out.transposeY = true;
    if (key == "from_identity")
      return out.order.fromIdentity = true;
    if (key == "left_to_right")
      return out.order.kind = Order::Kind::LeftToRight, true;
    if (key == "chunks")
      return out.order.kind = Order::Kind::Chunks, count(out.order.chunk);
    if (key == "hint_partition")
      return count(out.hint.partitionDim.emplace());
    if (key == "hint_tile")
      return list(out.hint.tile);
    if (key == "hint_buffers")
      return count(out.hint.buffers.emplace());
    if (key == "hint_in")
      return memory(words, out.hint.in.emplace());
    return fail(text("'", key, "' is no attribute"));
  }

  /// The strides of a whole buffer.
  void fillView(Node &out) {
    const bool isHbm = graph.buffers[out.view.buffer].memory == isa::Memory::Hbm;
    out.view.stride.assign(out.shape.size(), 1);
    int64_t step = 1;
    for (size_t i = out.shape.size(); i-- > 0;) {
      out.view.stride[i] = i == 0 && !isHbm ? 1 : step;
      if (__builtin_mul_overflow(step, out.shape[i], &step))
        step = 0; // no such buffer exists; the verifier says so
    }
  }

  Graph &graph;
  std::string &error;
  std::map<std::string, uint32_t, std::less<>> names;
};

} // namespace

std::optional<Graph> tile::parse(std::string_view source, std::string &error) {
  Graph graph;
  Parser parser(graph, error);
  for (size_t lineNumber = 1; !source.empty(); ++lineNumber) {
    const size_t end = std::min(source.find('\n'), source.size());
    if (!parser.line(source.substr(0, end))) {
      error = text("line ", lineNumber, ": ", error);
      return std::nullopt;
    }
    source.remove_prefix(std::min(end + 1, source.size()));
  }
  return graph;
}
