/// Implements the public class `client` on top of `outbound::engine`.

#include <utility>

#include <hondana/client.hpp>

#include "client/composed_calls.hpp"
#include "client/engine.hpp"

namespace hondana::inline v0 {

namespace asking = wire::asking;

namespace {

/// Makes a list of pages. The list does not keep the client alive: after the client is destroyed, the next page fails as
/// cancelled.
template <class T, class Get>
paged_range<T> make_paged_range(const std::shared_ptr<outbound::engine>& engine, Get fetch_page) {
  return paged_range<T>(
      [weak = std::weak_ptr(engine), fetch_page](const std::optional<std::string>& cursor) -> result<list_page<T>> {
        const auto alive = weak.lock();
        if (!alive) return fail(errc::cancelled, "the client has been closed");
        return fetch_page(*alive, cursor);
      });
}

}  // namespace

class client::engine final : public outbound::engine {
 public:
  using outbound::engine::engine;
};

struct client::watch_handle::state {
  std::shared_ptr<outbound::engine> engine;
  std::shared_ptr<outbound::watch_entry> watch;
};

client::client(std::shared_ptr<engine> engine) noexcept : engine_(std::move(engine)) {}
client::client(client&&) noexcept = default;

client& client::operator=(client&& other) noexcept {
  if (this == &other) return *this;
  if (engine_) engine_->close();
  engine_ = std::move(other.engine_);
  return *this;
}

client::~client() {
  if (engine_) engine_->close();
}

result<client> client::connect(client_target target, client_options options, const call_options& connect_options) {
  auto created = std::make_shared<engine>(std::move(target), std::move(options));
  if (auto opened = created->open(connect_options); !opened) {
    created->close();
    return tl::unexpected(std::move(opened.error()));
  }
  return client(std::move(created));
}

// Each call below copies the `shared_ptr` of the engine, because the client may be destroyed during the call.

server_description client::server() const { return engine_->server(); }

result<list_page<resource>> client::resource_page(const std::optional<std::string>& cursor, const entry_filter& filter,
                                                  const call_options& options) {
  const auto engine = engine_;
  return outbound::resource_page(*engine, cursor, filter, options);
}

paged_range<resource> client::resources(entry_filter filter, call_options options) {
  return make_paged_range<resource>(engine_, [stored_filter = std::move(filter), stored_options = std::move(options)](
                                                 outbound::engine& engine, const auto& cursor) {
    return outbound::resource_page(engine, cursor, stored_filter, stored_options);
  });
}

paged_range<resource_template> client::templates(call_options options) {
  return make_paged_range<resource_template>(
      engine_,
      [stored_options = std::move(options)](outbound::engine& engine,
                                            const auto& cursor) -> result<list_page<resource_template>> {
        HONDANA_TRY(engine.require(&server_description::has_resources, "resources", stored_options));
        HONDANA_TRY(auto response,
                    engine.call({.message = asking::list_templates(cursor), .is_cacheable = true}, stored_options));
        return asking::parse_templates(response.result());
      });
}

paged_range<resource> client::children(std::string uri, call_options options) {
  return make_paged_range<resource>(
      engine_,
      [uri = std::move(uri), stored_options = std::move(options)](outbound::engine& engine,
                                                                  const auto& cursor) -> result<list_page<resource>> {
        HONDANA_TRY(engine.require(&server_description::has_folders, "directory reads", stored_options));
        HONDANA_TRY(auto response, engine.call({.message = asking::list_folder(uri, cursor)}, stored_options));
        return asking::parse_resources(response.result());
      });
}

result<read_response> client::read(std::string_view uri, const call_options& options) {
  const auto engine = engine_;
  return engine->read(uri, {}, {}, options);
}

result<read_response> client::read_if_changed(std::string_view uri, std::string_view version, const call_options& options) {
  const auto engine = engine_;
  return engine->read(uri, version, {}, options);
}

result<read_response> client::read_to(std::string_view uri, content_writer writer, const call_options& options) {
  if (!writer) return fail(errc::invalid_argument, "the content writer is missing");
  const auto engine = engine_;
  return engine->read(uri, {}, writer, options);
}

result<resource> client::describe(std::string_view uri, const call_options& options) {
  const auto engine = engine_;
  return outbound::describe(*engine, uri, options);
}

result<std::string> client::expand(std::string_view uri_template, const uri_template_values& values) {
  const auto compiled = hondana::uri_template::compile(uri_template);
  if (!compiled) return tl::unexpected(compiled.error());
  return compiled->expand(values);
}

namespace {

result<complete_result> send_completion(outbound::engine& engine, asking::request request, const call_options& options) {
  HONDANA_TRY(engine.require(&server_description::has_completion, "completion", options));
  HONDANA_TRY(auto response, engine.call({.message = std::move(request)}, options));
  return asking::parse_completion(response.result());
}

}  // namespace

result<complete_result> client::complete(std::string_view uri_template, std::string_view variable, std::string_view typed,
                                         const std::vector<std::pair<std::string, std::string>>& context,
                                         const call_options& options) {
  const auto engine = engine_;
  return send_completion(*engine, asking::complete_template(uri_template, variable, typed, context), options);
}

result<complete_result> client::complete_prompt(std::string_view prompt, std::string_view argument, std::string_view typed,
                                                const std::vector<std::pair<std::string, std::string>>& context,
                                                const call_options& options) {
  const auto engine = engine_;
  return send_completion(*engine, asking::complete_prompt(prompt, argument, typed, context), options);
}

client::watch_handle::watch_handle() noexcept = default;
client::watch_handle::watch_handle(std::shared_ptr<state> state) noexcept : state_(std::move(state)) {}
client::watch_handle::watch_handle(watch_handle&&) noexcept = default;

client::watch_handle& client::watch_handle::operator=(watch_handle&& other) noexcept {
  if (this == &other) return *this;
  const watch_handle previous(std::move(*this));
  state_ = std::move(other.state_);
  return *this;
}

client::watch_handle::~watch_handle() {
  if (state_) state_->engine->watches().remove(state_->watch);
}

watch_request client::watch_handle::accepted() const {
  return state_ ? state_->engine->watches().accepted(*state_->watch) : watch_request{};
}

result<client::watch_handle> client::watch(watch_request request, watch_handler handler, const call_options& options) {
  const auto engine = engine_;
  HONDANA_TRY(auto entry, engine->watches().add(std::move(request), std::move(handler), options));
  return watch_handle(std::make_shared<watch_handle::state>(watch_handle::state{engine, std::move(entry)}));
}

paged_range<tool> client::tools(call_options options) {
  return make_paged_range<tool>(engine_, [stored_options = std::move(options)](outbound::engine& engine, const auto& cursor) {
    return engine.tool_page(cursor, stored_options);
  });
}

result<tool_response> client::call_tool(std::string_view name, const value& arguments, const call_options& options) {
  const auto engine = engine_;
  return outbound::call_tool(*engine, name, arguments, options);
}

paged_range<prompt> client::prompts(call_options options) {
  return make_paged_range<prompt>(
      engine_,
      [stored_options = std::move(options)](outbound::engine& engine, const auto& cursor) -> result<list_page<prompt>> {
        HONDANA_TRY(engine.require(&server_description::has_prompts, "prompts", stored_options));
        HONDANA_TRY(auto response,
                    engine.call({.message = asking::list_prompts(cursor), .is_cacheable = true}, stored_options));
        return asking::parse_prompts(response.result());
      });
}

result<prompt_result> client::get_prompt(std::string_view name,
                                         const std::vector<std::pair<std::string, std::string>>& arguments,
                                         const call_options& options) {
  const auto engine = engine_;
  HONDANA_TRY(engine->require(&server_description::has_prompts, "prompts", options));
  HONDANA_TRY(auto response, engine->call({.message = asking::get_prompt(name, arguments)}, options));
  return asking::parse_prompt(response.result());
}

paged_range<skill> client::skills(call_options options) {
  return make_paged_range<skill>(
      engine_, [stored_options = std::move(options)](outbound::engine& engine, const auto& cursor) -> result<list_page<skill>> {
        HONDANA_TRY(engine.require(&server_description::has_skills, "skills", stored_options));
        HONDANA_TRY(auto response, engine.call({.message = asking::list_skills(cursor), .is_cacheable = true}, stored_options));
        return asking::parse_skills(response.result());
      });
}

result<skill> client::find_skill(std::string_view uri, const call_options& options) {
  const auto engine = engine_;
  HONDANA_TRY(engine->require(&server_description::has_skills, "skills", options));
  HONDANA_TRY(auto response, engine->call({.message = asking::get_skill(uri), .is_cacheable = true}, options));
  return asking::parse_skill(response.result());
}

result<read_response> client::read_skill_file(const skill& skill, std::string_view uri, const call_options& options) {
  const auto engine = engine_;
  return outbound::read_skill_file(*engine, skill, uri, options);
}

result<value> client::request(std::string_view method, const value& params, const call_options& options) {
  const auto engine = engine_;
  return outbound::send_request(*engine, method, params, options);
}

void client::end_connection(std::string reason) {
  if (const auto channel = engine_->connection().peer().current_channel()) channel->end_connection(std::move(reason));
}

result<void> client::notify_roots_changed() {
  const auto engine = engine_;
  HONDANA_TRY(const auto ready, engine->connection().ensure_open({}));
  if (ready.is_modern) return {};
  engine->connection().peer().send(asking::roots_changed());
  return {};
}

}  // namespace hondana::inline v0
