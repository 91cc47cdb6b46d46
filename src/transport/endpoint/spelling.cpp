/// Escapes and joins, so that no value leaves its place.
#include "transport/endpoint/spelling.hpp"

#include <algorithm>

#include <hondana/uri.hpp>

#include "os/disk/private_file.hpp"

namespace hondana::endpoint {
namespace {

constexpr std::size_t longest_secret = 16u << 10;

bool is_in_paths(char c) noexcept {
  constexpr std::string_view others = "/-._~!$&'()*+,;=:@%";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || others.find(c) != others.npos;
}

/// Errors: as `url_with`.
result<void> check_path(std::string_view path) {
  if (!path.starts_with('/') || !std::all_of(path.begin(), path.end(), is_in_paths))
    return fail(errc::invalid_argument, "the request path does not begin with / or has characters that must be escaped");
  const auto plain = percent_decode(path);
  if (!plain || plain->find('\0') != std::string::npos)
    return fail(errc::invalid_argument, "the request path has an invalid percent-escape");
  std::string_view rest(*plain);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const auto segment = rest.substr(0, rest.find_first_of("/\\"));
    if (segment == "." || segment == "..") return fail(errc::invalid_argument, "the request path has . or .. segments");
    rest.remove_prefix(segment.size());
  }
  return {};
}

bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

}  // namespace

std::string form_of(const fields& query) {
  std::string out;
  for (const auto& [name, value] : query) {
    if (!out.empty()) out += '&';
    out += percent_encode(name) + '=' + percent_encode(value);
  }
  return out;
}

result<std::string> url_with(std::string_view base, std::string_view path, const fields& query) {
  const auto question = base.find('?');
  std::string out(base.substr(0, question));
  auto parameters = question == std::string_view::npos ? std::string() : std::string(base.substr(question + 1));
  if (!path.empty()) {
    HONDANA_TRY(check_path(path));
    if (out.ends_with('/')) out.pop_back();
    out += path;
  }
  if (const auto more = form_of(query); !more.empty()) parameters += (parameters.empty() ? "" : "&") + more;
  if (!parameters.empty()) out += '?' + parameters;
  if (out.size() > max_uri_bytes)
    return fail(errc::invalid_argument, "the request URL would be longer than 8192 bytes; send the query as a form");
  return out;
}

result<std::string> secret_in(const std::string& path, std::string_view setting) {
  const auto unfit = [&](errc code, std::string_view why, std::string private_text) {
    return fail(code, "its " + std::string(setting) + ' ' + std::string(why), std::move(private_text));
  };
  auto read = disk::read_private(path, longest_secret);
  if (!read) {
    const auto& why = read.error();
    return unfit(why.code == errc::resource_not_found ? errc::source_unavailable : why.code,
                 "cannot be read; the reason is in the log",
                 path + ": " + why.public_text + (why.private_text.empty() ? "" : " (" + why.private_text + ')'));
  }
  auto text = std::move(read->bytes);
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (text.empty()) return unfit(errc::invalid_argument, "is empty", path);
  if (std::any_of(text.begin(), text.end(), is_control))
    return unfit(errc::invalid_argument, "contains more than one line, or control characters", path);
  return text;
}

}  // namespace hondana::endpoint
