/// The public server over its engine.
#include <hondana/server.hpp>

#include <utility>

#include "server/core/core.hpp"
#include "server/core/server_figures.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::inline v0 {

namespace {

/// The same with a log that is never told a secret.
server_options discreet(server_options options) {
  if (options.log) {
    options.log = [to = std::move(options.log)](std::string_view line) { to(secrets::redact_text(line)); };
  }
  return options;
}

}  // namespace

server::server(server_options options) : core_(std::make_shared<hondana::core>(discreet(std::move(options)))) {
  core_->tell_figures(figures_of(core_->entrance()));
}
server::~server() = default;
server::server(server&&) noexcept = default;
server& server::operator=(server&&) noexcept = default;

result<void> server::add(std::shared_ptr<provider> source) { return core_->add(std::move(source)); }

result<void> server::replace(server_options options, std::vector<std::shared_ptr<provider>> sources) {
  return core_->replace(discreet(std::move(options)), std::move(sources));
}

result<void> server::resource_updated(std::string_view uri, std::string_view title) {
  HONDANA_TRY(auto canonical, canonical_uri(uri));
  core_->announce({model::change::what::content, std::move(canonical), std::string(title)});
  return {};
}

void server::resources_changed() { core_->announce({model::change::what::resources}); }
result<void> server::add_tool(tool entry, tool_handler handler) {
  return core_->add_tool(std::move(entry), std::move(handler));
}
bool server::remove_tool(std::string_view name) { return core_->remove_tool(name); }
result<void> server::add_prompt(prompt entry, prompt_handler handler) {
  return core_->add_prompt(std::move(entry), std::move(handler));
}
bool server::remove_prompt(std::string_view name) { return core_->remove_prompt(name); }

void server::log(log_level level, std::string_view logger, const value& data) {
  core_->announce(model::log_message{level, std::string(logger), data});
}

read_cache_counts server::cached_reads() const { return core_->cached_reads(); }

page_cache_counts server::cached_pages() const { return core_->current()->pages->counts(); }

const std::shared_ptr<core>& server::engine() const noexcept { return core_; }

}  // namespace hondana::inline v0
