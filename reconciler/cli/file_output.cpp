#include "reconciler/cli/file_output.h"

#include <unistd.h>

#include <iostream>

#include "reconciler/cli/files.h"

namespace reconciler::cli {

int FileOutput::Flush() {
  if (error_ == 0) {
    error_ = WriteAll(fd_, {pbase(), static_cast<std::size_t>(pptr() - pbase())});
  }
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  return error_;
}

FileOutput::int_type FileOutput::overflow(int_type character) {
  if (Flush() != 0) return traits_type::eof();
  if (!traits_type::eq_int_type(character, traits_type::eof())) {
    sputc(traits_type::to_char_type(character));
  }
  return traits_type::not_eof(character);
}

CheckedStdout::CheckedStdout() : output_(STDOUT_FILENO), before_(std::cout.rdbuf(&output_)) {}

CheckedStdout::~CheckedStdout() { std::cout.rdbuf(before_); }

StdoutToStderr::StdoutToStderr(bool active) : before_(std::cout.rdbuf()) {
  if (active) std::cout.rdbuf(std::cerr.rdbuf());
}

StdoutToStderr::~StdoutToStderr() { std::cout.rdbuf(before_); }

}  // namespace reconciler::cli
