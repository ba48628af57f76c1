#pragma once

#include <cstdlib>

#include <filesystem>
#include <string>

namespace reconciler::test {

// An empty folder of this test alone, which goes with the test: tests run beside each other, and
// leave nothing behind.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "spark-test-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) std::abort();  // no test can go on
    path_ = path;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& Path() const { return path_; }

 private:
  std::filesystem::path path_ = {};
};

}  // namespace reconciler::test
