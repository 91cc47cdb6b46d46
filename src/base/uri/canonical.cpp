/// The canonical form of a URI, validated and written in one pass.
#include <algorithm>
#include <hondana/uri.hpp>

#include "base/ascii/characters.hpp"
#include "base/uri/authority.hpp"
#include "base/uri/escapes.hpp"
#include "base/uri/octet_set.hpp"

namespace hondana::inline v0 {
namespace {

using uri::octet_set;

constexpr octet_set scheme_characters = uri::letters.with(uri::digits).with("+-.");
constexpr octet_set user_characters = uri::unreserved.with(uri::sub_delimiters).with(":");
constexpr octet_set host_characters = uri::unreserved.with(uri::sub_delimiters);
constexpr octet_set path_characters = uri::unreserved.with(uri::sub_delimiters).with(":@/");
constexpr octet_set query_characters = path_characters.with("?");
/// What an escape is decoded to in a `file` path: all that may stand there raw, but for the slash.
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
      // RFC 8089: this host and no host are the same.
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
    // Written out, such a path would be read as an authority.
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

  /// Copies up to `end`, escaping and unescaping as the canonical form asks; `as_is` are the characters that need neither,
  /// `decoded` those whose escapes are decoded.
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

}  // namespace hondana::inline v0
