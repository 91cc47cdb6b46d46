/// A reader of the list that RFC 9110 makes of challenges, in which commas part both challenges and their parameters.
#include "oauth/challenge.hpp"

#include <algorithm>

namespace hondana::oauth {
namespace {

bool is_token_octet(char c) noexcept {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || others.find(c) != std::string_view::npos;
}

bool is_token68_octet(char c) noexcept {
  constexpr std::string_view others = "-._~+/";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || others.find(c) != std::string_view::npos;
}

bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

class reader {
 public:
  explicit reader(std::string_view text) noexcept : text_(text) {}

  result<std::vector<server_challenge>> read() {
    std::vector<server_challenge> out;
    for (skip_commas(); !is_at_end(); skip_commas()) {
      const auto word = take(is_token_octet);
      if (word.empty()) return broken("expected a scheme");
      if (out.size() == most_challenges) return broken("there are too many challenges");
      out.push_back({lower(word), {}, {}});
      if (auto rest = read_rest(out.back()); !rest) return tl::unexpected(std::move(rest.error()));
    }
    return out;
  }

 private:
  [[nodiscard]] bool is_at_end() const noexcept { return at_ == text_.size(); }
  [[nodiscard]] char peek() const noexcept { return is_at_end() ? '\0' : text_[at_]; }

  void skip_spaces() noexcept { take(is_space); }
  void skip_commas() noexcept {
    take([](char c) { return is_space(c) || c == ','; });
  }

  template <class Test>
  std::string_view take(Test belongs) noexcept {
    const auto begin = at_;
    while (!is_at_end() && belongs(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  [[nodiscard]] tl::unexpected<failure> broken(std::string_view what) const {
    return fail(errc::invalid_argument, "the challenge is malformed at byte " + std::to_string(at_) + ": " + std::string(what));
  }

  /// What follows a scheme: nothing, a token68, or parameters up to the next scheme.
  result<void> read_rest(server_challenge& into) {
    if (is_at_end() || peek() == ',') return {};
    if (!is_space(peek())) return broken("expected a space or a comma behind the scheme");
    skip_spaces();
    if (is_at_end() || peek() == ',') return {};
    if (read_token68(into)) return {};
    for (;;) {
      if (auto one = read_parameter(into); !one) return one;
      skip_spaces();
      if (is_at_end()) return {};
      if (peek() != ',') return broken("expected a comma");
      skip_commas();
      if (is_at_end() || !is_parameter_ahead()) return {};
    }
  }

  bool read_token68(server_challenge& into) {
    const auto begin = at_;
    const auto word = take(is_token68_octet);
    take([](char c) { return c == '='; });
    const auto end = at_;
    skip_spaces();
    if (!word.empty() && (is_at_end() || peek() == ',')) {
      into.token68 = text_.substr(begin, end - begin);
      return true;
    }
    at_ = begin;
    return false;
  }

  /// Whether `name =` comes, which no challenge starts with.
  bool is_parameter_ahead() noexcept {
    const auto begin = at_;
    const bool has_name = !take(is_token_octet).empty();
    skip_spaces();
    const bool found = has_name && peek() == '=';
    at_ = begin;
    return found;
  }

  result<void> read_parameter(server_challenge& into) {
    auto name = lower(take(is_token_octet));
    if (name.empty()) return broken("expected a parameter");
    skip_spaces();
    if (peek() != '=') return broken("expected \"=\"");
    ++at_;
    skip_spaces();
    std::string text;
    if (peek() == '"') {
      auto quoted = read_quoted();
      if (!quoted) return tl::unexpected(std::move(quoted.error()));
      text = std::move(*quoted);
    } else {
      text = take(is_token_octet);
      if (text.empty()) return broken("expected a value");
    }
    if (into.find(name) != nullptr) return broken("a parameter stands there twice");
    if (into.parameters.size() == most_challenge_parameters) return broken("there are too many parameters");
    into.parameters.emplace_back(std::move(name), std::move(text));
    return {};
  }

  result<std::string> read_quoted() {
    std::string out;
    ++at_;
    for (; !is_at_end() && peek() != '"'; ++at_) {
      if (peek() == '\\') {
        ++at_;
        if (is_at_end()) break;
      }
      const auto c = static_cast<unsigned char>(peek());
      if ((c < ' ' && c != '\t') || c == 0x7f) return broken("a control character");
      out += peek();
    }
    if (is_at_end()) return broken("a quoted text has no end");
    ++at_;
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const std::string* server_challenge::find(std::string_view name) const noexcept {
  const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const auto& one) { return one.first == name; });
  return found == parameters.end() ? nullptr : &found->second;
}

result<std::vector<server_challenge>> read_challenges(std::string_view field) {
  if (field.size() > longest_challenge_field)
    return fail(errc::invalid_argument, "the challenge is longer than " + std::to_string(longest_challenge_field) + " bytes");
  return reader(field).read();
}

std::optional<bearer_challenge> bearer_in(const std::vector<std::string>& fields) {
  for (const auto& field : fields) {
    const auto all = read_challenges(field);
    if (!all) continue;
    for (const auto& one : *all) {
      if (one.scheme != "bearer") continue;
      bearer_challenge out;
      if (const auto* url = one.find("resource_metadata")) out.metadata_url = *url;
      if (const auto* scope = one.find("scope")) out.scopes = read_scopes(*scope);
      if (const auto* error = one.find("error")) out.error = *error;
      return out;
    }
  }
  return std::nullopt;
}

}  // namespace hondana::oauth
