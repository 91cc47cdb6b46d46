/// Frames messages as server-sent events.
#include "transport/http/event_stream.hpp"

#include <utility>

namespace hondana::transport::http {
namespace {

std::string beginning(const event_names& names) {
  std::string out;
  if (!names.event.empty()) out.append("event: ").append(names.event).append("\n");
  if (!names.id.empty()) out.append("id: ").append(names.id).append("\n");
  return out += "data: ";
}

}  // namespace

std::string write_event(const event_names& names, std::string_view data) {
  auto out = beginning(names);
  out.reserve(out.size() + data.size() + 2);
  // White space between the tokens of a message may break lines; the reader joins them again.
  for (auto end = data.find_first_of("\r\n"); end != std::string_view::npos; end = data.find_first_of("\r\n")) {
    out.append(data.substr(0, end)).append("\ndata: ");
    data.remove_prefix(end + 1);
  }
  return out.append(data).append("\n\n");
}

rpc::body write_event(const event_names& names, rpc::body message) {
  if (message.is_whole()) return rpc::body(write_event(names, std::string_view(message.take_text())));
  rpc::body out(beginning(names));
  out.append(std::move(message));
  out.text() += "\n\n";
  return out;
}

std::string write_retry(std::chrono::milliseconds after) { return "retry: " + std::to_string(after.count()) + "\n\n"; }

}  // namespace hondana::transport::http
