/// Bytes of an HTTP connection: requests are cut the same way however they arrive, and only this machine is let in.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/uri/web_url.hpp"
#include "transport/http_server/authentication.hpp"
#include "transport/http_server/http1_protocol.hpp"
#include "transport/http_server/limits.hpp"
#include "transport/http_server/request_head.hpp"
#include "transport/http_server/request_parser.hpp"
#include "transport/http_server/routes.hpp"

namespace {

namespace http = hondana::transport::http_server;
using http::request_parser;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_one_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; });
}

void check_verdict(const http::request_head& head) {
  static const http::site here("127.0.0.1");
  const auto what = http::find_route(head, here);
  require(is_one_line(what.allowed_origin));
  if (what.type == http::route::kind::response && what.response.status >= 400) return;
  require(head.find("Host").count == 1 && http::is_local_authority(head.find("Host").first, "127.0.0.1"));
  require(head.find("Origin").count == 0 || http::is_local_origin(head.find("Origin").first, "127.0.0.1"));
  if (what.type != http::route::kind::message) return;
  require(head.method == "POST" && head.find("Content-Type").count == 1);
  require(http::is_json_content(head.find("Content-Type").first));
}

std::string text_of(const http::request_head& head) {
  std::string out = head.keep_alive ? " stays" : " goes";
  out += head.is_http_1_0 ? " 1.0 " : " 1.1 ";
  out += head.content_length ? std::to_string(*head.content_length) : std::string("-");
  for (const auto& one : head.fields) {
    out += '\n';
    out += one.name;
    out += ": ";
    out += one.value;
  }
  return out;
}

struct cut {
  bool operator==(const cut&) const = default;
  std::vector<std::string> requests;
  bool over_a_cap = false;
  bool failed = false;
};

/// `knows_again`: the parser has seen the requests before, as it has on a connection.
cut cut_up(std::string_view bytes, std::size_t piece, bool knows_again = true) {
  constexpr request_parser::caps small{512, 256};
  std::optional<request_parser> present(std::in_place, small);
  cut out;
  std::string waiting;
  for (;;) {
    auto& parser = *present;
    const auto step = parser.feed(waiting);
    require(step.consumed <= waiting.size());
    // The body may be a view of what was put.
    std::string body(step.status == request_parser::progress::complete ? parser.body() : std::string_view());
    waiting.erase(0, step.consumed);
    switch (step.status) {
      case request_parser::progress::head:
        check_verdict(parser.head());
        break;
      case request_parser::progress::complete:
        out.requests.push_back(std::string(parser.head().method) + ' ' + std::string(parser.head().target) + ' ' + body +
                               text_of(parser.head()));
        if (knows_again) {
          parser.reset();
        } else {
          present.emplace(small);
        }
        break;
      case request_parser::progress::failed:
        out.failed = true;
        out.over_a_cap = parser.current_defect() != request_parser::defect::malformed;
        require(parser.current_defect() != request_parser::defect::none && !parser.defect_reason().empty());
        return out;
      case request_parser::progress::needs_more:
        if (bytes.empty()) return out;
        require(waiting.size() <= 512 + 2 * piece);
        waiting += bytes.substr(0, piece);
        bytes.remove_prefix(std::min(piece, bytes.size()));
    }
  }
}

/// Answers everything at once, but for who asks: by turns that is known now, known later, or refused.
class host final : public http::http1_handler {
 public:
  std::optional<auth_outcome> authenticate(const http::request_head& head, const http::route& about, request_id of) override {
    require(about.needs_authentication && !head.method.empty());
    (void)http::parse_bearer(head);
    switch (turn++ % 3) {
      case 0:
        return auth_outcome();
      case 1:
        identifying = of;
        return std::nullopt;
      default:
        return tl::unexpected(http::error_response(401, "Unauthorized"));
    }
  }
  void receive(std::string_view, const hondana::rpc::http_headers&, request_id of) override { waiting = of; }
  void reject_oversized(const hondana::rpc::http_headers&, request_id of) override { waiting = of; }
  std::optional<hondana::rpc::outgoing_response> open_stream(const hondana::rpc::http_headers& headers,
                                                             request_id of) override {
    if (!headers.session_id) return hondana::rpc::outgoing_response{400, {}};
    waiting = of;
    return std::nullopt;
  }
  hondana::rpc::outgoing_response end_session(const hondana::rpc::http_headers&) override { return {204, std::nullopt}; }
  std::optional<hondana::rpc::outgoing_response> open_sse(request_id of) override {
    waiting = of;
    return std::nullopt;
  }
  hondana::rpc::outgoing_response receive_sse_message(std::string_view, const hondana::rpc::http_headers&) override {
    return {202, std::nullopt};
  }
  void cancel() override { waiting = 0; }
  hondana::result<void> pull(std::shared_ptr<http::outgoing_body>, request_id) override { std::abort(); }
  http::plain_response report(http::route::kind) override { return {200, "application/json", "{}", {}}; }
  http::plain_response describe_resource(const http::request_head&, std::string_view) override {
    return {200, "application/json", "{}", {}};
  }
  void on_rejected(int) override {}
  void log(std::string_view) override {}

  request_id waiting = 0;
  request_id identifying = 0;
  unsigned turn = 0;
};

/// Answers with a stream of events, which wants no message before the peer has taken the last one.
void stream(http::http1_protocol& talk, http::http1_protocol::request_id of) {
  using kind = http::portion::kind;
  for (const auto what : {kind::opening, kind::message, kind::answer}) {
    require(talk.wants_portion());
    http::portion one;
    one.type = what;
    one.id = "1-1";
    if (what != kind::opening) one.content.content = hondana::rpc::body("{\n}");
    talk.send_portion(of, std::move(one));
    require(!talk.wants_portion());
    while (!talk.output().empty()) talk.on_drained();
  }
}

void converse(std::string_view bytes, std::size_t piece, const std::shared_ptr<http::byte_budget>& bodies) {
  http::limits small;
  small.max_header_bytes = 512;
  small.max_body_bytes = 256;
  small.max_linger_bytes = 1024;
  host asked;
  small.uncounted_bytes = 32;
  http::http1_protocol talk(asked, std::make_shared<const http::limits>(small), std::make_shared<const http::site>("127.0.0.1"),
                            bodies, bodies);
  while (!bytes.empty() && !talk.is_closed()) {
    talk.receive(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (asked.waiting != 0 || asked.identifying != 0 || !talk.output().empty()) {
      if (const auto ticket = std::exchange(asked.identifying, 0); ticket != 0 && !talk.is_closed()) {
        require(talk.is_authenticating(ticket));
        talk.on_authenticated(ticket, {});
      }
      if (!talk.output().empty()) {
        require(talk.output().head.starts_with("HTTP/1.1 "));
        talk.on_drained();
      }
      if (const auto ticket = std::exchange(asked.waiting, 0); ticket != 0) {
        require(talk.output().empty());
        if (piece % 2 == 0) {
          stream(talk, ticket);
        } else {
          talk.send_response(ticket, {200, hondana::rpc::body("{}")});
        }
      }
    }
    require(talk.is_closed() || talk.wants_input());
  }
  if (!talk.is_closed()) talk.end_of_input();
  require(talk.is_closed());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = data[0] % 16 + 1u;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = cut_up(bytes, bytes.size() + 1);
  const auto pieces = cut_up(bytes, piece);
  if (!whole.over_a_cap && !pieces.over_a_cap) {
    // In pieces a defect may show only with bytes that never come; what was complete before it is the same.
    const auto common = std::min(whole.requests.size(), pieces.requests.size());
    require(std::equal(whole.requests.begin(), whole.requests.begin() + static_cast<std::ptrdiff_t>(common),
                       pieces.requests.begin()));
    require(whole.requests.size() == pieces.requests.size());
  }
  // A head that comes again means what it meant, whether it is known again or not.
  const auto twice = std::string(bytes) + std::string(bytes);
  require(cut_up(twice, twice.size() + 1) == cut_up(twice, twice.size() + 1, false));
  require(cut_up(twice, piece * 16).requests == cut_up(twice, piece * 16, false).requests);
  const auto bodies = std::make_shared<http::byte_budget>(128);
  converse(bytes, piece, bodies);
  require(bodies->reserve(128) && !bodies->reserve(1));

  // The values alone, which the parser would let through only in part.
  (void)http::is_local_authority(bytes, "::1");
  (void)http::is_local_origin(bytes, "127.0.0.1");
  if (const auto host = hondana::uri::parse_host_port(bytes)) {
    // One spelling: it reads back as itself.
    require(hondana::uri::parse_host_port(host->port ? host->host + ':' + std::to_string(*host->port) : host->host) == host);
  }
  (void)hondana::uri::parse_origin(bytes);
  (void)http::is_json_content(bytes);
  (void)http::accepts_json(bytes);
  return 0;
}
