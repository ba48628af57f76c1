#pragma once

#include <array>
#include <streambuf>

namespace reconciler::cli {

// What is written to a stream goes to a file descriptor. The first error is remembered, and what
// follows it is dropped: a result that is not whole must not pass for one.
class FileOutput : public std::streambuf {
 public:
  explicit FileOutput(int fd) : fd_(fd) { setp(buffer_.data(), buffer_.data() + buffer_.size()); }
  ~FileOutput() override { Flush(); }
  FileOutput(const FileOutput&) = delete;
  FileOutput& operator=(const FileOutput&) = delete;

  // errno of the first write that failed, after all has been written; 0: none did.
  int Flush();

 protected:
  int_type overflow(int_type character) override;
  int sync() override { return Flush() == 0 ? 0 : -1; }

 private:
  int fd_;
  int error_ = 0;
  std::array<char, 65536> buffer_;
};

// As long as it lives, std::cout writes through a FileOutput.
class CheckedStdout {
 public:
  CheckedStdout();
  ~CheckedStdout();
  CheckedStdout(const CheckedStdout&) = delete;
  CheckedStdout& operator=(const CheckedStdout&) = delete;

  int Flush() { return output_.Flush(); }  // see FileOutput

 private:
  FileOutput output_;
  std::streambuf* before_;
};

// As long as it lives, and where `active`, what is printed to std::cout goes to stderr: stdout is
// for something else.
class StdoutToStderr {
 public:
  explicit StdoutToStderr(bool active);
  ~StdoutToStderr();
  StdoutToStderr(const StdoutToStderr&) = delete;
  StdoutToStderr& operator=(const StdoutToStderr&) = delete;

 private:
  std::streambuf* before_;
};

}  // namespace reconciler::cli
