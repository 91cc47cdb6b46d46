/// Frames messages as server-sent events.
#include "transport/http_server/event_stream.hpp"

#include <utility>

namespace hondana::transport::http_server {
namespace {

void append_beginning(std::string& out, const event_names& names) {
  if (!names.event.empty()) out.append("event: ").append(names.event).append("\n");
  if (!names.id.empty()) out.append("id: ").append(names.id).append("\n");
  out += "data: ";
}

std::string beginning(const event_names& names) {
  std::string out;
  append_beginning(out, names);
  return out;
}

}  // namespace

void append_event(std::string& out, const event_names& names, std::string_view data) {
  append_beginning(out, names);
  // White space between the tokens of a message may break lines, but hardly ever does; the reader joins them again.
  const bool has_breaks = data.find('\n') != std::string_view::npos || data.find('\r') != std::string_view::npos;
  for (auto end = data.size(); has_breaks && (end = data.find_first_of("\r\n")) != std::string_view::npos;) {
    out.append(data.substr(0, end)).append("\ndata: ");
    data.remove_prefix(end + 1);
  }
  out.append(data).append("\n\n");
}

std::string write_event(const event_names& names, std::string_view data) {
  std::string out;
  out.reserve(names.event.size() + names.id.size() + data.size() + 32);
  append_event(out, names, data);
  return out;
}

rpc::body write_event(const event_names& names, rpc::body message) {
  if (message.is_whole()) return rpc::body(write_event(names, std::string_view(message.take_text())));
  rpc::body out(beginning(names));
  out.append(std::move(message));
  out.text() += "\n\n";
  return out;
}

std::string write_retry(std::chrono::milliseconds after) { return "retry: " + std::to_string(after.count()) + "\n\n"; }

}  // namespace hondana::transport::http_server
