#include "reconciler/spark_verify/nccl/library.h"

#include <dlfcn.h>

#include <filesystem>

namespace reconciler::spark_verify {

Result<Library> Library::Open(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return Library(handle);
  const char* why = dlerror();
  return Fail({.kind = ErrorKind::kVerify, .message = why != nullptr ? why : ""});
}

void* Library::Symbol(const char* name) const { return dlsym(handle_, name); }

std::string FindLibraryFile(const void* address) {
  Dl_info info = {};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code error;
  const auto path = std::filesystem::canonical(info.dli_fname, error);
  return error ? info.dli_fname : path.string();
}

}  // namespace reconciler::spark_verify
