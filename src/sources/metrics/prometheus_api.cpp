/// How a Prometheus is asked, and what its failures mean to a peer.
#include "sources/metrics/prometheus_api.hpp"

#include <algorithm>
#include <utility>

namespace hondana::metrics {
namespace {

/// Fields of a trace are bounded by the specifications; what could end a header line never goes on.
constexpr std::size_t longest_field = 8192;

void add_field(std::vector<std::pair<std::string, std::string>>& to, std::string_view name, const std::string& value) {
  const bool is_clean =
      std::all_of(value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  if (!value.empty() && value.size() <= longest_field && is_clean) to.emplace_back(name, value);
}

/// Whether it says how the server is, and not how the question was.
bool is_about_the_server(errc code) noexcept {
  return code == errc::source_unavailable || code == errc::timed_out || code == errc::broken_protocol;
}

}  // namespace

prometheus_api::prometheus_api(std::shared_ptr<endpoint::endpoint> at, std::size_t most_bytes)
    : at_(std::move(at)), most_bytes_(most_bytes), whose_("Prometheus at " + at_->origin()) {}

result<prometheus_answer> prometheus_api::get(std::string_view path, form query, const call& by) const {
  endpoint::request what;
  what.path = "/api/v1" + std::string(path);
  what.query = std::move(query);
  return ask(std::move(what), by);
}

result<prometheus_answer> prometheus_api::post(std::string_view path, form query, const call& by) const {
  endpoint::request what;
  what.path = "/api/v1" + std::string(path);
  what.query = std::move(query);
  what.posts_query = true;
  return ask(std::move(what), by);
}

std::string prometheus_api::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

result<prometheus_answer> prometheus_api::ask(endpoint::request what, const call& by) const {
  what.headers.emplace_back("Accept", "application/json");
  add_field(what.headers, "traceparent", by.trace.traceparent);
  if (!by.trace.traceparent.empty()) add_field(what.headers, "tracestate", by.trace.tracestate);
  add_field(what.headers, "baggage", by.trace.baggage);
  what.most_bytes = most_bytes_;
  if (by.deadline != std::chrono::steady_clock::time_point::max()) what.until = by.deadline;
  auto out = answered(std::move(what), by);
  const std::lock_guard lock(mutex_);
  if (out) {
    trouble_.clear();
  } else if (is_about_the_server(out.error().code)) {
    trouble_ = out.error().public_text;
  }
  return out;
}

result<prometheus_answer> prometheus_api::answered(endpoint::request what, const call& by) const {
  auto got = at_->ask(what, by.stop);
  if (got) return open_prometheus_answer(got->status, got->bytes, whose_);
  auto why = std::move(got.error());
  // To a peer a redirect elsewhere is a fault of the source, not a resource that it may not see.
  if (why.code == errc::access_denied || why.code == errc::unauthorized) why.code = errc::source_unavailable;
  if (why.code == errc::response_too_large) {
    why.public_text = whose_ + " answered with more than " + std::to_string(most_bytes_ >> 20) +
                      " MiB: narrow it down with match, a longer step or a shorter range";
  }
  return tl::unexpected<failure>(std::move(why));
}

}  // namespace hondana::metrics
