/// The steps of a conversation, in order.
#include "transcripts/player.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <sstream>
#include <utility>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "deadline.hpp"
#include "transcripts/envelope_headers.hpp"
#include "transcripts/line.hpp"
#include "transcripts/pattern.hpp"

namespace transcripts {
namespace {

namespace json = boost::json;

constexpr std::string_view revision_mark = "{revision}";

std::string with_revision(std::string text, std::string_view revision) {
  for (auto place = text.find(revision_mark); place != std::string::npos; place = text.find(revision_mark)) {
    text.replace(place, revision_mark.size(), revision);
  }
  return text;
}

json::object modern_meta() {
  return {{"io.modelcontextprotocol/protocolVersion", std::string(modern_revision)},
          {"io.modelcontextprotocol/clientInfo", json::object{{"name", "transcripts"}, {"version", "1.0.0"}}},
          {"io.modelcontextprotocol/clientCapabilities", json::object()}};
}

/// The value below two names; null when there is none.
const json::value* at_path(const json::value& message, std::string_view outer, std::string_view inner) {
  const auto* place = message.get_object().if_contains(outer);
  return place != nullptr && place->is_object() ? place->get_object().if_contains(inner) : nullptr;
}

class conversation {
 public:
  conversation(const transcript& script, std::string revision, line& to)
      : script_(script), revision_(std::move(revision)), to_(to) {}

  std::optional<std::string> run() {
    if (script_.handshake) {
      if (auto fault = shake_hands()) return "handshake: " + *fault;
    }
    for (at_ = 0; at_ < script_.steps.size(); ++at_) {
      const auto line_number = script_.steps[at_].line;
      if (auto fault = perform(script_.steps[at_])) {
        return script_.file.string() + ":" + std::to_string(line_number) + ": " + *fault;
      }
    }
    if (auto fault = close()) return script_.file.string() + ": at the end: " + *fault;
    return std::nullopt;
  }

  std::vector<emitted> messages;

 private:
  using verdict = std::optional<std::string>;

  static time_point deadline() { return std::chrono::steady_clock::now() + hondana_test::event_deadline; }
  [[nodiscard]] bool is_modern() const { return revision_ == modern_revision; }
  [[nodiscard]] bool is_http() const { return to_.status().has_value(); }

  verdict perform(const step& one) {
    switch (one.what) {
      case step::kind::send:
        return send_message(one.text);
      case step::kind::send_raw: {
        const auto bytes = unescape(one.text);
        if (!bytes) return bytes.error();
        remember_raw(*bytes);
        return send(addressed({*bytes, headers_.of_raw(is_modern() ? revision_ : negotiated_)}));
      }
      case step::kind::send_end: {
        const auto bytes = unescape(one.text);
        if (!bytes) return bytes.error();
        remember_raw(*bytes);
        has_ended_ = true;
        const auto sent = to_.send_end(*bytes, deadline());
        return sent ? verdict() : sent.error();
      }
      case step::kind::header:
        return headers_.add(one.text);
      case step::kind::no_header:
        if (one.text == "Mcp-Session-Id") is_alone_ = true;
        headers_.leave_out(one.text);
        return {};
      case step::kind::bodiless:
        return send(addressed({"", headers_.of_bodiless(negotiated_), one.text}));
      case step::kind::time:
        passes_time_ = one.text.empty();
        if (!passes_time_) to_.pass_time(std::chrono::seconds(std::stoi(one.text)));
        return {};
      case step::kind::expect: {
        auto fault = expect(one.text);
        passes_time_ = false;
        return fault;
      }
      case step::kind::expect_any_order: {
        auto fault = expect_any_order();
        passes_time_ = false;
        return fault;
      }
      case step::kind::expect_status:
        if (!is_http() || std::to_string(*to_.status()) == one.text) return {};
        return "expected HTTP status " + one.text + ", got " + std::to_string(*to_.status());
    }
    return {};
  }

  /// Whether the session is named is the line's to add and the transcript's to leave out, as is whether time passes.
  sending addressed(sending what) {
    what.is_alone = std::exchange(is_alone_, false);
    what.passes_time = passes_time_;
    return what;
  }

  verdict send_message(const std::string& text) {
    auto read = read_json(with_revision(text, revision_));
    if (!read) return read.error();
    auto message = substitute(*read, known_);
    if (is_modern() && script_.adds_meta) add_meta(message);
    remember_ids(message);
    return send(addressed({json::serialize(message), headers_.of_message(message, is_modern() ? revision_ : negotiated_)}));
  }

  static void add_meta(json::value& message) {
    auto* envelope = message.if_object();
    if (envelope == nullptr || !envelope->contains("id")) return;
    auto& params = envelope->emplace("params", json::object()).first->value();
    if (!params.is_object()) return;
    auto& meta = params.get_object().emplace("_meta", json::object()).first->value();
    if (!meta.is_object()) return;
    for (auto& [key, value] : modern_meta()) meta.get_object().emplace(key, value);
  }

  void remember_raw(const std::string& bytes) {
    std::istringstream lines(bytes);
    for (std::string one; std::getline(lines, one);) {
      if (const auto message = read_json(one)) remember_ids(*message);
    }
  }

  void remember_ids(const json::value& message) {
    if (const auto* batch = message.if_array()) {
      for (const auto& one : *batch) remember_ids(one);
    }
    const auto* envelope = message.if_object();
    if (envelope == nullptr) return;
    const auto* id = envelope->if_contains("id");
    const auto* method = envelope->if_contains("method");
    if (id != nullptr && method != nullptr && method->is_string()) {
      methods_[json::serialize(*id)] = std::string(method->get_string());
    }
  }

  verdict send(const sending& what) {
    const auto sent = to_.send(what, deadline());
    if (!sent) return sent.error();
    if (!is_http()) return {};
    // A status that the transcript does not name is the ordinary one.
    for (auto next = at_ + 1; next < script_.steps.size(); ++next) {
      const auto kind = script_.steps[next].what;
      if (kind == step::kind::expect_status) return {};
      if (kind != step::kind::expect && kind != step::kind::expect_any_order) break;
    }
    const auto status = *to_.status();
    return status == 200 || status == 202 || status == 204
               ? verdict()
               : "HTTP status " + std::to_string(status) + " that the transcript does not expect" + rest();
  }

  std::string rest() {
    const auto message = to_.receive(std::chrono::steady_clock::now(), false);
    return message ? ": " + message->substr(0, 1000) : std::string();
  }

  tl::expected<json::value, std::string> receive() {
    const auto text = to_.receive(deadline(), passes_time_);
    if (!text) return tl::unexpected(std::string("no message came"));
    if (text->find('\n') != std::string::npos) return tl::unexpected("a message with a line break: " + text->substr(0, 500));
    auto message = read_json(*text);
    if (!message) return message;
    write_down(*message);
    return message;
  }

  void write_down(const json::value& message) {
    if (const auto* batch = message.if_array()) {
      for (const auto& one : *batch) write_down(one);
    }
    messages.push_back({schema_of(message), method_of(message), json::serialize(message)});
  }

  /// Answers may be of another revision than the transcript: that which was negotiated, or the stateless one.
  [[nodiscard]] std::string schema_of(const json::value& message) const {
    const auto* object = message.if_object();
    if (object == nullptr) return revision_;
    const auto* settled = at_path(message, "result", "protocolVersion");
    if (settled != nullptr && settled->is_string()) return std::string(settled->get_string());
    const auto* code = at_path(message, "error", "code");
    const bool is_new_error = code != nullptr && code->is_int64() && code->get_int64() <= -32020 && code->get_int64() >= -32099;
    const bool is_modern_result = at_path(message, "result", "resultType") != nullptr;
    return is_new_error || is_modern_result ? std::string(modern_revision) : revision_;
  }

  std::string method_of(const json::value& message) const {
    const auto* envelope = message.if_object();
    const auto* id = envelope == nullptr ? nullptr : envelope->if_contains("id");
    if (id == nullptr) return {};
    const auto place = methods_.find(json::serialize(*id));
    return place == methods_.end() ? std::string() : place->second;
  }

  verdict expect(const std::string& text) {
    const auto expected = read_json(with_revision(text, revision_));
    if (!expected) return expected.error();
    const auto got = receive();
    if (!got) return got.error();
    if (auto found = difference(*expected, *got, known_)) return *found + "\n    in " + json::serialize(*got).substr(0, 2000);
    return {};
  }

  /// Takes this line and those like it that follow.
  verdict expect_any_order() {
    std::vector<json::value> waiting;
    for (;;) {
      const auto expected = read_json(with_revision(script_.steps[at_].text, revision_));
      if (!expected) return expected.error();
      waiting.push_back(*expected);
      if (at_ + 1 == script_.steps.size() || script_.steps[at_ + 1].what != step::kind::expect_any_order) break;
      ++at_;
    }
    while (!waiting.empty()) {
      const auto got = receive();
      if (!got) return got.error();
      const auto place =
          std::find_if(waiting.begin(), waiting.end(), [&](const json::value& one) { return !difference(one, *got, known_); });
      if (place == waiting.end()) return "none of the expected lines is " + json::serialize(*got).substr(0, 2000);
      waiting.erase(place);
    }
    return {};
  }

  verdict shake_hands() {
    at_ = script_.steps.size();  // no step says what these messages answer
    if (auto fault =
            send_message(R"({"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"{revision}",)"
                         R"("capabilities":{},"clientInfo":{"name":"transcripts","version":"1.0.0"}}})")) {
      return fault;
    }
    const auto got = receive();
    if (!got) return got.error();
    const auto* settled = got->is_object() ? at_path(*got, "result", "protocolVersion") : nullptr;
    if (settled == nullptr || *settled != json::value(revision_)) return "answered by " + json::serialize(*got).substr(0, 2000);
    // The header came with 2025-06-18, and clients send it for the oldest revision too; without it a server assumes 2025-03-26.
    if (revision_ != "2025-03-26") negotiated_ = revision_;
    return send_message(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  }

  /// One more request, whose answer must be the next message.
  verdict close() {
    if (!has_ended_ && !is_http()) {
      const bool pings = !is_modern() && script_.handshake;
      if (pings) {
        if (auto fault = send_message(R"({"jsonrpc":"2.0","id":"fence","method":"ping"})")) return fault;
        if (auto fault = expect(R"({"jsonrpc":"2.0","id":"fence","result":{}})")) return fault;
      } else {
        json::value fence{
            {"jsonrpc", "2.0"}, {"id", "fence"}, {"method", "server/discover"}, {"params", {{"_meta", modern_meta()}}}};
        if (auto fault = send({json::serialize(fence), {}})) return fault;
        const auto got = receive();
        if (!got) return got.error();
        messages.pop_back();
        const auto* id = got->is_object() ? got->get_object().if_contains("id") : nullptr;
        if (id == nullptr || *id != json::value("fence")) return "a message too many: " + json::serialize(*got).substr(0, 2000);
      }
    }
    const auto left = to_.finish(deadline());
    if (!left) return left.error();
    if (!left->empty()) return "a message too many: " + left->front().substr(0, 2000);
    return {};
  }

  const transcript& script_;
  std::string revision_;
  line& to_;
  std::size_t at_ = 0;
  bool has_ended_ = false;
  bool is_alone_ = false;
  bool passes_time_ = false;
  std::string negotiated_;
  bindings known_;
  std::map<std::string, std::string> methods_;  // by id, as JSON
  post_headers headers_;
};

}  // namespace

performance play(const transcript& what, const std::string& revision, const manner& how, const std::filesystem::path& program) {
  performance out;
  auto opened = how.transport == "memory"  ? open_memory_line(what.server)
                : how.transport == "stdio" ? open_stdio_line(program, what.server, how.bytewise)
                                           : open_http_line(what.server, how.bytewise);
  if (!opened) {
    out.fault = opened.error();
    return out;
  }
  conversation talk(what, revision, **opened);
  out.fault = talk.run();
  out.messages = std::move(talk.messages);
  return out;
}

}  // namespace transcripts
