/// State shared by all parts of the analyses provider: the cache, opened on first use, and access checks.
#include "sources/analyses/provider_state.hpp"

#include <utility>

#include <hondana/clock.hpp>

#include "protocol/model/caller_checks.hpp"
#include "sources/analyses/analysis_rendering.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::analyses_source {
namespace {

bool is_transient(errc code) noexcept { return code == errc::timed_out || code == errc::overloaded || code == errc::cancelled; }

}  // namespace

result<std::shared_ptr<analyses::cache>> provider_state::get_cache() {
  const auto current = [this]() -> result<std::shared_ptr<analyses::cache>> {
    const std::lock_guard lock(mutex_);
    if (!cache_ && problem_ && monotonic_clock::now() < retry_at_) return tl::unexpected(*problem_);
    return cache_;
  };
  auto opened = current();
  if (!opened || *opened) return opened;
  const std::lock_guard open_lock(open_mutex_);
  opened = current();
  if (!opened || *opened) return opened;
  auto result = options.open_cache();
  // A configuration error is not the client's fault, and its details are not for clients.
  if (!result && !is_transient(result.error().code) && result.error().code != errc::source_unavailable) {
    auto& error = result.error();
    error.private_text = error.public_text + (error.private_text.empty() ? "" : " (" + error.private_text + ')');
    error.public_text =
        "Analyses are unavailable: the configuration of their store is wrong. The server's log has the details.";
    error.code = errc::source_unavailable;
  }
  std::unique_lock lock(mutex_);
  std::string message;
  if (result) {
    cache_ = *result;
    problem_.reset();
    if (!std::exchange(last_logged_, {}).empty()) message = "they are available again";
  } else {
    const auto& error = result.error();
    problem_ = error;
    retry_at_ = monotonic_clock::now() + std::chrono::seconds(1);
    auto text = error.public_text + (error.private_text.empty() ? "" : " (" + error.private_text + ')');
    if (text != last_logged_) message = last_logged_ = std::move(text);
  }
  lock.unlock();
  if (!message.empty()) log_line(message);
  return result;
}

std::optional<failure> provider_state::problem() const {
  const std::lock_guard lock(mutex_);
  return cache_ ? cache_->problem() : problem_;
}

std::optional<failure> provider_state::monitored_problem() const {
  const std::lock_guard lock(mutex_);
  if (cache_) return cache_->problem();
  return is_monitored_ ? problem_ : std::nullopt;
}

void provider_state::report_omission(const failure& reason) const {
  const std::lock_guard lock(mutex_);
  if (cache_) cache_->report_problem(reason);
}

std::shared_ptr<provider_host> provider_state::host() const {
  const std::lock_guard lock(mutex_);
  return host_;
}

void provider_state::set_host(std::shared_ptr<provider_host> host) {
  const std::lock_guard lock(mutex_);
  host_.swap(host);
  had_host_ = had_host_ || host_;
}

result<std::shared_ptr<provider_host>> provider_state::require_host() const {
  const std::lock_guard lock(mutex_);
  if (host_ || !had_host_) return host_;
  return fail(errc::source_unavailable, "A new configuration has replaced this source of analyses. Retry.");
}

result<void> provider_state::may_read(const caller_info& caller, const resource& entry) const {
  if (const auto current_host = host()) return current_host->authorize_read(caller, entry);
  if (model::may_read(caller.access_filter.get(), entry)) return {};
  return fail(errc::resource_not_found, "Resource not found");
}

bool provider_state::may_see(const caller_info& caller, const resource& entry) {
  return model::may_see(caller.access_filter.get(), entry);
}

analyses::analysis_summary provider_state::mask_secrets(analyses::analysis_summary summary) const {
  if (!options.redact) return summary;
  constexpr std::string_view ellipsis = "…";
  if (summary.title.ends_with(ellipsis)) {
    auto end = summary.title.size() - ellipsis.size();
    while (end > 0 && summary.title[end - 1] > ' ' && summary.title[end - 1] < '\x7f') --end;
    summary.title = summary.title.substr(0, end) + std::string(ellipsis);
  }
  summary.title = secrets::redact_text(summary.title);
  summary.session = secrets::redact_text(summary.session);
  return summary;
}

std::string provider_state::mask_secrets(const analyses::cache_entry& entry) const {
  auto out = entry.to_json();
  if (!options.redact || secrets::redactor(secrets::masking_policy::text, out).mask(out) == 0 || parse_stored(out)) return out;
  // A mask that broke a JSON escape is applied to each string separately instead. Invalid JSON is reported later.
  const auto parsed_json = parse_stored(entry.to_json());
  return parsed_json ? secrets::redact_value(*parsed_json, secrets::masking_policy::text).to_text() : out;
}

analyses::instant approximate_now() { return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()); }

}  // namespace hondana::analyses_source
