//===- TemporaryFolder.h - a folder that lives as long as a test ------------------------------===//
//
// Files of tests go nowhere else.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_UNIT_HOSTDATA_TEMPORARYFOLDER_H
#define KILN_TEST_UNIT_HOSTDATA_TEMPORARYFOLDER_H

#include <cstdlib>
#include <filesystem>
#include <string>

namespace kilnrt::test {

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kiln-test-XXXXXX").string();
    if (const char *made = mkdtemp(name.data()))
      folder = made;
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!folder.empty())
      std::filesystem::remove_all(folder, ignored);
  }

  const std::string &path() const { return folder; }
  std::string operator/(const std::string &name) const { return folder + "/" + name; }

private:
  std::string folder;
};

} // namespace kilnrt::test

#endif // KILN_TEST_UNIT_HOSTDATA_TEMPORARYFOLDER_H
