/// Where an export link may lead, and who sees our token there.
#pragma once

#include <string>

namespace hondana::drive {

struct link_place {
  bool is_allowed = false;
  bool has_token = false;
  /// Where Google asks people to log in: a redirect there means that the token was not taken.
  bool is_log_in = false;
};

/// `url`: as Drive or a redirect says it. `base`: the client's own. Allowed: the base's origin; by https: at its usual port,
/// google.com, googleapis.com, googleusercontent.com and what lies below them. The token is for docs.google.com,
/// *.googleapis.com and the base.
[[nodiscard]] link_place place_of_link(const std::string& url, const std::string& base);

/// `location` as seen from `url`, without its fragment. Empty: it leads nowhere.
[[nodiscard]] std::string next_link(const std::string& url, const std::string& location);

}  // namespace hondana::drive
