#pragma once

#include <optional>
#include <string>
#include <vector>

namespace reconciler {

// What kind of thing went wrong. The kind decides the exit code and whether a retry makes sense.
enum class ErrorKind {
  kUsage,      // the command line
  kManifest,   // cluster.yaml
  kTransport,  // a node could not be reached, or the connection broke
  kProbe,      // a node answered, but not in a form that we understand
  kApply,      // a step on a node failed
  kStale,      // a saved plan no longer fits the nodes
  kVerify,     // a measurement failed
  kLocked,     // another controller holds the lock
  kInput,      // a file other than the manifest (a saved plan, recorded facts)
};

// A place in a text file. Lines and columns count from 1; 0 means "not known".
struct Position {
  int line = 0;
  int column = 0;
  bool operator==(const Position&) const = default;
};

struct SourceMark {
  std::string file;
  Position position;
  bool operator==(const SourceMark&) const = default;
};

// message: lower case, no full stop, names what was wanted and what was found.
// context: outermost first ("while probing spark-2"). hint: one line that says what to do.
struct Error {
  ErrorKind kind = ErrorKind::kUsage;
  std::string message;
  std::optional<SourceMark> where = std::nullopt;
  std::string source_line;  // the line that `where` points into, without its newline
  std::vector<std::string> context;
  std::string hint;
  std::string code;  // of the catalogue, as of a Diagnostic; only of an error of the manifest
  bool operator==(const Error&) const = default;
};

using Errors = std::vector<Error>;

// "file:line:col: context: message", the source line with a caret below the column, and
// "  hint: …"; lines that have nothing to say are left out. Ends with a newline.
std::string FormatError(const Error& error);
std::string FormatErrors(const Errors& errors);

// An error about one node, which is its context.
Error MakeNodeError(ErrorKind kind, std::string node, std::string message);

// The same error with one more level of context around it.
Error AddContext(Error error, std::string context);

}  // namespace reconciler
