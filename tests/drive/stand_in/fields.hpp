/// The parameter `fields`: what of a resource an answer has.
#pragma once

#include <boost/json/value.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace drive_test {

/// A tree of names; a leaf takes all that is below.
struct field_mask {
  std::map<std::string, field_mask, std::less<>> below{};
  [[nodiscard]] bool takes_all() const noexcept { return below.empty() || below.contains("*"); }
};

/// "nextPageToken,files(id,owners/emailAddress)". Nothing for what is malformed.
std::optional<field_mask> parse_fields(std::string_view text);
/// What is left of a value.
boost::json::value masked(const boost::json::value& whole, const field_mask& by);

}  // namespace drive_test
