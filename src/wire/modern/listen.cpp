/// Wishes in, acknowledgment out.
#include "wire/modern/listen.hpp"

#include <array>
#include <utility>

#include "wire/params.hpp"

namespace hondana::wire::modern {
namespace {

constexpr std::string_view stream_key = "io.modelcontextprotocol/subscriptionId";

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

json::decoded<void> read_uris(const json::object& filter, model::listen& into) {
  const auto member = filter.find(uris_name);
  if (!member) return tl::unexpected(member.error());
  if (!*member) return {};
  const auto path = filter.path_of(uris_name);
  const auto list = (*member)->as_array(path);
  if (!list) return tl::unexpected(list.error());
  const auto elements = list->elements();
  if (elements.size() > most_listened) {
    return tl::unexpected(json::bad_member{path, "at most " + std::to_string(most_listened) + " URIs a stream"});
  }
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto place = path + "[" + std::to_string(i) + "]";
    const auto text = elements[i].as_string(place);
    if (!text) return tl::unexpected(text.error());
    auto uri = spell_uri(*text, place);
    if (!uri) return tl::unexpected(uri.error());
    into.wanted.uris.push_back(std::move(uri->asked));
    into.canonical_uris.push_back(std::move(uri->canonical));
  }
  return {};
}

json::decoded<model::listen> read_filter(const json::object& params) {
  model::listen what;
  const auto filter = params.get_object("notifications");
  if (!filter) return tl::unexpected(filter.error());
  for (const auto& one : flags) {
    const auto member = filter->find(one.name);
    if (!member) return tl::unexpected(member.error());
    if (!*member) continue;
    const auto wanted = (*member)->as_boolean(filter->path_of(one.name));
    if (!wanted) return tl::unexpected(wanted.error());
    what.wanted.*one.member = *wanted;
  }
  if (const auto uris = read_uris(*filter, what); !uris) return tl::unexpected(uris.error());
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
  if (!honoured.uris.empty()) {
    to.key(uris_name).begin_array();
    for (const auto& uri : honoured.uris) to.string(uri);
    to.end_array();
  }
  to.end_object().end_object().end_object();
  return text;
}

}  // namespace hondana::wire::modern
