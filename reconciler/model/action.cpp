#include "reconciler/model/action.h"

#include "reconciler/base/text.h"

namespace reconciler {

Trial GetTrial(const Action& action) {
  if (const auto* write = std::get_if<WriteFile>(&action)) return write->trial;
  if (const auto* remove = std::get_if<RemoveFile>(&action)) return remove->trial;
  return {};
}

std::string Describe(const Action& action) {
  struct Visitor {
    std::string operator()(const WriteFile& write) const { return "write " + write.path; }
    std::string operator()(const RemoveFile& remove) const { return "remove " + remove.path; }
    std::string operator()(const RunCommand& command) const {
      return "run " + Join(command.argv, " ");
    }
  };
  return MakePrintable(std::visit(Visitor{}, action));
}

}  // namespace reconciler
