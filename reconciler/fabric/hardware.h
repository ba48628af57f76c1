#pragma once

#include <array>
#include <string_view>

namespace reconciler {

// One PCIe function of a cage. Both twins of a cage share its cable, each with half of its width.
struct Twin {
  std::string_view netdev;
  std::string_view hca;
};

struct Cage {
  std::string_view name;
  std::array<Twin, 2> twins;
};

// What the kernel of one kind of machine calls its fast ports.
struct Hardware {
  std::string_view name;
  std::array<Cage, 2> cages;

  const Cage* FindCage(std::string_view cage) const;
};

const Hardware& DgxSpark();

}  // namespace reconciler
