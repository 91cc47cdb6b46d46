/// A server with one example of each feature of the protocol, on loopback, for conformance suites.
///
/// Usage: everything PORT (0 for any free one). It prints its address and serves until SIGINT or SIGTERM.
#include <csignal>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string_view>

#include "everything.hpp"

namespace {

constexpr int usage_error = 2;

int report_error(const std::string& text) {
  std::cerr << "everything: " << text << '\n';
  return 1;
}

hondana::result<void> add_everything(hondana::server& server) {
  using namespace everything;
  constexpr std::array parts{add_resources,   add_content_tools,  add_progress_tools, add_form_tools,
                             add_input_tools, add_stateful_tools, add_prompts,        add_skills};
  for (const auto add : parts) {
    if (auto added = add(server); !added) return added;
  }
  return {};
}

int serve(std::uint16_t port) {
  // Blocked before any thread starts, so that only `sigwait` receives these signals.
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGINT);
  sigaddset(&stops, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stops, nullptr);

  auto server = hondana::server::create({.name = "everything",
                                         .version = "1.0.0",
                                         .title = "Everything",
                                         .instructions = "One of everything, to try clients with.",
                                         .log = [](std::string_view line) { std::cerr << line << '\n'; }});
  if (!server) return report_error(server.error().public_text);
  if (const auto filled = add_everything(*server); !filled) return report_error(filled.error().public_text);
  auto service = hondana::http_service::start(*server, {.port = port});
  if (!service) return report_error(service.error().public_text);
  std::cout << "http://127.0.0.1:" << service->port() << "/mcp" << std::endl;
  int caught = 0;
  sigwait(&stops, &caught);
  service->drain(std::chrono::seconds(2));
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  std::uint16_t port = 0;
  const std::string_view text(count == 2 ? arguments[1] : "");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    std::cerr << "usage: everything PORT\n";
    return usage_error;
  }
  try {
    return serve(port);
  } catch (const std::exception& failure) {
    return report_error(failure.what());
  }
}
