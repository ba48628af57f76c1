#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace reconciler {

// What can flow at once between two points of a network of full-duplex lines.
class FlowNetwork {
 public:
  // The point of that name; made when it is new.
  std::size_t FindOrAddPoint(const std::string& name);
  // `capacity` each way, in any unit. Lines between the same two points add up.
  void Join(std::size_t a, std::size_t b, std::int64_t capacity);
  // Precondition: from and to differ.
  std::int64_t ComputeMaxFlow(std::size_t from, std::size_t to) const;

 private:
  struct Line {
    std::size_t a = 0;
    std::size_t b = 0;
    std::int64_t capacity = 0;
  };
  std::map<std::string, std::size_t> points_;
  std::vector<Line> lines_;
};

}  // namespace reconciler
