#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace reconciler {

// Who wrote a document, and when.
struct DocumentHead {
  std::string program;  // its version
  std::string time;     // RFC 3339, UTC
};

// The document with the head behind its format, as every JSON document of the program begins. The
// layers that make documents have no clock, so that the same values give the same bytes there.
// Precondition: `document` has a format.
nlohmann::ordered_json AddHead(nlohmann::ordered_json document, const DocumentHead& head);

}  // namespace reconciler
