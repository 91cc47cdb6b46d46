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

void begin_result(json::writer& to) { to.begin_object().member("resultType", "complete"); }

void write_server(json::writer& to, const model::self_description& self) {
  to.key(server_key).begin_object().member("name", self.name).member_if("title", self.title);
  to.member("version", self.version).end_object();
}

/// `more`: further members of `_meta`, if it is an object.
void end_result(json::writer& to, const model::self_description& self, const value& more = {}) {
  to.key("_meta").begin_object();
  if (const auto* given = more.as_object()) {
    for (const auto& [name, what] : *given) {
      if (name != server_key) to.key(name).raw(what.to_text());
    }
  }
  write_server(to, self);
  to.end_object().end_object();
}

void write_cache(json::writer& to, const model::cache_hint& cache) {
  to.key("ttlMs").integer(cache.ttl.count());
  to.member("cacheScope", cache.is_private ? "private" : "public");
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
std::string encode_members(const Result& result, const model::self_description& self, const value& meta,
                           const entry_members& members) {
  std::string text;
  json::writer to(text);
  begin_result(to);
  write(to, result, members);
  end_result(to, self, meta);
  return text;
}

template <class Entries>
std::string encode_page(std::string_view name, const Entries& entries, const std::optional<std::string>& next_cursor,
                        const std::optional<model::cache_hint>& cache, const model::self_description& self,
                        const entry_members& members) {
  std::string text;
  json::writer to(text);
  begin_result(to);
  to.key(name).begin_array();
  for (const auto& entry : entries) write(to, *to_address(entry), members);
  to.end_array();
  if (next_cursor) to.member("nextCursor", *next_cursor);
  if (cache) write_cache(to, *cache);
  end_result(to, self);
  return text;
}

class modern_codec final : public codec {
 public:
  explicit modern_codec(const entry_members& members) noexcept : members_(members) {}

  [[nodiscard]] std::string_view revision() const noexcept override { return this_revision; }
  [[nodiscard]] bool has_batches() const noexcept override { return false; }
  [[nodiscard]] bool writes_null_ids() const noexcept override { return false; }
  [[nodiscard]] bool may_poll() const noexcept override { return false; }
  [[nodiscard]] const codec& versioned() const noexcept override;

  [[nodiscard]] decoded<model::request> decode(const rpc::request& from, const rpc::facts& facts) const override {
    return decode_request(from, facts);
  }

  [[nodiscard]] decoded<model::operation> decode(const rpc::notification& from) const override {
    if (from.method == "notifications/cancelled") return decode_cancelled(from.method, from.params);
    return model::operation{model::no_operation{}};
  }

  [[nodiscard]] std::optional<protocol_error> refuse_undeclared(const model::operation& what,
                                                                const model::self_description& self) const override {
    if (const auto method = undeclared_method(what, self); !method.empty()) return unknown(method);
    if (const auto method = skills::undeclared_method(what, self); !method.empty()) return unknown(method);
    if (std::holds_alternative<model::complete>(what) && !self.has_completions) return unknown("completion/complete");
    const bool announces = self.has_subscriptions || self.announces_resources;
    if (std::holds_alternative<model::listen>(what) && !announces) return unknown("subscriptions/listen");
    return std::nullopt;
  }

  [[nodiscard]] std::string encode_greeting(const model::self_description& self) const override {
    std::string text;
    json::writer to(text);
    begin_result(to);
    to.key("supportedVersions").begin_array();
    for (const auto name : names) to.string(name);
    to.end_array();
    to.key("capabilities").begin_object();
    write_resources_capability(to, self);
    if (self.has_completions) to.key("completions").begin_object().end_object();
    write_handler_capabilities(to, self);
    to.key("extensions").begin_object();
    versioned::write_setting(to);
    if (skills::is_declared(self)) skills::write_setting(to, self);
    to.end_object();
    to.end_object();
    to.member_if("instructions", self.instructions);
    write_cache(to, {});
    end_result(to, self);
    return text;
  }

  [[nodiscard]] std::string encode_empty(const model::self_description& self) const override {
    std::string text;
    json::writer to(text);
    begin_result(to);
    end_result(to, self);
    return text;
  }

  [[nodiscard]] std::string encode(const model::resource_page& page, const model::self_description& self) const override {
    return encode_page("resources", page.resources, page.next_cursor, page.cache, self, members_);
  }

  [[nodiscard]] std::string encode(const model::template_page& page, const model::self_description& self) const override {
    return encode_page("resourceTemplates", page.templates, page.next_cursor, page.cache, self, members_);
  }

  [[nodiscard]] std::string encode(const model::directory_page& page, const model::self_description& self) const override {
    return encode_page("resources", page.resources, page.next_cursor, std::nullopt, self, members_);
  }

  [[nodiscard]] std::string encode(const model::skill_page& page, const model::self_description& self) const override {
    return encode_page("skills", page.skills, page.next_cursor, page.cache, self, members_);
  }

  [[nodiscard]] std::string encode(const model::skill_answer& one, const model::self_description& self) const override {
    std::string text;
    json::writer to(text);
    begin_result(to);
    to.key("skill");
    write(to, one.skill, members_);
    write_cache(to, one.cache);
    end_result(to, self);
    return text;
  }

  [[nodiscard]] std::string encode(const model::tool_page& page, const model::self_description& self) const override {
    return encode_page("tools", page.tools, page.next_cursor, page.cache, self, members_);
  }

  [[nodiscard]] std::string encode(const model::prompt_page& page, const model::self_description& self) const override {
    return encode_page("prompts", page.prompts, page.next_cursor, page.cache, self, members_);
  }

  [[nodiscard]] std::string encode(const tool_result& result, const model::self_description& self) const override {
    return encode_members(result, self, result.meta, members_);
  }

  [[nodiscard]] std::string encode(const prompt_result& result, const model::self_description& self) const override {
    return encode_members(result, self, value(), members_);
  }

  [[nodiscard]] bool misfits_are_results() const noexcept override { return true; }

  [[nodiscard]] std::optional<protocol_error> refuse_mirrored(const std::vector<model::mirrored_argument>& mirrored,
                                                              const value& arguments,
                                                              const rpc::http_headers& headers) const override {
    return argument_mismatch(mirrored, arguments, headers);
  }

  [[nodiscard]] bool asks_by_requests() const noexcept override { return false; }

  [[nodiscard]] bool has_request(const input_request& what) const noexcept override { return wire::has_request(what, inputs); }

  [[nodiscard]] std::string encode_request(std::string_view, const input_request&) const override {
    return {};  // never called: see asks_by_requests
  }

  [[nodiscard]] std::string encode_required(const input_required& what, std::string_view sealed_state,
                                            const model::self_description& self) const override {
    std::string text;
    json::writer to(text);
    to.begin_object().member("resultType", "input_required");
    if (!what.requests.empty()) {
      to.key("inputRequests").begin_object();
      for (const auto& [key, one] : what.requests) {
        to.key(key).begin_object();
        write(to, one, inputs);
        to.end_object();
      }
      to.end_object();
    }
    to.member_if("requestState", sealed_state);
    end_result(to, self);
    return text;
  }

  [[nodiscard]] protocol_error encode_lacking(std::string lacking) const override {
    return {codes::missing_capability, "Missing required client capability: " + lacking,
            "{\"requiredCapabilities\":" + lacking + '}', 400};
  }

  [[nodiscard]] std::string encode(const complete_result& values, const model::self_description& self) const override {
    std::string text;
    json::writer to(text);
    begin_result(to);
    write(to, values);
    end_result(to, self);
    return text;
  }

  [[nodiscard]] rpc::body encode(bytes::prepared_reading reading, const std::shared_ptr<executor::lane>& home,
                                 const model::cache_hint& cache, const model::self_description& self) const override {
    rpc::body body(R"({"resultType":"complete",)");
    append_contents(body, std::move(reading), home, members_);
    body.text() += cached_tail(cache, self);
    return body;
  }

  [[nodiscard]] rpc::body encode_got(const resource& entry, bytes::prepared content,
                                     const std::shared_ptr<executor::lane>& home, const model::cache_hint& cache,
                                     const model::self_description& self) const override {
    rpc::body body(R"({"resultType":"complete",)");
    versioned::append_got(body, entry, std::move(content), home, members_);
    body.text() += cached_tail(cache, self);
    return body;
  }

  [[nodiscard]] protocol_error encode_unmodified(std::string_view uri, std::string_view version) const override {
    return versioned::not_modified(uri, version);
  }

  [[nodiscard]] std::string encode_change(const model::change& what,
                                          const std::optional<rpc::request_id>& stream) const override {
    return wire::encode_change(what, false, members_, [&stream](json::writer& to) {
      if (stream) write_stream_tag(to, *stream);
    });
  }

  [[nodiscard]] std::string encode_acknowledged(const model::interests& honoured,
                                                const rpc::request_id& stream) const override {
    return acknowledge(honoured, stream);
  }

  [[nodiscard]] std::string encode_listened(const rpc::request_id& stream, const model::self_description& self) const override {
    std::string text;
    json::writer to(text);
    begin_result(to);
    to.key("_meta").begin_object();
    write_stream_id(to, stream);
    write_server(to, self);
    to.end_object().end_object();
    return text;
  }

  [[nodiscard]] protocol_error encode_failure(const failure& why, std::string_view uri) const override {
    auto error = encode_plain_failure(why);
    if (why.code == errc::resource_not_found || why.code == errc::access_denied) {
      error.message = "Resource not found";
      error.data = uri_data(uri);
    }
    return error;
  }

 private:
  /// The end of a result whose contents may have to be pulled.
  static std::string cached_tail(const model::cache_hint& cache, const model::self_description& self) {
    std::string tail;
    json::writer to(tail);
    to.begin_object();
    write_cache(to, cache);
    end_result(to, self);
    tail.front() = ',';  // continues the object that the contents began
    return tail;
  }

  entry_members members_;
};

const codec& modern_codec::versioned() const noexcept {
  static const modern_codec only(versioned_members);
  return only;
}

}  // namespace

const codec& current() noexcept {
  static const modern_codec only(plain_members);
  return only;
}

std::span<const std::string_view> revisions() noexcept { return names; }

}  // namespace hondana::wire::modern
