/// Reads challenges.
#include "transport/http_client/auth_challenge.hpp"

#include <algorithm>
#include <optional>

#include "base/ascii/characters.hpp"
#include "base/json/reader.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::transport::http_client {
namespace {

constexpr std::size_t most_challenges = 32;
constexpr std::size_t most_parameters = 32;

/// Goes through one field from left to right.
class field_cursor {
 public:
  explicit field_cursor(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool is_at_end() const noexcept { return rest_.empty(); }
  [[nodiscard]] bool is_at(char c) const noexcept { return rest_.starts_with(c); }

  bool skip_spaces() noexcept {
    const auto before = rest_.size();
    while (is_at(' ') || is_at('\t')) rest_.remove_prefix(1);
    return rest_.size() != before;
  }
  bool skip(char c) noexcept {
    if (!is_at(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Empty: there is none.
  std::string_view token() noexcept {
    std::size_t size = 0;
    while (size < rest_.size() && is_field_name(rest_.substr(size, 1))) ++size;
    const auto out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  /// What stands between quotes; nothing when they are never closed.
  std::optional<std::string> quoted() {
    if (!skip('"')) return std::nullopt;
    std::string out;
    while (!rest_.empty()) {
      if (skip('"')) return out;
      if (is_at('\\') && rest_.size() > 1) rest_.remove_prefix(1);
      out += rest_.front();
      rest_.remove_prefix(1);
    }
    return std::nullopt;
  }
  /// `= value` behind a name; nothing, and the cursor where it was, when that is not what follows.
  std::optional<std::string> value() {
    const auto before = rest_;
    skip_spaces();
    if (skip('=')) {
      skip_spaces();
      if (is_at('"')) return quoted();
      if (const auto plain = token(); !plain.empty()) return std::string(plain);
    }
    rest_ = before;
    return std::nullopt;
  }
  void skip_to_comma() {
    while (!rest_.empty() && !is_at(',')) {
      if (is_at('"')) {
        static_cast<void>(quoted());
      } else {
        rest_.remove_prefix(1);
      }
    }
  }

 private:
  std::string_view rest_;
};

void read_field(std::string_view field, std::vector<auth_challenge>& into) {
  field_cursor at(field);
  bool is_inside = false;  // parameters belong to the last challenge
  while (!at.is_at_end()) {
    at.skip_spaces();
    if (at.skip(',')) continue;
    auto name = at.token();
    auto value = name.empty() ? std::nullopt : at.value();
    if (!name.empty() && !value) {
      if (into.size() >= most_challenges) return;
      into.push_back({ascii::in_lower_case(name), {}});
      is_inside = true;
      if (!at.skip_spaces() || at.is_at(',')) continue;
      name = at.token();
      value = name.empty() ? std::nullopt : at.value();
    }
    if (value && is_inside && into.back().parameters.size() < most_parameters)
      into.back().parameters.emplace_back(ascii::in_lower_case(name), std::move(*value));
    // A token68 ends here too: no scheme that is understood here has one.
    at.skip_to_comma();
  }
}

/// Cut only afterwards, so that no part of the secret stays.
std::string without(std::string_view said, std::string_view secret) {
  constexpr std::size_t longest_reason = 300;
  std::string out(said);
  for (auto at = secret.empty() ? std::string::npos : out.find(secret); at != std::string::npos; at = out.find(secret, at + 1))
    out.replace(at, secret.size(), "…");
  if (out.size() > longest_reason) out.resize(longest_reason);
  return out;
}

}  // namespace

std::string_view auth_challenge::parameter(std::string_view name) const noexcept {
  const auto found = std::find_if(parameters.begin(), parameters.end(), [name](const auto& one) { return one.first == name; });
  return found == parameters.end() ? std::string_view() : std::string_view(found->second);
}

std::vector<auth_challenge> challenges_in(const std::vector<std::string>& fields) {
  std::vector<auth_challenge> out;
  for (const auto& field : fields) read_field(field, out);
  return out;
}

bool wants_more_scopes(const std::vector<std::string>& fields) {
  const auto all = challenges_in(fields);
  return std::any_of(all.begin(), all.end(), [](const auth_challenge& one) {
    return one.scheme == "bearer" && one.parameter("error") == "insufficient_scope";
  });
}

std::string reason_in(const std::vector<std::string>& fields, std::string_view body, std::string_view secret) {
  for (const auto& one : challenges_in(fields)) {
    if (const auto said = one.parameter("error_description"); !said.empty()) return without(said, secret);
  }
  const auto parsed = json::document::parse(body);
  if (!parsed) return {};
  const auto whole = parsed->root().as_object("");
  const auto error = whole ? whole->find_object("error") : std::nullopt;
  if (!error || !*error) return {};
  const auto message = (*error)->find_string("message");
  return message && *message ? without(**message, secret) : std::string();
}

}  // namespace hondana::transport::http_client
