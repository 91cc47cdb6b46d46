/// The header fields a client sends with each POST.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

namespace transcripts {

using header_fields = std::vector<std::pair<std::string, std::string>>;

/// What the next POST carries: what the era of its message asks for, changed as the transcript says.
class post_headers {
 public:
  /// `NAME: VALUE`, instead of what would be sent. Returns what is wrong with it.
  [[nodiscard]] std::optional<std::string> add(std::string_view field);
  void leave_out(std::string_view name);

  /// The fields of a message; forgets what was added and left out. `revision`: empty before it is negotiated.
  [[nodiscard]] header_fields of_message(const boost::json::value& message, std::string_view revision);
  /// The fields of bytes that may be no message.
  [[nodiscard]] header_fields of_raw(std::string_view revision);
  /// The fields of a GET or DELETE.
  [[nodiscard]] header_fields of_bodiless(std::string_view revision);

 private:
  header_fields changed(header_fields fields);

  header_fields added_;
  std::vector<std::string> left_out_;
};

/// The text as a field value: itself, or `=?base64?...?=` where the specification wants that.
[[nodiscard]] std::string field_value(std::string_view text);

}  // namespace transcripts
