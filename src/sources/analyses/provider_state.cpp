/// State shared by all parts of the analyses provider: the cache, opened on first use, and access checks.
#include "sources/analyses/provider_state.hpp"

#include <utility>

#include <hondana/clock.hpp>

#include "protocol/model/caller_checks.hpp"
#include "sources/analyses/analysis_rendering.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::analyses_source {
namespace {

bool is_passing(errc why) noexcept { return why == errc::timed_out || why == errc::overloaded || why == errc::cancelled; }

}  // namespace

result<std::shared_ptr<analyses::cache>> ground::kept() {
  const auto present = [this]() -> result<std::shared_ptr<analyses::cache>> {
    const std::lock_guard lock(mutex_);
    if (!kept_ && problem_ && monotonic_clock::now() < asked_again_) return tl::unexpected(*problem_);
    return kept_;
  };
  auto there = present();
  if (!there || *there) return there;
  const std::lock_guard one_opener(opening_);
  there = present();
  if (!there || *there) return there;
  auto made = how.open();
  // A configuration error is not the client's fault, and its details are not for clients.
  if (!made && !is_passing(made.error().code) && made.error().code != errc::source_unavailable) {
    auto& why = made.error();
    why.private_text = why.public_text + (why.private_text.empty() ? "" : " (" + why.private_text + ')');
    why.public_text = "Analyses are unavailable: the configuration of their store is wrong. The server's log has the details.";
    why.code = errc::source_unavailable;
  }
  std::unique_lock lock(mutex_);
  std::string said;
  if (made) {
    kept_ = *made;
    problem_.reset();
    if (!std::exchange(said_, {}).empty()) said = "they are available again";
  } else {
    const auto& why = made.error();
    problem_ = why;
    asked_again_ = monotonic_clock::now() + std::chrono::seconds(1);
    auto words = why.public_text + (why.private_text.empty() ? "" : " (" + why.private_text + ')');
    if (words != said_) said = said_ = std::move(words);
  }
  lock.unlock();
  if (!said.empty()) say(said);
  return made;
}

std::optional<failure> ground::problem() const {
  const std::lock_guard lock(mutex_);
  return kept_ ? kept_->trouble() : problem_;
}

std::optional<failure> ground::watched_problem() const {
  const std::lock_guard lock(mutex_);
  if (kept_) return kept_->trouble();
  return is_watched_ ? problem_ : std::nullopt;
}

void ground::left_out(const failure& why) const {
  const std::lock_guard lock(mutex_);
  if (kept_) kept_->notice(why);
}

std::shared_ptr<neighbourhood> ground::where() const {
  const std::lock_guard lock(mutex_);
  return where_;
}

void ground::put_where(std::shared_ptr<neighbourhood> there) {
  const std::lock_guard lock(mutex_);
  where_.swap(there);
  was_somewhere_ = was_somewhere_ || where_;
}

result<std::shared_ptr<neighbourhood>> ground::neighbours() const {
  const std::lock_guard lock(mutex_);
  if (where_ || !was_somewhere_) return where_;
  return fail(errc::source_unavailable, "A new configuration has replaced this source of analyses. Retry.");
}

result<void> ground::may_read(const caller& who, const resource& entry) const {
  if (const auto there = where()) return there->may_read(who, entry);
  if (model::may_read(who.view.get(), entry)) return {};
  return fail(errc::resource_not_found, "Resource not found");
}

bool ground::may_see(const caller& who, const resource& entry) { return model::may_see(who.view.get(), entry); }

analyses::summary ground::shown(analyses::summary of) const {
  if (!how.redact) return of;
  constexpr std::string_view cut = "…";
  if (of.title.ends_with(cut)) {
    auto end = of.title.size() - cut.size();
    while (end > 0 && of.title[end - 1] > ' ' && of.title[end - 1] < '\x7f') --end;
    of.title = of.title.substr(0, end) + std::string(cut);
  }
  of.title = secrets::redact_text(of.title);
  of.session = secrets::redact_text(of.session);
  return of;
}

std::string ground::shown(const analyses::entry& of) const {
  auto out = of.to_json();
  if (!how.redact || secrets::redactor(secrets::policy::text, out).mask(out) == 0 || parsed(out)) return out;
  // A mask that broke a JSON escape is applied to each string separately instead. Invalid JSON is reported later.
  const auto whole = parsed(of.to_json());
  return whole ? secrets::redact_value(*whole, secrets::policy::text).to_text() : out;
}

analyses::instant about_now() { return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()); }

}  // namespace hondana::analyses_source
