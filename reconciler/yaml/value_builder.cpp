#include "reconciler/yaml/value_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reconciler/yaml/message_text.h"
#include "reconciler/yaml/yaml_scalar.h"

namespace reconciler {
namespace {

constexpr std::size_t kMostValues = 100'000;
constexpr std::size_t kMostBytes = 4u << 20;  // of text, with all aliases expanded
constexpr std::size_t kMostLevels = 64;
constexpr std::size_t kLongestWritten = 60;  // bytes of a number that a message shows as it stands

std::string DescribeKind(const Value& value) {
  if (value.IsNull()) return "nothing";
  if (value.IsMap()) return "a map";
  if (value.IsList()) return "a list";
  return value.AsBool() != nullptr ? value.WrittenText() : "the number " + value.WrittenText();
}

std::string FindKeyHint(const Value& value) {
  if (value.IsNull()) return "write the key before the ':'";
  // What is left open swallows the lines after it, and comes out as a key.
  if (value.IsMap() || value.IsList()) return "check for a missing closing bracket";
  return "put the key in quotes";
}

}  // namespace

void ValueBuilder::Refuse(Position position, std::string message, std::string hint) {
  if (!refusal_) refusal_ = Refusal{position, std::move(message), std::move(hint)};
}

std::optional<Position> ValueBuilder::OpenSince() const {
  if (open_.empty()) return std::nullopt;
  return open_.back().value.position;
}

bool ValueBuilder::WantsKey() const {
  return !open_.empty() && open_.back().value.IsMap() && !open_.back().key;
}

bool ValueBuilder::Charge(Position position, const Size& size) {
  total_.values += size.values;
  total_.bytes += size.bytes;
  if (total_.values > kMostValues) {
    Refuse(position, fmt::format("wanted at most {} values with all aliases expanded, found more",
                                 kMostValues));
  } else if (total_.bytes > kMostBytes) {
    Refuse(position, "wanted at most 4 MiB of text with all aliases expanded, found more");
  } else if (open_.size() + size.height > kMostLevels) {
    Refuse(position,
           fmt::format("wanted at most {} levels of lists and maps, found more", kMostLevels));
  }
  return !refusal_;
}

void ValueBuilder::AddScalar(Position position, std::string_view text, Style style, Anchor anchor) {
  if (refusal_) return;
  // No program on a node takes it, and a C string ends there: what is behind would go unchecked.
  if (text.find('\0') != std::string_view::npos) {
    return Refuse(position, fmt::format("wanted text without NUL, found {}", Quoted(text)));
  }
  Value value{std::string(text), position};
  if (style == Style::kPlain) {
    auto resolved = ResolvePlainScalar(text);
    if (!resolved) {
      return Refuse(position, fmt::format("{} {}", Quoted(text), resolved.error()),
                    "put it in quotes if it is meant as text");
    }
    value.data = *std::move(resolved);
    const bool is_other =
        value.AsString() == nullptr && !value.IsNull() && text != value.ScalarText();
    if (is_other && text.size() <= kLongestWritten) value.written = text;
  }
  const Size size{1, text.size(), 1};
  if (!Charge(position, size)) return;
  if (WantsKey()) return TakeKey(position, std::move(value));
  Place(std::move(value), size, anchor);
}

void ValueBuilder::AddNull(Position position, std::optional<Position> own, Anchor anchor) {
  if (refusal_) return;
  if (WantsKey()) return TakeKey(position, Value{nullptr, position});
  // Of nothing at all the parser names the token that comes after it.
  if (own) {
    position = *own;
  } else if (!open_.empty()) {
    const Frame& frame = open_.back();
    position = frame.key ? frame.key->key_position : frame.value.position;
  }
  const Size size{1, 0, 1};
  if (Charge(position, size)) Place(Value{nullptr, position}, size, anchor);
}

void ValueBuilder::TakeKey(Position position, Value value) {
  Frame& frame = open_.back();
  const std::string* text = value.AsString();
  if (text == nullptr) {
    return Refuse(position, "wanted text as a key, found " + DescribeKind(value),
                  FindKeyHint(value));
  }
  const auto [first, fresh] = frame.keys.emplace(*text, position);
  if (!fresh) {
    return Refuse(position,
                  fmt::format("key {} stands twice in one map, first at line {}, column {}",
                              Quoted(*text), first->second.line, first->second.column),
                  "leave one of them out");
  }
  frame.key = Member{*text, position, {}};
}

void ValueBuilder::Begin(Position position, decltype(Value::data) data, Anchor anchor) {
  if (refusal_) return;
  Value value{std::move(data), position};
  if (WantsKey()) return TakeKey(position, std::move(value));
  const Size size{1, 0, 1};
  if (!Charge(position, size)) return;
  open_.push_back(Frame{std::move(value), anchor, size});
}

void ValueBuilder::End() {
  if (refusal_) return;
  Frame frame = std::move(open_.back());
  open_.pop_back();
  Place(std::move(frame.value), frame.size, frame.anchor);
}

void ValueBuilder::AddAlias(Position position, Anchor anchor) {
  if (refusal_) return;
  const auto anchored = anchors_.find(anchor);
  if (anchored == anchors_.end()) {
    return Refuse(position, "found an alias inside the value that it stands for");
  }
  Value value = anchored->second.value;
  value.position = position;
  if (!Charge(position, anchored->second.size)) return;
  if (WantsKey()) return TakeKey(position, std::move(value));
  Place(std::move(value), anchored->second.size, 0);
}

void ValueBuilder::Place(Value value, Size size, Anchor anchor) {
  if (anchor != 0) {
    if (!Charge(value.position, size)) return;  // the copy that aliases are made from
    anchors_[anchor] = Anchored{value, size};
  }
  if (open_.empty()) {
    root_ = std::move(value);
    return;
  }
  Frame& frame = open_.back();
  frame.size.values += size.values;
  frame.size.bytes += size.bytes;
  frame.size.height = std::max(frame.size.height, size.height + 1);
  if (frame.key) {
    frame.key->value = std::move(value);
    std::get<std::vector<Member>>(frame.value.data).push_back(std::move(*frame.key));
    frame.key.reset();
  } else {
    std::get<std::vector<Value>>(frame.value.data).push_back(std::move(value));
  }
}

}  // namespace reconciler
