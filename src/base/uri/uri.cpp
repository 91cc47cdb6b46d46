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

constexpr octet_set hexadecimal = digits.including("ABCDEFabcdef");
constexpr octet_set ipvfuture_characters = unreserved.including(sub_delimiters).including(":");

bool consists_of(const octet_set& set, std::string_view text) noexcept {
  for (const char c : text) {
    if (!set.contains(c)) return false;
  }
  return !text.empty();
}

bool is_ipv4(std::string_view text) noexcept {
  for (int part = 0; part < 4; ++part) {
    const std::size_t end = part < 3 ? text.find('.') : text.size();
    if (end == std::string_view::npos) return false;
    const std::string_view number = text.substr(0, end);
    if (!consists_of(digits, number) || number.size() > 3 || (number.size() > 1 && number[0] == '0')) return false;
    int value = 0;
    for (const char digit : number) value = value * 10 + (digit - '0');
    if (value > 255) return false;
    text.remove_prefix(part < 3 ? end + 1 : end);
  }
  return true;
}

/// Counts the 16-bit groups in a colon-separated text that may end in an IPv4 address; -1 when it is invalid.
int count_groups(std::string_view text, bool ipv4_may_end) noexcept {
  if (text.empty()) return 0;
  int groups = 0;
  while (true) {
    const std::size_t end = text.find(':');
    const std::string_view group = text.substr(0, end);
    if (end == std::string_view::npos && ipv4_may_end && is_ipv4(group)) return groups + 2;
    if (group.size() > 4 || !consists_of(hexadecimal, group) || ++groups > 8) return -1;
    if (end == std::string_view::npos) return groups;
    text.remove_prefix(end + 1);
  }
}

bool is_ipv6(std::string_view text) noexcept {
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) return count_groups(text, true) == 8;
  const int groups_before = count_groups(text.substr(0, gap), false);
  const int groups_after = count_groups(text.substr(gap + 2), true);
  return groups_before >= 0 && groups_after >= 0 && groups_before + groups_after <= 7;
}

}  // namespace

bool is_ip_literal(std::string_view text) noexcept {
  if (text.empty() || (text[0] != 'v' && text[0] != 'V')) return is_ipv6(text);
  const std::size_t dot = text.find('.');
  return dot != std::string_view::npos && consists_of(hexadecimal, text.substr(1, dot - 1)) &&
         consists_of(ipvfuture_characters, text.substr(dot + 1));
}

}  // namespace hondana::uri

namespace hondana::inline v0 {
namespace {

using uri::octet_set;

constexpr octet_set scheme_characters = uri::letters.including(uri::digits).including("+-.");
constexpr octet_set user_characters = uri::unreserved.including(uri::sub_delimiters).including(":");
constexpr octet_set host_characters = uri::unreserved.including(uri::sub_delimiters);
constexpr octet_set path_characters = uri::unreserved.including(uri::sub_delimiters).including(":@/");
constexpr octet_set query_characters = path_characters.including("?");
/// The characters that are decoded in a `file` path: all that may occur unescaped, except the slash.
constexpr octet_set decoded_in_file_paths = uri::file_path_characters.excluding("/");

std::string describe(char c) {
  if (c == ' ') return "a space";
  if (c == '"') return "a quotation mark";
  if (c > ' ' && c < '\x7f') return std::string("'") + c + "'";
  std::string escape;
  uri::append_escape(escape, static_cast<unsigned char>(c));
  return "the control character 0x" + escape.substr(1);
}

/// Removes the dot segments of the path that starts at `path_start` with a slash (RFC 3986 section 5.2.4).
void remove_dot_segments(std::string& text, std::size_t path_start) {
  std::size_t written = path_start;
  for (std::size_t slash = path_start; slash < text.size();) {
    const std::size_t end = std::min(text.find('/', slash + 1), text.size());
    const std::string_view segment(text.data() + slash + 1, end - slash - 1);
    const bool is_dot_segment = segment == "." || segment == "..";
    if (segment == "..") {
      while (written > path_start && text[--written] != '/') {
      }
    }
    if (!is_dot_segment) {
      std::copy(text.begin() + static_cast<std::ptrdiff_t>(slash), text.begin() + static_cast<std::ptrdiff_t>(end),
                text.begin() + static_cast<std::ptrdiff_t>(written));
      written += end - slash;
    } else if (end == text.size()) {
      text[written++] = '/';
    }
    slash = end;
  }
  text.resize(written);
}

class canonical_writer {
 public:
  explicit canonical_writer(std::string_view text) : text_(text) { out_.reserve(text.size() + 16); }

  result<std::string> write() {
    if (text_.empty()) return fail(errc::invalid_argument, "the URI is empty");
    if (text_.size() > max_uri_bytes) return too_long("the URI", text_.size());
    return write_scheme().and_then([this] { return write_after_scheme(); }).and_then([this]() -> result<std::string> {
      if (out_.size() > max_uri_bytes) return too_long("the URI, once its characters are escaped,", out_.size());
      return std::move(out_);
    });
  }

 private:
  static tl::unexpected<failure> too_long(const std::string& subject, std::size_t size) {
    return fail(errc::invalid_argument, subject + " has " + std::to_string(size) + " bytes; at most " +
                                            std::to_string(max_uri_bytes) + " are accepted");
  }
  static tl::unexpected<failure> error_at(std::size_t position, const std::string& problem, const std::string& remedy) {
    return fail(errc::invalid_argument, "the URI has " + problem + " at byte " + std::to_string(position) + "; " + remedy);
  }

  result<void> write_scheme() {
    const std::size_t end = std::min(text_.find_first_of(":/?#"), text_.size());
    if (end == text_.size() || text_[end] != ':' || end == 0 || !uri::letters.contains(text_[0])) {
      return fail(errc::invalid_argument,
                  "the URI does not start with a scheme at byte 0; give an absolute URI such as file:///");
    }
    for (; position_ < end; ++position_) {
      const char c = text_[position_];
      if (!scheme_characters.contains(c)) {
        return fail(errc::invalid_argument, "the URI has a character at byte " + std::to_string(position_) +
                                                " that is not allowed in a scheme; give an absolute URI");
      }
      out_.push_back(ascii::to_lower(c));
    }
    out_.push_back(':');
    ++position_;
    return {};
  }

  result<void> write_after_scheme() {
    const std::size_t path_end = std::min(text_.find_first_of("?#", position_), text_.size());
    const bool has_authority = text_.substr(position_).starts_with("//");
    if (has_authority) {
      out_ += "//";
      position_ += 2;
      const std::size_t end = std::min(text_.find('/', position_), path_end);
      // RFC 8089: `localhost` and an empty host are the same.
      if (is_file() && ascii::equals_ignore_case("localhost", text_.substr(position_, end - position_))) position_ = end;
      auto status = write_authority(end);
      if (!status) return status;
    } else if (is_file() && text_.substr(position_, path_end - position_).starts_with('/')) {
      out_ += "//";
    }
    auto status = write_path(path_end, has_authority || out_.ends_with("//"));
    if (status && position_ < text_.size() && text_[position_] == '?') {
      status = write_delimited(std::min(text_.find('#', position_), text_.size()));
    }
    if (status && position_ < text_.size()) status = write_delimited(text_.size());
    return status;
  }

  result<void> write_authority(std::size_t end) {
    if (const std::size_t sign = text_.find('@', position_); sign < end) {
      HONDANA_TRY(write_characters(sign, user_characters, "in its user information"));
      out_.push_back('@');
      ++position_;
    }
    if (position_ < end && text_[position_] == '[') {
      const std::size_t close = std::min(text_.find(']', position_), end);
      if (close == end || !uri::is_ip_literal(text_.substr(position_ + 1, close - position_ - 1))) {
        return error_at(position_, "brackets without an IPv6 address in them", "correct the host");
      }
      out_.append(text_, position_, close + 1 - position_);
      position_ = close + 1;
      if (position_ < end && text_[position_] != ':')
        return error_at(position_, "text after its host's bracket", "only a port may follow");
    } else {
      const std::size_t host_end = std::min(text_.find(':', position_), end);
      HONDANA_TRY(write_characters(host_end, host_characters, "in its host"));
    }
    if (position_ < end) {
      out_.push_back(':');
      ++position_;
    }
    for (; position_ < end; ++position_) {
      if (!uri::digits.contains(text_[position_]))
        return error_at(position_, "a port that is not a number", "write digits only");
      out_.push_back(text_[position_]);
    }
    return {};
  }

  result<void> write_path(std::size_t end, bool has_authority) {
    const std::size_t start = position_;
    const std::size_t path_start = out_.size();
    const auto& decoded = is_file() ? decoded_in_file_paths : uri::unreserved;
    HONDANA_TRY(write_characters(end, path_characters, "in its path", decoded));
    const bool is_hierarchical = out_.size() > path_start && out_[path_start] == '/';
    if (!is_hierarchical || out_.find("/.", path_start) == std::string::npos) return {};
    remove_dot_segments(out_, path_start);
    // Written out, such a path would be parsed as an authority.
    if (!has_authority && out_.compare(path_start, 2, "//") == 0) {
      return error_at(start, "no host, and a path that starts with two slashes once its dot segments are removed,",
                      "remove the dot segments or the empty ones");
    }
    return {};
  }

  result<void> write_delimited(std::size_t end) {
    const bool is_query = text_[position_] == '?';
    out_.push_back(text_[position_++]);
    return write_characters(end, query_characters, is_query ? "in its query" : "in its fragment");
  }

  /// Copies the text up to `end` in canonical form. `unescaped`: characters copied unchanged. `decoded`: characters whose
  /// escapes are decoded.
  result<void> write_characters(std::size_t end, const octet_set& unescaped, const char* location,
                                const octet_set& decoded = uri::unreserved) {
    while (position_ < end) {
      const std::size_t run_start = position_;
      while (position_ < end && unescaped.contains(text_[position_])) ++position_;
      out_.append(text_, run_start, position_ - run_start);
      if (position_ == end) break;
      const char c = text_[position_];
      if (c == '%') {
        HONDANA_TRY(write_escape(end, decoded));
      } else if (static_cast<unsigned char>(c) >= 0x80U) {
        const std::size_t length = uri::utf8_length(text_.substr(0, end), position_);
        if (length == 0) return error_at(position_, "ill-formed UTF-8", "escape bytes that are not UTF-8 as %XX");
        for (const std::size_t last = position_ + length; position_ < last; ++position_) {
          uri::append_escape(out_, static_cast<unsigned char>(text_[position_]));
        }
      } else {
        std::string escaped;
        uri::append_escape(escaped, static_cast<unsigned char>(c));
        return error_at(position_, describe(c) + " " + location, c == '\0' ? "remove it" : "write it as " + escaped);
      }
    }
    return {};
  }

  result<void> write_escape(std::size_t end, const octet_set& decoded) {
    const auto octet = uri::escape_at(text_.substr(0, end), position_);
    if (!octet) {
      return error_at(position_, "a broken percent-escape",
                      "write % and two hexadecimal digits, and a percent sign itself as %25");
    }
    if (*octet == 0) return error_at(position_, "an escaped NUL", "remove it");
    if (decoded.contains(static_cast<char>(*octet))) {
      out_.push_back(static_cast<char>(*octet));
    } else {
      uri::append_escape(out_, *octet);
    }
    position_ += 3;
    return {};
  }

  [[nodiscard]] bool is_file() const noexcept { return out_.starts_with("file:"); }

  std::string_view text_;
  std::size_t position_ = 0;
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
  constexpr char max_byte = static_cast<char>(0xFF);
  if (prefix.empty()) return {};
  const char last = prefix.back();
  std::string key(prefix.substr(0, prefix.size() - 1));
  if (last == '/') return key;  // `a/` and everything that starts with it sort directly after `a`
  if (last == '\0') return key += '/', key += max_byte;
  const char previous = static_cast<char>(last - 1);
  key += previous == '/' ? static_cast<char>(previous - 1) : previous;
  return key += max_byte;
}

bool uri_covers(std::string_view prefix, std::string_view uri) noexcept {
  if (!uri.starts_with(prefix)) return false;
  if (uri.size() == prefix.size() || prefix.ends_with('/')) return true;
  const char next = uri[prefix.size()];
  return next == '/' || next == '?' || next == '#';
}

}  // namespace hondana::inline v0
