#pragma once

#include <string>

#include "reconciler/base/result.h"

namespace reconciler::spark_verify {

// A shared library that is found at run time and stays loaded until the process ends.
class Library {
 public:
  // A path, or a name that the loader looks for.
  static Result<Library> Open(const std::string& name);

  // False, and missing() names it, when the library has no such symbol.
  template <class Function>
  bool Find(const char* symbol, Function& function) const {
    function = reinterpret_cast<Function>(Symbol(symbol));
    if (function == nullptr) missing_ = symbol;
    return function != nullptr;
  }
  const std::string& missing() const { return missing_; }

 private:
  explicit Library(void* handle) : handle_(handle) {}
  void* Symbol(const char* name) const;

  void* handle_;
  mutable std::string missing_ = {};
};

// The file that an address of a loaded library came from, links followed.
std::string FindLibraryFile(const void* address);

}  // namespace reconciler::spark_verify
