/// The canonical form of URIs, and splitting and ordering them as text.

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/uri/uri_syntax.hpp"

namespace hondana::uri {

/// Whether `text`, given without brackets, is an IPv6address or IPvFuture. Zone identifiers (RFC 6874) are not accepted.
[[nodiscard]] bool is_ip_literal(std::string_view text) noexcept;

namespace {

constexpr octet_set hexadecimal = digits.with("ABCDEFabcdef");
constexpr octet_set future_address = unreserved.with(sub_delimiters).with(":");

bool all_in(const octet_set& set, std::string_view text) noexcept {
  for (const char c : text) {
    if (!set.has(c)) return false;
  }
  return !text.empty();
}

bool is_ipv4(std::string_view text) noexcept {
  for (int part = 0; part < 4; ++part) {
    const std::size_t end = part < 3 ? text.find('.') : text.size();
    if (end == std::string_view::npos) return false;
    const std::string_view number = text.substr(0, end);
    if (!all_in(digits, number) || number.size() > 3 || (number.size() > 1 && number[0] == '0')) return false;
    int value = 0;
    for (const char digit : number) value = value * 10 + (digit - '0');
    if (value > 255) return false;
    text.remove_prefix(part < 3 ? end + 1 : end);
  }
  return true;
}

/// Counts the 16-bit groups in a colon-separated text that may end in an IPv4 address; -1 when it is invalid.
int groups_of(std::string_view text, bool ipv4_may_end) noexcept {
  if (text.empty()) return 0;
  int groups = 0;
  while (true) {
    const std::size_t end = text.find(':');
    const std::string_view group = text.substr(0, end);
    if (end == std::string_view::npos && ipv4_may_end && is_ipv4(group)) return groups + 2;
    if (group.size() > 4 || !all_in(hexadecimal, group) || ++groups > 8) return -1;
    if (end == std::string_view::npos) return groups;
    text.remove_prefix(end + 1);
  }
}

bool is_ipv6(std::string_view text) noexcept {
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) return groups_of(text, true) == 8;
  const int before = groups_of(text.substr(0, gap), false);
  const int after = groups_of(text.substr(gap + 2), true);
  return before >= 0 && after >= 0 && before + after <= 7;
}

}  // namespace

bool is_ip_literal(std::string_view text) noexcept {
  if (text.empty() || (text[0] != 'v' && text[0] != 'V')) return is_ipv6(text);
  const std::size_t dot = text.find('.');
  return dot != std::string_view::npos && all_in(hexadecimal, text.substr(1, dot - 1)) &&
         all_in(future_address, text.substr(dot + 1));
}

}  // namespace hondana::uri

namespace hondana::inline v0 {
namespace {

using uri::octet_set;

constexpr octet_set scheme_characters = uri::letters.with(uri::digits).with("+-.");
constexpr octet_set user_characters = uri::unreserved.with(uri::sub_delimiters).with(":");
constexpr octet_set host_characters = uri::unreserved.with(uri::sub_delimiters);
constexpr octet_set path_characters = uri::unreserved.with(uri::sub_delimiters).with(":@/");
constexpr octet_set query_characters = path_characters.with("?");
/// The characters that are decoded in a `file` path: all that may occur unescaped, except the slash.
constexpr octet_set decoded_in_file_paths = uri::file_path_characters.without("/");

std::string describe(char c) {
  if (c == ' ') return "a space";
  if (c == '"') return "a quotation mark";
  if (c > ' ' && c < '\x7f') return std::string("'") + c + "'";
  std::string escape;
  uri::append_escape(escape, static_cast<unsigned char>(c));
  return "the control character 0x" + escape.substr(1);
}

/// Removes the dot segments of the path that starts at `from` with a slash (RFC 3986 section 5.2.4).
void remove_dot_segments(std::string& text, std::size_t from) {
  std::size_t kept = from;
  for (std::size_t slash = from; slash < text.size();) {
    const std::size_t end = std::min(text.find('/', slash + 1), text.size());
    const std::string_view segment(text.data() + slash + 1, end - slash - 1);
    const bool dots = segment == "." || segment == "..";
    if (segment == "..") {
      while (kept > from && text[--kept] != '/') {
      }
    }
    if (!dots) {
      std::copy(text.begin() + static_cast<std::ptrdiff_t>(slash), text.begin() + static_cast<std::ptrdiff_t>(end),
                text.begin() + static_cast<std::ptrdiff_t>(kept));
      kept += end - slash;
    } else if (end == text.size()) {
      text[kept++] = '/';
    }
    slash = end;
  }
  text.resize(kept);
}

class canonical_writer {
 public:
  explicit canonical_writer(std::string_view text) : text_(text) { out_.reserve(text.size() + 16); }

  result<std::string> write() {
    if (text_.empty()) return fail(errc::invalid_argument, "the URI is empty");
    if (text_.size() > max_uri_bytes) return too_long("the URI", text_.size());
    return scheme().and_then([this] { return after_scheme(); }).and_then([this]() -> result<std::string> {
      if (out_.size() > max_uri_bytes) return too_long("the URI, once its characters are escaped,", out_.size());
      return std::move(out_);
    });
  }

 private:
  static tl::unexpected<failure> too_long(const std::string& what, std::size_t size) {
    return fail(errc::invalid_argument,
                what + " has " + std::to_string(size) + " bytes; at most " + std::to_string(max_uri_bytes) + " are accepted");
  }
  static tl::unexpected<failure> at_byte(std::size_t at, const std::string& has, const std::string& remedy) {
    return fail(errc::invalid_argument, "the URI has " + has + " at byte " + std::to_string(at) + "; " + remedy);
  }

  result<void> scheme() {
    const std::size_t end = std::min(text_.find_first_of(":/?#"), text_.size());
    if (end == text_.size() || text_[end] != ':' || end == 0 || !uri::letters.has(text_[0])) {
      return fail(errc::invalid_argument,
                  "the URI does not start with a scheme at byte 0; give an absolute URI such as file:///");
    }
    for (; at_ < end; ++at_) {
      const char c = text_[at_];
      if (!scheme_characters.has(c)) {
        return fail(errc::invalid_argument, "the URI has a character at byte " + std::to_string(at_) +
                                                " that is not allowed in a scheme; give an absolute URI");
      }
      out_.push_back(ascii::lower(c));
    }
    out_.push_back(':');
    ++at_;
    return {};
  }

  result<void> after_scheme() {
    const std::size_t path_end = std::min(text_.find_first_of("?#", at_), text_.size());
    const bool has_authority = text_.substr(at_).starts_with("//");
    if (has_authority) {
      out_ += "//";
      at_ += 2;
      const std::size_t end = std::min(text_.find('/', at_), path_end);
      // RFC 8089: `localhost` and an empty host are the same.
      if (is_file() && ascii::is_same("localhost", text_.substr(at_, end - at_))) at_ = end;
      auto done = authority(end);
      if (!done) return done;
    } else if (is_file() && text_.substr(at_, path_end - at_).starts_with('/')) {
      out_ += "//";
    }
    auto done = path(path_end, has_authority || out_.ends_with("//"));
    if (done && at_ < text_.size() && text_[at_] == '?') {
      done = delimited(std::min(text_.find('#', at_), text_.size()));
    }
    if (done && at_ < text_.size()) done = delimited(text_.size());
    return done;
  }

  result<void> authority(std::size_t end) {
    if (const std::size_t sign = text_.find('@', at_); sign < end) {
      HONDANA_TRY(characters(sign, user_characters, "in its user information"));
      out_.push_back('@');
      ++at_;
    }
    if (at_ < end && text_[at_] == '[') {
      const std::size_t close = std::min(text_.find(']', at_), end);
      if (close == end || !uri::is_ip_literal(text_.substr(at_ + 1, close - at_ - 1))) {
        return at_byte(at_, "brackets without an IPv6 address in them", "correct the host");
      }
      out_.append(text_, at_, close + 1 - at_);
      at_ = close + 1;
      if (at_ < end && text_[at_] != ':') return at_byte(at_, "text after its host's bracket", "only a port may follow");
    } else {
      const std::size_t host_end = std::min(text_.find(':', at_), end);
      HONDANA_TRY(characters(host_end, host_characters, "in its host"));
    }
    if (at_ < end) {
      out_.push_back(':');
      ++at_;
    }
    for (; at_ < end; ++at_) {
      if (!uri::digits.has(text_[at_])) return at_byte(at_, "a port that is not a number", "write digits only");
      out_.push_back(text_[at_]);
    }
    return {};
  }

  result<void> path(std::size_t end, bool has_authority) {
    const std::size_t start = at_;
    const std::size_t written = out_.size();
    const auto& decoded = is_file() ? decoded_in_file_paths : uri::unreserved;
    HONDANA_TRY(characters(end, path_characters, "in its path", decoded));
    const bool hierarchical = out_.size() > written && out_[written] == '/';
    if (!hierarchical || out_.find("/.", written) == std::string::npos) return {};
    remove_dot_segments(out_, written);
    // Written out, such a path would be parsed as an authority.
    if (!has_authority && out_.compare(written, 2, "//") == 0) {
      return at_byte(start, "no host, and a path that starts with two slashes once its dot segments are removed,",
                     "remove the dot segments or the empty ones");
    }
    return {};
  }

  result<void> delimited(std::size_t end) {
    const bool is_query = text_[at_] == '?';
    out_.push_back(text_[at_++]);
    return characters(end, query_characters, is_query ? "in its query" : "in its fragment");
  }

  /// Copies the text up to `end` in canonical form. `as_is`: characters copied unchanged. `decoded`: characters whose escapes
  /// are decoded.
  result<void> characters(std::size_t end, const octet_set& as_is, const char* where,
                          const octet_set& decoded = uri::unreserved) {
    while (at_ < end) {
      const std::size_t run = at_;
      while (at_ < end && as_is.has(text_[at_])) ++at_;
      out_.append(text_, run, at_ - run);
      if (at_ == end) break;
      const char c = text_[at_];
      if (c == '%') {
        HONDANA_TRY(escape(end, decoded));
      } else if (static_cast<unsigned char>(c) >= 0x80U) {
        const std::size_t length = uri::utf8_length(text_.substr(0, end), at_);
        if (length == 0) return at_byte(at_, "ill-formed UTF-8", "escape bytes that are not UTF-8 as %XX");
        for (const std::size_t last = at_ + length; at_ < last; ++at_) {
          uri::append_escape(out_, static_cast<unsigned char>(text_[at_]));
        }
      } else {
        std::string escaped;
        uri::append_escape(escaped, static_cast<unsigned char>(c));
        return at_byte(at_, describe(c) + " " + where, c == '\0' ? "remove it" : "write it as " + escaped);
      }
    }
    return {};
  }

  result<void> escape(std::size_t end, const octet_set& decoded) {
    const auto octet = uri::escape_at(text_.substr(0, end), at_);
    if (!octet) {
      return at_byte(at_, "a broken percent-escape", "write % and two hexadecimal digits, and a percent sign itself as %25");
    }
    if (*octet == 0) return at_byte(at_, "an escaped NUL", "remove it");
    if (decoded.has(static_cast<char>(*octet))) {
      out_.push_back(static_cast<char>(*octet));
    } else {
      uri::append_escape(out_, *octet);
    }
    at_ += 3;
    return {};
  }

  [[nodiscard]] bool is_file() const noexcept { return out_.starts_with("file:"); }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

result<std::string> canonical_uri(std::string_view text) { return canonical_writer(text).write(); }

uri_parts split_uri(std::string_view uri) noexcept {
  uri_parts parts;
  if (const std::size_t hash = uri.find('#'); hash != std::string_view::npos) {
    parts.fragment = uri.substr(hash + 1);
    uri = uri.substr(0, hash);
  }
  if (const std::size_t mark = uri.find('?'); mark != std::string_view::npos) {
    parts.query = uri.substr(mark + 1);
    uri = uri.substr(0, mark);
  }
  const std::size_t end = uri.find_first_of(":/");
  if (end != std::string_view::npos && end != 0 && uri[end] == ':') {
    parts.scheme = uri.substr(0, end);
    uri.remove_prefix(end + 1);
  }
  if (uri.starts_with("//")) {
    uri.remove_prefix(2);
    const std::size_t path = std::min(uri.find('/'), uri.size());
    parts.authority = uri.substr(0, path);
    uri.remove_prefix(path);
  }
  parts.path = uri;
  return parts;
}

std::strong_ordering compare_by_segment(std::string_view a, std::string_view b) noexcept {
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (x == a.end() || y == b.end()) return (x != a.end()) <=> (y != b.end());
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
  return rank(*x) <=> rank(*y);
}

std::string key_before(std::string_view prefix) {
  // No URI contains a byte this high, so no URI sorts between the key and the next greater byte at the previous position.
  constexpr char beyond_all = static_cast<char>(0xFF);
  if (prefix.empty()) return {};
  const char last = prefix.back();
  std::string key(prefix.substr(0, prefix.size() - 1));
  if (last == '/') return key;  // `a/` and everything that starts with it sort directly after `a`
  if (last == '\0') return key += '/', key += beyond_all;
  const char before = static_cast<char>(last - 1);
  key += before == '/' ? static_cast<char>(before - 1) : before;
  return key += beyond_all;
}

bool covers(std::string_view prefix, std::string_view uri) noexcept {
  if (!uri.starts_with(prefix)) return false;
  if (uri.size() == prefix.size() || prefix.ends_with('/')) return true;
  const char next = uri[prefix.size()];
  return next == '/' || next == '?' || next == '#';
}

}  // namespace hondana::inline v0
