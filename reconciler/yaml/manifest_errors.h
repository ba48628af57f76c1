#pragma once

#include <string>
#include <utility>

#include "reconciler/base/manifest_error.h"

namespace reconciler {

// What is wrong with a manifest, as it is found.
class ManifestErrors {
 public:
  explicit ManifestErrors(std::string file) : file_(std::move(file)) {}

  void Add(std::string code, Position position, std::string message, std::string hint = {}) {
    errors_.push_back(MakeManifestError(std::move(code), SourceMark{file_, position},
                                        std::move(message), std::move(hint)));
  }
  // None yet, of the same file: for checks that go on only while they found nothing themselves.
  ManifestErrors MakeEmpty() const { return ManifestErrors(file_); }
  void Add(Errors errors) {
    for (Error& error : errors) errors_.push_back(std::move(error));
  }
  // "cluster.yaml:5:11", for messages that name a second place.
  std::string Mark(Position position) const {
    return file_ + ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
  }
  bool Empty() const { return errors_.empty(); }
  std::size_t Count() const { return errors_.size(); }
  Errors TakeErrors() { return std::move(errors_); }

 private:
  std::string file_;
  Errors errors_;
};

}  // namespace reconciler
