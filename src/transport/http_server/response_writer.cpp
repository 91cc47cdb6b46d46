/// Formats the headers of HTTP answers, and server-sent events.
#include "transport/http_server/response_writer.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <utility>

namespace hondana::transport::http_server {
namespace {

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 409:
      return "Conflict";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Other";
  }
}

template <class Number>
void append_number(std::string& out, Number value, int base = 10) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
  out.append(digits.data(), end);
}

/// The Date line, made once per second and thread. strftime is not used, because it depends on the locale.
std::string_view date_line() {
  struct cached_date {
    std::time_t second = -1;
    std::array<char, 64> text{};
    std::size_t size = 0;
  };
  thread_local cached_date cached;
  constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto now = std::time(nullptr);
  if (now != cached.second) {
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    const int size =
        std::snprintf(cached.text.data(), cached.text.size(), "Date: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n",
                      days.at(static_cast<std::size_t>(utc.tm_wday)), utc.tm_mday,
                      months.at(static_cast<std::size_t>(utc.tm_mon)), utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
    cached.size = static_cast<std::size_t>(size);
    cached.second = now;
  }
  return {cached.text.data(), cached.size};
}

}  // namespace

void append_head(std::string& out, const response_head& head) {
  out += "HTTP/1.1 ";
  append_number(out, head.status);
  out += ' ';
  out += reason_phrase(head.status);
  out += "\r\n";
  out += date_line();
  if (!head.content_type.empty()) {
    out += "Content-Type: ";
    out += head.content_type;
    out += "\r\n";
  }
  if (head.body_framing == framing::length) {
    out += "Content-Length: ";
    append_number(out, head.content_length);
    out += "\r\n";
  } else if (head.body_framing == framing::chunked) {
    out += "Transfer-Encoding: chunked\r\n";
  }
  if (head.is_events) {
    out += "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n";
  } else {
    out += "Cache-Control: ";
    out += head.cache_control;
    out += "\r\n";
  }
  out += "X-Content-Type-Options: nosniff\r\n";
  if (!head.allowed_origin.empty()) {
    out += "Access-Control-Allow-Origin: ";
    out += head.allowed_origin;
    out += "\r\nAccess-Control-Expose-Headers: Mcp-Session-Id, Retry-After, WWW-Authenticate\r\nVary: Origin\r\n";
  }
  out += head.fields;
  if (head.closes) {
    out += "Connection: close\r\n";
  } else if (head.is_http_1_0) {
    out += "Connection: keep-alive\r\n";
  }
  out += "\r\n";
}

std::string retry_after_line(std::chrono::milliseconds delay) {
  const auto seconds = std::max(std::chrono::ceil<std::chrono::seconds>(delay), std::chrono::seconds(1));
  return "Retry-After: " + std::to_string(seconds.count()) + "\r\n";
}

void append_chunk_size(std::string& out, std::size_t size) {
  append_number(out, size, 16);
  out += "\r\n";
}

namespace {

void append_event_prefix(std::string& out, const event_names& names) {
  if (!names.event.empty()) out.append("event: ").append(names.event).append("\n");
  if (!names.id.empty()) out.append("id: ").append(names.id).append("\n");
  out += "data: ";
}

std::string event_prefix(const event_names& names) {
  std::string out;
  append_event_prefix(out, names);
  return out;
}

}  // namespace

void append_event(std::string& out, const event_names& names, std::string_view data) {
  append_event_prefix(out, names);
  // JSON may contain line breaks between tokens, though it rarely does. Each line needs its own `data:`; the reader joins them
  // again.
  const bool has_breaks = data.find('\n') != std::string_view::npos || data.find('\r') != std::string_view::npos;
  for (auto end = data.size(); has_breaks && (end = data.find_first_of("\r\n")) != std::string_view::npos;) {
    out.append(data.substr(0, end)).append("\ndata: ");
    data.remove_prefix(end + 1);
  }
  out.append(data).append("\n\n");
}

std::string format_event(const event_names& names, std::string_view data) {
  std::string out;
  out.reserve(names.event.size() + names.id.size() + data.size() + 32);
  append_event(out, names, data);
  return out;
}

rpc::body format_event(const event_names& names, rpc::body message) {
  if (message.is_single_text()) return rpc::body(format_event(names, std::string_view(message.extract_text())));
  rpc::body out(event_prefix(names));
  out.append(std::move(message));
  out.text() += "\n\n";
  return out;
}

std::string format_retry(std::chrono::milliseconds delay) { return "retry: " + std::to_string(delay.count()) + "\n\n"; }

}  // namespace hondana::transport::http_server
