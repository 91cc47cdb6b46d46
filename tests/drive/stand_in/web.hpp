/// Requests and answers of the stand-in, times and escapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace drive_test {

struct asked {
  std::string method;
  std::string path;   ///< Decoded segment by segment by who needs it; as it came.
  std::string query;  ///< As it came, without '?'.
  std::vector<std::pair<std::string, std::string>> parameters{};
  std::map<std::string, std::string> fields{};  ///< Names in lower case.
  std::string body{};

  /// The last of that name; empty when there is none.
  [[nodiscard]] std::string parameter(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
  /// "true" and "1".
  [[nodiscard]] bool is_set(std::string_view name) const;
  [[nodiscard]] std::string field(const std::string& name) const;
};

struct answer {
  int status = 200;
  std::string type = "application/json; charset=UTF-8";
  std::string body{};
  std::string more_fields{};  ///< Each ends with CRLF.
  bool is_chunked = false;    ///< Without a length, as exports come.
};

/// Ends the handling of a request: it is answered with this.
class refused : public std::exception {
 public:
  explicit refused(answer with) : with_(std::move(with)) {}
  [[nodiscard]] const char* what() const noexcept override { return "a request is refused"; }
  [[nodiscard]] const answer& with() const noexcept { return with_; }

 private:
  answer with_;
};

/// Percent escapes, and '+' as a space.
std::string unescaped(std::string_view text, bool is_form = true);
std::string escaped(std::string_view text);
/// Of a query or a form.
std::vector<std::pair<std::string, std::string>> form_of(std::string_view text);
std::string hex_of(std::string_view bytes);
std::string base64url(std::string_view bytes);
/// Nothing when it is none.
std::optional<std::string> from_base64url(std::string_view text);
std::string digest(const char* algorithm, std::string_view bytes);
/// Letters and digits, made up.
std::string made_up(std::size_t length);

/// Milliseconds since 1970.
std::int64_t now_ms();
/// "2026-01-02T03:04:05.678Z".
std::string rfc3339(std::int64_t ms);
/// Also without a fraction, with an offset, and a day alone; nothing for anything else.
std::optional<std::int64_t> time_of(std::string_view text);
/// As HTTP has it.
std::string http_date(std::int64_t ms);

}  // namespace drive_test
