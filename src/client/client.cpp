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
paged<T> pages(const std::shared_ptr<outbound::engine>& of, Get get) {
  return paged<T>([weak = std::weak_ptr(of), get](const std::optional<std::string>& cursor) -> result<page<T>> {
    const auto alive = weak.lock();
    if (!alive) return fail(errc::cancelled, "the client has been closed");
    return get(*alive, cursor);
  });
}

}  // namespace

class client::engine final : public outbound::engine {
 public:
  using outbound::engine::engine;
};

struct client::watching::state {
  std::shared_ptr<outbound::engine> of;
  std::shared_ptr<outbound::watch_entry> what;
};

client::client(std::shared_ptr<engine> inner) noexcept : engine_(std::move(inner)) {}
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

result<client> client::connect(client_target target, client_options options, const call_options& how) {
  auto made = std::make_shared<engine>(std::move(target), std::move(options));
  if (auto opened = made->open(how); !opened) {
    made->close();
    return tl::unexpected(std::move(opened.error()));
  }
  return client(std::move(made));
}

// Each call below copies the `shared_ptr` of the engine, because the client may be destroyed during the call.

server_description client::server() const { return engine_->server(); }

result<page<resource>> client::resource_page(const std::optional<std::string>& cursor, const entry_filter& wanted,
                                             const call_options& how) {
  const auto of = engine_;
  return outbound::resource_page(*of, cursor, wanted, how);
}

paged<resource> client::resources(entry_filter wanted, call_options how) {
  return pages<resource>(engine_, [wanted = std::move(wanted), how = std::move(how)](outbound::engine& of, const auto& cursor) {
    return outbound::resource_page(of, cursor, wanted, how);
  });
}

paged<resource_template> client::templates(call_options how) {
  return pages<resource_template>(
      engine_, [how = std::move(how)](outbound::engine& of, const auto& cursor) -> result<page<resource_template>> {
        HONDANA_TRY(of.need(&server_description::has_resources, "resources", how));
        HONDANA_TRY(auto got, of.call({.asked = asking::list_templates(cursor), .is_kept = true}, how));
        return asking::templates_of(got.result());
      });
}

paged<resource> client::children(std::string uri, call_options how) {
  return pages<resource>(
      engine_,
      [uri = std::move(uri), how = std::move(how)](outbound::engine& of, const auto& cursor) -> result<page<resource>> {
        HONDANA_TRY(of.need(&server_description::has_folders, "directory reads", how));
        HONDANA_TRY(auto got, of.call({.asked = asking::list_folder(uri, cursor)}, how));
        return asking::resources_of(got.result());
      });
}

result<read_answer> client::read(std::string_view uri, const call_options& how) {
  const auto of = engine_;
  return of->read(uri, {}, {}, how);
}

result<read_answer> client::read_if_changed(std::string_view uri, std::string_view version, const call_options& how) {
  const auto of = engine_;
  return of->read(uri, version, {}, how);
}

result<read_answer> client::read_to(std::string_view uri, content_writer into, const call_options& how) {
  if (!into) return fail(errc::invalid_argument, "the content writer is missing");
  const auto of = engine_;
  return of->read(uri, {}, into, how);
}

result<resource> client::describe(std::string_view uri, const call_options& how) {
  const auto of = engine_;
  return outbound::describe(*of, uri, how);
}

result<std::string> client::expand(std::string_view uri_template, const uri_template_values& values) {
  const auto compiled = hondana::uri_template::compile(uri_template);
  if (!compiled) return tl::unexpected(compiled.error());
  return compiled->expand(values);
}

namespace {

result<complete_result> completed(outbound::engine& of, asking::request what, const call_options& how) {
  HONDANA_TRY(of.need(&server_description::has_completion, "completion", how));
  HONDANA_TRY(auto got, of.call({.asked = std::move(what)}, how));
  return asking::completion_of(got.result());
}

}  // namespace

result<complete_result> client::complete(std::string_view uri_template, std::string_view variable, std::string_view typed,
                                         const std::vector<std::pair<std::string, std::string>>& chosen,
                                         const call_options& how) {
  const auto of = engine_;
  return completed(*of, asking::complete_template(uri_template, variable, typed, chosen), how);
}

result<complete_result> client::complete_prompt(std::string_view prompt, std::string_view argument, std::string_view typed,
                                                const std::vector<std::pair<std::string, std::string>>& chosen,
                                                const call_options& how) {
  const auto of = engine_;
  return completed(*of, asking::complete_prompt(prompt, argument, typed, chosen), how);
}

client::watching::watching() noexcept = default;
client::watching::watching(std::shared_ptr<state> of) noexcept : state_(std::move(of)) {}
client::watching::watching(watching&&) noexcept = default;

client::watching& client::watching::operator=(watching&& other) noexcept {
  if (this == &other) return *this;
  const watching ended(std::move(*this));
  state_ = std::move(other.state_);
  return *this;
}

client::watching::~watching() {
  if (state_) state_->of->watched().remove(state_->what);
}

watch_request client::watching::honoured() const {
  return state_ ? state_->of->watched().honoured(*state_->what) : watch_request{};
}

result<client::watching> client::watch(watch_request what, change_handler tell, const call_options& how) {
  const auto of = engine_;
  HONDANA_TRY(auto made, of->watched().add(std::move(what), std::move(tell), how));
  return watching(std::make_shared<watching::state>(watching::state{of, std::move(made)}));
}

paged<tool> client::tools(call_options how) {
  return pages<tool>(engine_,
                     [how = std::move(how)](outbound::engine& of, const auto& cursor) { return of.tool_page(cursor, how); });
}

result<called> client::call_tool(std::string_view name, const value& arguments, const call_options& how) {
  const auto of = engine_;
  return outbound::call_tool(*of, name, arguments, how);
}

paged<prompt> client::prompts(call_options how) {
  return pages<prompt>(engine_, [how = std::move(how)](outbound::engine& of, const auto& cursor) -> result<page<prompt>> {
    HONDANA_TRY(of.need(&server_description::has_prompts, "prompts", how));
    HONDANA_TRY(auto got, of.call({.asked = asking::list_prompts(cursor), .is_kept = true}, how));
    return asking::prompts_of(got.result());
  });
}

result<prompt_result> client::get_prompt(std::string_view name,
                                         const std::vector<std::pair<std::string, std::string>>& arguments,
                                         const call_options& how) {
  const auto of = engine_;
  HONDANA_TRY(of->need(&server_description::has_prompts, "prompts", how));
  HONDANA_TRY(auto got, of->call({.asked = asking::get_prompt(name, arguments)}, how));
  return asking::prompt_of(got.result());
}

paged<skill> client::skills(call_options how) {
  return pages<skill>(engine_, [how = std::move(how)](outbound::engine& of, const auto& cursor) -> result<page<skill>> {
    HONDANA_TRY(of.need(&server_description::has_skills, "skills", how));
    HONDANA_TRY(auto got, of.call({.asked = asking::list_skills(cursor), .is_kept = true}, how));
    return asking::skills_of(got.result());
  });
}

result<skill> client::find_skill(std::string_view uri, const call_options& how) {
  const auto of = engine_;
  HONDANA_TRY(of->need(&server_description::has_skills, "skills", how));
  HONDANA_TRY(auto got, of->call({.asked = asking::get_skill(uri), .is_kept = true}, how));
  return asking::skill_of(got.result());
}

result<read_answer> client::read_skill_file(const skill& of, std::string_view uri, const call_options& how) {
  const auto in = engine_;
  return outbound::read_skill_file(*in, of, uri, how);
}

result<value> client::request(std::string_view method, const value& params, const call_options& how) {
  const auto of = engine_;
  return outbound::any_request(*of, method, params, how);
}

void client::end_connection(std::string why) {
  if (const auto through = engine_->connection().talk().through()) through->end_connection(std::move(why));
}

result<void> client::roots_changed() {
  const auto of = engine_;
  HONDANA_TRY(const auto ready, of->connection().ready({}));
  if (ready.is_modern) return {};
  of->connection().talk().tell(asking::roots_changed());
  return {};
}

}  // namespace hondana::inline v0
