/// Wishes in, acknowledgment out.
#include "protocol/wire/modern/listen.hpp"

#include <array>
#include <utility>
#include <vector>

#include "protocol/wire/names.hpp"
#include "protocol/wire/params.hpp"
#include "protocol/wire/versioned/dialect.hpp"

namespace hondana::wire::modern {
namespace {

struct flag {
  std::string_view name;
  bool model::interests::* member;
};
constexpr std::array flags{
    flag{"toolsListChanged", &model::interests::tools},
    flag{"promptsListChanged", &model::interests::prompts},
    flag{"resourcesListChanged", &model::interests::resources},
};
constexpr std::string_view uris_name = "resourceSubscriptions";

json::decoded<void> read_uris(const json::object& filter, std::string_view name, std::vector<std::string>& asked,
                              std::vector<std::string>& canonical) {
  auto uris = spell_uris(filter, name, most_listened, "a stream");
  if (!uris) return tl::unexpected(std::move(uris.error()));
  for (auto& one : *uris) {
    asked.push_back(std::move(one.asked));
    canonical.push_back(std::move(one.canonical));
  }
  return {};
}

void write_uris(json::writer& to, std::string_view name, const std::vector<std::string>& uris) {
  if (uris.empty()) return;
  to.key(name).begin_array();
  for (const auto& uri : uris) to.string(uri);
  to.end_array();
}

json::decoded<model::listen> read_filter(const json::object& params) {
  model::listen what;
  HONDANA_TRY(const auto filter, params.get_object("notifications"));
  for (const auto& one : flags) {
    HONDANA_TRY(const auto member, filter.find(one.name));
    if (!member) continue;
    HONDANA_TRY(const auto wanted, member->as_boolean(filter.path_of(one.name)));
    what.wanted.*one.member = wanted;
  }
  auto& wanted = what.wanted;
  HONDANA_TRY(read_uris(filter, uris_name, wanted.uris, what.canonical_uris));
  if (auto read = read_uris(filter, entries_member, wanted.entries, what.canonical_entries); !read) {
    return tl::unexpected(read.error());
  }
  return what;
}

}  // namespace

decoded<model::operation> decode_listen(std::string_view method, const json::object& params) {
  auto what = read_filter(params);
  if (!what) return tl::unexpected(invalid_params(method, what.error()));
  return model::operation{std::move(*what)};
}

void write_stream_id(json::writer& to, const rpc::request_id& stream) { to.key(stream_key).raw(rpc::to_json(stream)); }

void write_stream_tag(json::writer& to, const rpc::request_id& stream) {
  to.key("_meta").begin_object();
  write_stream_id(to, stream);
  to.end_object();
}

std::string acknowledge(const model::interests& honoured, const rpc::request_id& stream) {
  std::string text;
  json::writer to(text);
  to.begin_object().member("jsonrpc", "2.0").member("method", "notifications/subscriptions/acknowledged");
  to.key("params").begin_object();
  write_stream_tag(to, stream);
  to.key("notifications").begin_object();
  for (const auto& one : flags) {
    if (honoured.*one.member) to.key(one.name).boolean(true);
  }
  write_uris(to, uris_name, honoured.uris);
  write_uris(to, entries_member, honoured.entries);
  to.end_object().end_object().end_object();
  return text;
}

}  // namespace hondana::wire::modern
