/// What outlasts a request ends with what its caller has proved.
#include <algorithm>
#include <chrono>
#include <utility>

#include "transport/http_server/connection.hpp"
#include "transport/http_server/credentials.hpp"
#include "transport/http_server/same_caller.hpp"

namespace hondana::transport::http_server {
namespace {

using clock = dialogue::clock;

// However soon an authenticator wants to be asked again.
constexpr std::chrono::seconds least_pause{1};

clock::time_point by_this_clock(std::chrono::sys_seconds end) {
  // So far away that it would overflow, it is as good as never.
  constexpr std::chrono::hours far{24 * 365};
  const auto left = end - std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return left > far ? clock::time_point::max() : clock::now() + left + least_pause;
}

}  // namespace

bool connection::has_good_certificate() {
  auto* const secured = stream_.secured();
  const auto end = secured != nullptr ? secured->certificate_end() : std::nullopt;
  if (!end) return true;
  if (const auto now = std::exchange(judged_by_, nullptr)) is_vouched_for_ = secured->is_vouched_for_by(*now);
  return is_vouched_for_ && std::chrono::system_clock::now() <= *end;
}

void connection::take_authorities(std::shared_ptr<const tls::context> now) {
  judged_by_ = std::move(now);
  if (asked_with_ && carried_ && carried_->is_lasting() && !has_good_certificate()) end_lasting();
}

/// An event stream begins, which may go on for as long as anybody likes. The head that asked for it is still here.
void connection::note_proof() {
  auto* const secured = stream_.secured();
  const auto end = secured != nullptr ? secured->certificate_end() : std::nullopt;
  looks_again_at_ = holds_until_;
  if (end) looks_again_at_ = std::min(looks_again_at_, by_this_clock(*end));
  in_doubt_since_.reset();
  // One that ends after everybody who reads this may still lose its authority.
  if (!end && looks_again_at_ == clock::time_point::max()) return;
  const auto& head = dialogue_.head();
  asked_with_ = std::make_unique<request_facts>(facts_about(head));
  if (auto token = read_bearer(head)) asked_with_->bearer = std::move(*token);
  // Authorities may have been replaced since the request came.
  if (!has_good_certificate()) looks_again_at_ = clock::now();
}

void connection::look_again() {
  // What answers a request is sent to its end.
  if (!carried_ || !carried_->is_lasting()) return asked_with_.reset();
  if (!has_good_certificate()) return end_lasting();
  const auto& by = loop_->callers->asked;
  if (!by) {
    looks_again_at_ = clock::now() + least_pause;
    return;
  }
  if (auto known = by->known(*asked_with_)) return hear_again(*known);
  looks_again_at_ = clock::time_point::max();  // `found_again` follows
  // A flood of strangers shall not keep those from being asked about who are here already.
  if (!ask_others(*asked_with_, carried_for_, &connection::found_again, executor::urgency::continuation)) {
    hear_again(tl::unexpected(challenge{503, {}, {}, {}, least_pause}));
  }
}

void connection::hear_again(const authenticated& found) {
  const auto now = clock::now();
  const auto has_what_it_had = [this](const caller& who) {
    // Rules that have changed since are told to the stream itself; a caller with other groups or claims opens another.
    return is_same_caller(who_, who) && engine_->current()->gate->has_scopes_of(who, who_.proof.get()) &&
           has_one_view(session::as_seen_now(who_, *engine_), session::as_seen_now(who, *engine_));
  };
  if (found && has_what_it_had(*found)) {
    in_doubt_since_.reset();
    looks_again_at_ = std::max(found->until, now + least_pause);
    if (auto* const secured = stream_.secured()) {
      if (const auto end = secured->certificate_end()) looks_again_at_ = std::min(looks_again_at_, by_this_clock(*end));
    }
    return;
  }
  // An authorization server that is away for a moment ends nothing.
  if (!found && found.error().status == 503) {
    if (!in_doubt_since_) in_doubt_since_ = now;
    if (now - *in_doubt_since_ < dialogue_.patience_for_calls()) {
      looks_again_at_ = now + std::clamp(found.error().retry.value_or(least_pause), least_pause, 5 * least_pause);
      return;
    }
  }
  end_lasting();
}

/// The client comes back for it with what it has by then.
void connection::end_lasting() {
  asked_with_.reset();
  dialogue_.drain();
  if (session_) session_->finish();
}

}  // namespace hondana::transport::http_server
