/// What the program under attack serves, and what lies around it that nobody may ever be sent.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "program/folder.hpp"

namespace red_team {

/// Stands in everything that must not be read, and nowhere else.
inline constexpr std::string_view canary = "CANARY-5f2b81c07d";
/// Content of the files that may be read.
inline constexpr std::string_view inside = "inside the root";

/// A root with siblings of nearly its name, links that leave it, special files and secrets. Threads: one.
class shelf : public program_test::folder {
 public:
  shelf();
  ~shelf();

  /// The URI of something below the root; `below` is already encoded.
  [[nodiscard]] std::string root_uri(std::string_view below = {}) const { return uri("project" + std::string(below)); }
  /// The configuration that serves it; `more`: further tables.
  [[nodiscard]] std::string configuration(std::string_view more = {}) const;

 private:
  int socket_ = -1;
};

/// One URI that other servers were taken in by.
struct uri_shape {
  std::string_view kind;  ///< As in docs/security.md.
  std::string uri;
};
[[nodiscard]] std::vector<uri_shape> hostile_uris(const shelf& of);

/// All of it where that is wanted, as under the label `long`, and else a fiftieth.
inline std::size_t scaled(std::size_t full) {
  const char* how = std::getenv("HONDANA_RED_TEAM");
  return how != nullptr && std::string_view(how) == "full" ? full : full / 50;
}

}  // namespace red_team
