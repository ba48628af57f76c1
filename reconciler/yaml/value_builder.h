#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/value.h"

namespace reconciler {

// What is wrong with a document, before it becomes an Error.
struct Refusal {
  Position position = {};
  std::string message = {};
  std::string hint = {};
};

// Builds a Value from a parser's events and keeps the limits of yaml_document.h. After the first
// refusal every further event is ignored, so that no exception has to cross the parser.
class ValueBuilder {
 public:
  using Anchor = std::size_t;  // 0: none

  enum class Style { kPlain, kText };  // plain text has its type resolved; quoted text is text

  void AddScalar(Position position, std::string_view text, Style style, Anchor anchor);
  // `own`: that of ~ or null, or of the '-' of an entry; nothing at all has that of the key or list
  // around it.
  void AddNull(Position position, std::optional<Position> own, Anchor anchor);
  void BeginList(Position position, Anchor anchor) {
    Begin(position, std::vector<Value>(), anchor);
  }
  void BeginMap(Position position, Anchor anchor) {
    Begin(position, std::vector<Member>(), anchor);
  }
  void End();
  void AddAlias(Position position, Anchor anchor);
  void Refuse(Position position, std::string message, std::string hint = {});

  const std::optional<Refusal>& refusal() const { return refusal_; }
  // Where the list or map that is still open begins.
  std::optional<Position> OpenSince() const;
  bool IsInList() const { return !open_.empty() && open_.back().value.IsList(); }
  Value TakeValue() { return std::move(root_); }

 private:
  struct Size {
    std::size_t values = 0;
    std::size_t bytes = 0;
    std::size_t height = 0;  // levels, 1 for a scalar
  };
  struct Frame {
    Value value = {};
    Anchor anchor = 0;
    Size size = {};
    std::optional<Member> key = std::nullopt;   // of the member whose value comes next
    std::map<std::string, Position> keys = {};  // seen in this map
  };
  struct Anchored {
    Value value = {};
    Size size = {};
  };

  bool WantsKey() const;
  void TakeKey(Position position, Value value);
  void Begin(Position position, decltype(Value::data) data, Anchor anchor);
  void Place(Value value, Size size, Anchor anchor);
  bool Charge(Position position, const Size& size);  // false: over the limit, and refused

  std::vector<Frame> open_;
  std::map<Anchor, Anchored> anchors_;
  Size total_;
  Value root_;
  std::optional<Refusal> refusal_;
};

}  // namespace reconciler
