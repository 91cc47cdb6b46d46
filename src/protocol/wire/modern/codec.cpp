/// The stateless revision 2026-07-28.
#include "protocol/wire/modern/codec.hpp"

#include <array>
#include <utility>

#include "base/json/writer.hpp"
#include "protocol/wire/entry_json.hpp"
#include "protocol/wire/modern/requests.hpp"
#include "protocol/wire/notifications.hpp"
#include "protocol/wire/request_params.hpp"
#include "protocol/wire/skills.hpp"
#include "protocol/wire/tools_and_prompts.hpp"
#include "protocol/wire/versioned_resources.hpp"
#include "protocol/wire/wire_constants.hpp"

namespace hondana::wire::modern {
namespace {

constexpr std::array<std::string_view, 1> names{this_revision};

constexpr entry_members plain_members{true, true, true, true, false, true, true, true};
constexpr entry_members versioned_members{true, true, true, true, false, true, true, true, true};
constexpr input_members inputs{true, true, true, false, true, plain_members};

void begin_result(json::writer& writer) { writer.begin_object().member("resultType", "complete"); }

void write_server(json::writer& writer, const model::server_info& server) {
  writer.key(server_key).begin_object().member("name", server.name).member_if("title", server.title);
  writer.member("version", server.version).end_object();
}

/// `extra_meta`: further members of `_meta`, if it is an object.
void end_result(json::writer& writer, const model::server_info& server, const value& extra_meta = {}) {
  writer.key("_meta").begin_object();
  if (const auto* members = extra_meta.as_object()) {
    for (const auto& [name, member_value] : *members) {
      if (name != server_key) writer.key(name).raw(member_value.to_text());
    }
  }
  write_server(writer, server);
  writer.end_object().end_object();
}

void write_cache(json::writer& writer, const model::cache_hint& cache) {
  writer.key("ttlMs").integer(cache.ttl.count());
  writer.member("cacheScope", cache.is_private ? "private" : "public");
}

template <class Entry>
const Entry* to_address(const Entry& entry) {
  return &entry;
}
template <class Entry>
const Entry* to_address(const std::shared_ptr<const Entry>& entry) {
  return entry.get();
}

template <class Result>
std::string encode_members(const Result& result, const model::server_info& server, const value& meta,
                           const entry_members& members) {
  std::string text;
  json::writer writer(text);
  begin_result(writer);
  write(writer, result, members);
  end_result(writer, server, meta);
  return text;
}

template <class Entries>
std::string encode_page(std::string_view name, const Entries& entries, const std::optional<std::string>& next_cursor,
                        const std::optional<model::cache_hint>& cache, const model::server_info& server,
                        const entry_members& members) {
  std::string text;
  json::writer writer(text);
  begin_result(writer);
  writer.key(name).begin_array();
  for (const auto& entry : entries) write(writer, *to_address(entry), members);
  writer.end_array();
  if (next_cursor) writer.member("nextCursor", *next_cursor);
  if (cache) write_cache(writer, *cache);
  end_result(writer, server);
  return text;
}

class modern_codec final : public codec {
 public:
  explicit modern_codec(const entry_members& members) noexcept : members_(members) {}

  [[nodiscard]] std::string_view revision() const noexcept override { return this_revision; }
  [[nodiscard]] bool has_batches() const noexcept override { return false; }
  [[nodiscard]] bool writes_null_ids() const noexcept override { return false; }
  [[nodiscard]] bool supports_polling() const noexcept override { return false; }
  [[nodiscard]] const codec& versioned() const noexcept override;

  [[nodiscard]] decoded<model::request> decode(const rpc::request& request,
                                               const rpc::request_info& request_info) const override {
    return decode_request(request, request_info);
  }

  [[nodiscard]] decoded<model::operation> decode(const rpc::notification& notification) const override {
    if (notification.method == "notifications/cancelled") return decode_cancelled(notification.method, notification.params);
    return model::operation{model::no_operation{}};
  }

  [[nodiscard]] std::optional<protocol_error> reject_undeclared(const model::operation& operation,
                                                                const model::server_info& server) const override {
    if (const auto method = undeclared_method(operation, server); !method.empty()) return unknown_method(method);
    if (const auto method = skills::undeclared_method(operation, server); !method.empty()) return unknown_method(method);
    if (std::holds_alternative<model::complete>(operation) && !server.has_completions)
      return unknown_method("completion/complete");
    const bool announces = server.has_subscriptions || server.announces_resources;
    if (std::holds_alternative<model::listen>(operation) && !announces) return unknown_method("subscriptions/listen");
    return std::nullopt;
  }

  [[nodiscard]] std::string encode_handshake(const model::server_info& server) const override {
    std::string text;
    json::writer writer(text);
    begin_result(writer);
    writer.key("supportedVersions").begin_array();
    for (const auto name : names) writer.string(name);
    writer.end_array();
    writer.key("capabilities").begin_object();
    write_resources_capability(writer, server);
    if (server.has_completions) writer.key("completions").begin_object().end_object();
    write_handler_capabilities(writer, server);
    writer.key("extensions").begin_object();
    versioned::write_setting(writer);
    if (skills::is_declared(server)) skills::write_setting(writer, server);
    writer.end_object();
    writer.end_object();
    writer.member_if("instructions", server.instructions);
    write_cache(writer, {});
    end_result(writer, server);
    return text;
  }

  [[nodiscard]] std::string encode_empty(const model::server_info& server) const override {
    std::string text;
    json::writer writer(text);
    begin_result(writer);
    end_result(writer, server);
    return text;
  }

  [[nodiscard]] std::string encode(const model::resource_page& page, const model::server_info& server) const override {
    return encode_page("resources", page.resources, page.next_cursor, page.cache, server, members_);
  }

  [[nodiscard]] std::string encode(const model::template_page& page, const model::server_info& server) const override {
    return encode_page("resourceTemplates", page.templates, page.next_cursor, page.cache, server, members_);
  }

  [[nodiscard]] std::string encode(const model::directory_page& page, const model::server_info& server) const override {
    return encode_page("resources", page.resources, page.next_cursor, std::nullopt, server, members_);
  }

  [[nodiscard]] std::string encode(const model::skill_page& page, const model::server_info& server) const override {
    return encode_page("skills", page.skills, page.next_cursor, page.cache, server, members_);
  }

  [[nodiscard]] std::string encode(const model::skill_answer& answer, const model::server_info& server) const override {
    std::string text;
    json::writer writer(text);
    begin_result(writer);
    writer.key("skill");
    write(writer, answer.skill, members_);
    write_cache(writer, answer.cache);
    end_result(writer, server);
    return text;
  }

  [[nodiscard]] std::string encode(const model::tool_page& page, const model::server_info& server) const override {
    return encode_page("tools", page.tools, page.next_cursor, page.cache, server, members_);
  }

  [[nodiscard]] std::string encode(const model::prompt_page& page, const model::server_info& server) const override {
    return encode_page("prompts", page.prompts, page.next_cursor, page.cache, server, members_);
  }

  [[nodiscard]] std::string encode(const tool_result& result, const model::server_info& server) const override {
    return encode_members(result, server, result.meta.value_or(value()), members_);
  }

  [[nodiscard]] std::string encode(const prompt_result& result, const model::server_info& server) const override {
    return encode_members(result, server, value(), members_);
  }

  [[nodiscard]] bool validation_errors_are_results() const noexcept override { return true; }

  [[nodiscard]] std::optional<protocol_error> reject_mismatched_headers(const std::vector<model::mirrored_argument>& mirrored,
                                                                        const value& arguments,
                                                                        const rpc::http_headers& headers) const override {
    return argument_mismatch(mirrored, arguments, headers);
  }

  [[nodiscard]] bool sends_input_requests() const noexcept override { return false; }

  [[nodiscard]] bool supports_request(const input_request& request) const noexcept override {
    return wire::supports_request(request, inputs);
  }

  [[nodiscard]] std::string encode_request(std::string_view, const input_request&) const override {
    return {};  // never called: see sends_input_requests
  }

  [[nodiscard]] std::string encode_input_required(const input_required& input, std::string_view sealed_state,
                                                  const model::server_info& server) const override {
    std::string text;
    json::writer writer(text);
    writer.begin_object().member("resultType", "input_required");
    if (!input.requests.empty()) {
      writer.key("inputRequests").begin_object();
      for (const auto& [key, request] : input.requests) {
        writer.key(key).begin_object();
        write(writer, request, inputs);
        writer.end_object();
      }
      writer.end_object();
    }
    writer.member_if("requestState", sealed_state);
    end_result(writer, server);
    return text;
  }

  [[nodiscard]] protocol_error encode_missing_capabilities(std::string missing) const override {
    return {codes::missing_capability, "Missing required client capability: " + missing,
            "{\"requiredCapabilities\":" + missing + '}', 400};
  }

  [[nodiscard]] std::string encode(const complete_result& values, const model::server_info& server) const override {
    std::string text;
    json::writer writer(text);
    begin_result(writer);
    write(writer, values);
    end_result(writer, server);
    return text;
  }

  [[nodiscard]] rpc::body encode(bytes::prepared_read_result reading,
                                 const std::shared_ptr<executor::executor>& reader_executor, const model::cache_hint& cache,
                                 const model::server_info& server) const override {
    rpc::body body(R"({"resultType":"complete",)");
    append_contents(body, std::move(reading), reader_executor, members_);
    body.text() += cached_tail(cache, server);
    return body;
  }

  [[nodiscard]] rpc::body encode_resource(const resource& entry, bytes::prepared_content content,
                                          const std::shared_ptr<executor::executor>& reader_executor,
                                          const model::cache_hint& cache, const model::server_info& server) const override {
    rpc::body body(R"({"resultType":"complete",)");
    versioned::append_resource(body, entry, std::move(content), reader_executor, members_);
    body.text() += cached_tail(cache, server);
    return body;
  }

  [[nodiscard]] protocol_error encode_unmodified(std::string_view uri, std::string_view version) const override {
    return versioned::not_modified(uri, version);
  }

  [[nodiscard]] std::string encode_change(const model::change& change,
                                          const std::optional<rpc::request_id>& stream) const override {
    return wire::encode_change(change, false, members_, [&stream](json::writer& writer) {
      if (stream) write_stream_tag(writer, *stream);
    });
  }

  [[nodiscard]] std::string encode_acknowledgement(const model::subscription_filter& accepted,
                                                   const rpc::request_id& stream) const override {
    return acknowledge(accepted, stream);
  }

  [[nodiscard]] std::string encode_stream_end(const rpc::request_id& stream, const model::server_info& server) const override {
    std::string text;
    json::writer writer(text);
    begin_result(writer);
    writer.key("_meta").begin_object();
    write_stream_id(writer, stream);
    write_server(writer, server);
    writer.end_object().end_object();
    return text;
  }

  [[nodiscard]] protocol_error encode_failure(const failure& failure, std::string_view uri) const override {
    auto error = encode_common_failure(failure);
    if (failure.code == errc::resource_not_found || failure.code == errc::access_denied) {
      error.message = "Resource not found";
      error.data = uri_data(uri);
    }
    return error;
  }

 private:
  /// The end of a result whose contents may have to be pulled.
  static std::string cached_tail(const model::cache_hint& cache, const model::server_info& server) {
    std::string tail;
    json::writer writer(tail);
    writer.begin_object();
    write_cache(writer, cache);
    end_result(writer, server);
    tail.front() = ',';  // continues the object that the contents began
    return tail;
  }

  entry_members members_;
};

const codec& modern_codec::versioned() const noexcept {
  static const modern_codec instance(versioned_members);
  return instance;
}

}  // namespace

const codec& current() noexcept {
  static const modern_codec instance(plain_members);
  return instance;
}

std::span<const std::string_view> revisions() noexcept { return names; }

}  // namespace hondana::wire::modern
