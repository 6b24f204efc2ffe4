//===- MatmulShapesTest.cpp - every remainder of the matmul examples --------------------------===//
//
// All three kernels of examples/03_matmul.cpp at M, N, K in {1, 64, 127, 128, 129, 512, 513, 1000}:
// within the bound of their dtype against a float64 product of the rounded inputs (OpenBLAS), and
// equal to each other bit for bit. One test case a value of M and dtype, so that they run in
// parallel.
//
//===------------------------------------------------------------------------------------------===//

#define main exampleMain
#include "03_matmul.cpp"
#undef main

#include <cblas.h>
#include <gtest/gtest.h>

#include <map>

namespace {

constexpr int64_t kSizes[] = {1, 64, 127, 128, 129, 512, 513, 1000};

struct Case {
  int64_t M;
  const char *dtype;
  double bound; ///< on the error relative to the product, in the Euclidean norm
};

/// One operand: as the kernel takes it, and its rounded values in float64.
struct Matrix {
  nl::Array array;
  std::vector<double> values;
};

const Matrix &matrix(int64_t rows, int64_t columns, const std::string &dtype, int seed) {
  static std::map<std::string, Matrix> made;
  std::string form = "rand:" + std::to_string(rows) + "x" + std::to_string(columns) + ":" + dtype +
                     ":" + std::to_string(seed);
  auto it = made.find(form);
  if (it == made.end()) {
    Matrix m{nl::Array(form.c_str()), {}};
    for (int64_t i = 0; i < m.array.size(); ++i)
      m.values.push_back(m.array[i]);
    it = made.emplace(form, std::move(m)).first;
  }
  return it->second;
}

/// Errors relative to the float64 product, in the Euclidean norm.
struct Errors {
  double found;
  double least; ///< of the product itself, rounded to the result's dtype
};

Errors relativeErrors(const Matrix &lhsT, const Matrix &rhs, const nl::Array &result) {
  const int K = int(lhsT.array.shape()[0]), M = int(lhsT.array.shape()[1]),
            N = int(rhs.array.shape()[1]);
  std::vector<double> product(size_t(M) * N);
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, M, N, K, 1.0, lhsT.values.data(), M,
              rhs.values.data(), N, 0.0, product.data(), N);
  nl::Array rounded = result;
  double found = 0, least = 0, norm = 0;
  for (size_t i = 0; i < product.size(); ++i) {
    rounded.set(int64_t(i), product[i]);
    found += std::pow(result[int64_t(i)] - product[i], 2);
    least += std::pow(rounded[int64_t(i)] - product[i], 2);
    norm += product[i] * product[i];
  }
  return {std::sqrt(found / norm), std::sqrt(least / norm)};
}

class MatmulShapes : public testing::TestWithParam<Case> {};

TEST_P(MatmulShapes, AreRightAndTheVariantsAgree) {
  const auto [M, dtype, bound] = GetParam();
  for (int64_t K : kSizes)
    for (int64_t N : kSizes) {
      SCOPED_TRACE(testing::Message() << "M=" << M << " K=" << K << " N=" << N);
      const Matrix &lhsT = matrix(K, M, dtype, 1), &rhs = matrix(K, N, dtype, 2);
      const nl::Array tiled = nl::execute("matmul_tiled", {lhsT.array, rhs.array}).front();

      // Rounding one element to bfloat16 costs up to 1/257 = 3.9e-3, which a result of a single
      // element cannot average out: there the bound is what the rounded product itself has.
      Errors errors = relativeErrors(lhsT, rhs, tiled);
      ASSERT_LE(errors.found, std::max(bound, errors.least * 1.001));
      ASSERT_TRUE(nl::execute("matmul_hoisted", {lhsT.array, rhs.array}).front().sameBits(tiled));
      ASSERT_TRUE(nl::execute("matmul_blocked", {lhsT.array, rhs.array}).front().sameBits(tiled));
    }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (int64_t M : kSizes) {
    all.push_back({M, "float32", 1e-6});
    all.push_back({M, "bfloat16", 3e-3});
  }
  return all;
}

/// How a failed case names itself.
void PrintTo(const Case &c, std::ostream *os) { *os << "M=" << c.M << " " << c.dtype; }

INSTANTIATE_TEST_SUITE_P(AllSizes, MatmulShapes, testing::ValuesIn(cases()), [](const auto &info) {
  return "M" + std::to_string(info.param.M) + "_" + info.param.dtype;
});

} // namespace
