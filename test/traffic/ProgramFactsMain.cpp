//===- ProgramFactsMain.cpp - program-facts: counts of a program file as JSON -----------------===//

#include "ProgramFacts.h"
#include "kiln/ISA/DiagnosticText.h"

#include <iostream>

/// A name of a kernel's parameter or result holds nothing that JSON would escape.
static void printTensors(const kilnrt::Program &program, const kiln::test::ProgramFacts &facts) {
  constexpr std::string_view roles[] = {"internal", "input", "output", "constant"};
  const char *separator = "";
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const kilnrt::TensorInfo &tensor = program.tensors[i];
    if (tensor.memory != kiln::isa::Memory::Hbm)
      continue;
    std::cout << separator << "\n    {\"name\": \"" << tensor.name
              << "\", \"bytes\": " << tensor.freeBytes() << ", \"role\": \""
              << roles[size_t(tensor.role)] << "\""
              << ", \"read\": " << facts.tensors[i].readBytes
              << ", \"written\": " << facts.tensors[i].writtenBytes << "}";
    separator = ",";
  }
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: program-facts PROGRAM.kiln\n";
    return 2;
  }
  const auto program = kilnrt::loadFile(argv[1]);
  if (!program) {
    std::cerr << kiln::toText(program.error());
    return 1;
  }
  const auto facts = kiln::test::factsOf(*program);
  if (!facts) {
    std::cerr << kiln::toText(facts.error());
    return 1;
  }
  std::cout << "{\n  \"instructions\": " << facts->instructions
            << ",\n  \"waits\": " << facts->waits << ",\n  \"transfers\": " << facts->transfers
            << ",\n  \"read\": " << facts->readBytes << ",\n  \"written\": " << facts->writtenBytes
            << ",\n  \"sbufEnd\": " << facts->sbufEnd << ",\n  \"tensors\": [";
  printTensors(*program, *facts);
  std::cout << "\n  ]\n}\n";
  return 0;
}
