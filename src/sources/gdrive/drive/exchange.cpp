/// Sends one request to Drive with token, retries and rate limit, and checks the content that comes back.
#include "sources/gdrive/drive/exchange.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "auth/google/backoff.hpp"
#include "auth/oauth/authorization_urls.hpp"
#include "base/ascii/ascii.hpp"
#include "base/uri/web_url.hpp"

namespace hondana::drive {
namespace {

bool is_below(std::string_view host, std::string_view domain) noexcept {
  if (host == domain) return true;
  return host.size() > domain.size() && host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.';
}

std::uint16_t port_of(const uri::host_port& where, std::string_view scheme) {
  return where.port.value_or(scheme == "https" ? std::uint16_t{443} : std::uint16_t{80});
}

}  // namespace

link_place place_of_link(const std::string& url, const std::string& base) {
  if (!oauth::check_endpoint(url, "the link")) return {};
  const auto parts = split_uri(url);
  const auto scheme = ascii::in_lower_case(std::string(parts.scheme));
  const auto where = uri::parse_host_port(parts.authority.value_or(std::string_view()));
  if (!where) return {};
  const auto own = split_uri(base);
  const auto own_scheme = ascii::in_lower_case(std::string(own.scheme));
  const auto own_place = uri::parse_host_port(own.authority.value_or(std::string_view()));
  if (own_place && scheme == own_scheme && where->host == own_place->host &&
      port_of(*where, scheme) == port_of(*own_place, own_scheme))
    return {.is_allowed = true, .has_token = true};
  constexpr std::array<std::string_view, 3> domains{"google.com", "googleapis.com", "googleusercontent.com"};
  if (scheme != "https" || where->port.value_or(443) != 443 ||
      std::none_of(domains.begin(), domains.end(), [&](std::string_view one) { return is_below(where->host, one); }))
    return {};
  return {.is_allowed = true,
          .has_token = where->host == "docs.google.com" || where->host == "www.googleapis.com",
          .is_log_in = where->host == "accounts.google.com"};
}

std::string next_link(const std::string& url, const std::string& location) {
  auto to = location.substr(0, location.find('#'));
  if (to.empty()) return {};
  const auto parts = split_uri(url);
  if (to.starts_with("//")) return std::string(parts.scheme) + ':' + to;
  if (to.starts_with('/')) return oauth::base_of(url) + to;
  return to.find("://") == std::string::npos ? std::string() : to;
}

namespace {

/// Parses a number at the front and removes it. False if there is none.
bool take_number(std::string_view& from, std::uint64_t& into) noexcept {
  const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), into);
  if (error != std::errc()) return false;
  from.remove_prefix(static_cast<std::size_t>(end - from.data()));
  return true;
}

bool take_sign(std::string_view& from, char sign) noexcept {
  if (!from.starts_with(sign)) return false;
  from.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<content_range> content_range_in(std::string_view field) noexcept {
  constexpr std::string_view unit = "bytes ";
  content_range out;
  if (field.size() < unit.size() || !ascii::is_same(unit, field.substr(0, unit.size()))) return {};
  field.remove_prefix(unit.size());
  if (!take_number(field, out.first) || !take_sign(field, '-') || !take_number(field, out.last) || !take_sign(field, '/'))
    return {};
  if (field != "*") {
    std::uint64_t whole = 0;
    if (!take_number(field, whole) || !field.empty() || whole <= out.last) return {};
    out.whole = whole;
  }
  if (out.last < out.first) return {};
  return out;
}

result<void> content_taker::not_this(std::string_view why) {
  is_of_server_ = true;
  return fail(errc::broken_protocol, std::string(why));
}

result<void> content_taker::begin(const endpoint::answer& head) {
  has_begun_ = true;
  content_head told{.type = head.content_type, .is_by_link = is_by_link_};
  if (!type_.empty() && !ascii::in_lower_case(type_).starts_with("text/html") &&
      ascii::in_lower_case(head.content_type).starts_with("text/html"))
    return not_this("the answer is an HTML page instead of the content");
  if (range_ && range_->last) left_ = *range_->last - range_->first + 1;
  if (head.status == 206) {
    const auto came = content_range_in(head.content_range);
    if (!range_ || !came) return not_this("the answer is a part without a range, or no part was requested");
    if (came->first != range_->first || (range_->last && came->last > *range_->last))
      return not_this("the answer is a different part than requested");
    told.whole = came->whole;
  } else if (range_) {
    is_sending_whole_ = true;
    skip_ = range_->first;
  }
  told.first = range_ ? range_->first : 0;
  if (!into_.begins) return {};
  auto fine = into_.begins(told);
  is_of_sink_ = !fine;
  return fine;
}

result<void> content_taker::take(std::string_view piece) {
  const auto skipped = std::min<std::uint64_t>(skip_, piece.size());
  skip_ -= skipped;
  piece.remove_prefix(static_cast<std::size_t>(skipped));
  if (left_) {
    piece = piece.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(*left_, piece.size())));
    *left_ -= piece.size();
  }
  if (!piece.empty()) {
    passed_ += piece.size();
    if (auto fine = into_.takes(piece); !fine) {
      is_of_sink_ = true;
      return fine;
    }
  }
  if (left_ != std::uint64_t{0}) return {};
  // A server that ignores the range keeps sending. Closing the connection discards the rest.
  is_enough_ = true;
  if (!is_sending_whole_) return {};
  return fail(errc::cancelled, "all requested content was read");
}

result<void> content_taker::finish(const endpoint::answer& head) {
  if (!has_begun_) {
    HONDANA_TRY(begin(head));
  }
  if (skip_ == 0) return {};
  return fail(errc::invalid_argument, "the range starts after the end of the file");
}

namespace {

using std::chrono::milliseconds;

/// Of the eight requests that may run at once. The others are reserved for callers that wait for an answer.
constexpr std::size_t most_crawling = 5;
constexpr std::size_t most_content_bytes = std::size_t{1} << 40;

/// Converts an error of the token store.
refusal without_token(failure why, const std::string& doing) {
  refusal out;
  switch (why.code) {
    case errc::cancelled:
      out.what = trouble::cancelled;
      break;
    case errc::timed_out:
      out.what = trouble::timed_out;
      break;
    case errc::unauthorized:
    case errc::access_denied:
    case errc::invalid_argument:
    case errc::resource_not_found:
      out.what = trouble::unauthorized;
      break;
    default:
      out.what = trouble::unavailable;
  }
  out.why = std::move(why);
  out.why.public_text = "cannot " + doing + ": " + out.why.public_text;
  return out;
}

bool is_success(int status) noexcept { return status >= 200 && status < 300; }

}  // namespace

refusal refused(trouble what, errc code, const std::string& doing, const std::string& why, std::string private_text) {
  refusal out;
  out.what = what;
  out.why.code = code;
  out.why.public_text = "cannot " + doing + ": " + why;
  out.why.private_text = std::move(private_text);
  return out;
}

struct exchanges::attempt {
  const wanted& what;
  const errand& how;
  const elsewhere* where;
  clock::time_point until;
  google::backoff pauses;
  int number = 1;
  bool is_renewed = false;
  bool goes_again = false;    // the last failure may be temporary
  bool asks_at_once = false;  // at once, with a new token
  std::optional<content_taker> content{};
};

/// The slot of a request while it runs.
class exchanges::seat {
 public:
  explicit seat(exchanges& in) noexcept : in_(in) {}
  ~seat() {
    if (!is_taken_) return;
    {
      const std::lock_guard lock(in_.mutex_);
      --in_.crawling_;
    }
    in_.left_.notify_one();
  }
  seat(const seat&) = delete;
  seat& operator=(const seat&) = delete;

  /// Waits for a free slot. False if the deadline passes or the call is stopped. Only requests with priority `crawling` need a
  /// slot.
  bool take(const attempt& of) {
    if (of.how.of != lane::crawling) return true;
    std::unique_lock lock(in_.mutex_);
    is_taken_ =
        monotonic_clock::wait_until(in_.left_, lock, of.how.stop, of.until, [this] { return in_.crawling_ < most_crawling; });
    if (is_taken_) ++in_.crawling_;
    return is_taken_;
  }

 private:
  exchanges& in_;
  bool is_taken_ = false;
};

circumstances exchanges::circumstances_of(const wanted& what) const {
  return {.doing = what.doing, .account = account(), .has_page_token = what.has_page_token, .is_export = what.is_export};
}

std::string exchanges::account() const {
  if (auto known = tokens_->account(); !known.empty()) return known;
  const std::lock_guard lock(mutex_);
  return account_;
}

void exchanges::remember(const std::string& account) {
  const std::lock_guard lock(mutex_);
  account_ = account;
}

client::figures exchanges::now() const {
  return {.requests = requests_, .retries = retries_, .limited = limited_, .bytes = bytes_, .turns = budget_.now()};
}

endpoint::request exchanges::request_of(const attempt& of, const std::string& token) const {
  endpoint::request out;
  out.path = of.what.path;
  out.query = of.what.query;
  // Google compresses answers only if the User-Agent contains "gzip", too. Spec: Google Drive API, "Improve performance", gzip.
  out.headers.emplace_back("User-Agent", "hondana/" HONDANA_VERSION " (gzip)");
  if (!token.empty()) {
    out.headers.emplace_back("Authorization", "Bearer " + token);
    if (auto keys = spelled(of.how.keys); !keys.empty())
      out.headers.emplace_back("X-Goog-Drive-Resource-Keys", std::move(keys));
  }
  if (of.what.body) {
    out.headers.emplace_back("Content-Type", "application/json");
    out.body = of.what.body;
  }
  if (of.what.range) {
    const auto& range = *of.what.range;
    out.headers.emplace_back(
        "Range", "bytes=" + std::to_string(range.first) + '-' + (range.last ? std::to_string(*range.last) : std::string()));
    // A range counts bytes as transferred, so the content must not be compressed.
    out.is_packed = false;
  }
  out.follows_redirects = of.where == nullptr;
  out.speed = {.head = from_.time, .time = from_.slow_time, .bytes = from_.slow_bytes};
  out.until = of.until;
  if (of.what.into == nullptr) {
    out.until = std::min(of.until, clock::now() + from_.time);
    out.most_bytes = 32u << 20;
  } else {
    // A server that ignores the range sends the whole content.
    out.most_bytes = of.what.range ? most_content_bytes : of.what.into->most_bytes;
  }
  return out;
}

refusal exchanges::failed(attempt& of, failure why) const {
  const auto& doing = of.what.doing;
  const bool has_passed = of.content && of.content->has_begun();
  if (of.content && of.content->is_of_sink()) {
    refusal out;
    out.what = trouble::sink;
    out.why = std::move(why);
    return out;
  }
  if (of.content && of.content->is_of_server())
    return refused(trouble::malformed, errc::broken_protocol, doing, why.public_text, std::move(why.private_text));
  const auto broken_off = [&](const std::string& text) {
    return refused(trouble::stalled, errc::source_unavailable, doing, text + "; only a part of the content arrived; try again",
                   std::move(why.private_text));
  };
  switch (why.code) {
    case errc::cancelled:
      return refused(trouble::cancelled, why.code, doing, "it was cancelled");
    case errc::response_too_large:
      return refused(trouble::too_large, why.code, doing, "it is larger than the read limit; request a part of it",
                     std::move(why.private_text));
    case errc::timed_out:
      if (clock::now() >= of.until)
        return refused(trouble::timed_out, why.code, doing, "Google Drive did not answer in time; try again", why.public_text);
      if (has_passed) return broken_off(why.public_text);
      break;
    case errc::invalid_argument:
      return refused(trouble::bad_request, why.code, doing, why.public_text, std::move(why.private_text));
    case errc::access_denied:
      return refused(trouble::unavailable, errc::source_unavailable, doing, why.public_text, std::move(why.private_text));
    default:
      if (has_passed) return broken_off(why.public_text);
  }
  of.goes_again = true;
  return refused(trouble::unavailable, errc::source_unavailable, doing,
                 why.public_text + "; check the network connection of this machine, and try again",
                 std::move(why.private_text));
}

answer<endpoint::answer> exchanges::once(attempt& of) {
  of.goes_again = of.asks_at_once = false;
  std::string token;
  if (of.where == nullptr || of.where->has_token) {
    auto got = tokens_->token(of.how.stop, of.until);
    if (!got) return tl::unexpected(without_token(std::move(got.error()), of.what.doing));
    token = std::move(*got);
  }
  seat on_the_way(*this);
  if (!on_the_way.take(of)) {
    const bool is_stopped = of.how.stop.stop_requested();
    return tl::unexpected(
        refused(is_stopped ? trouble::cancelled : trouble::busy, is_stopped ? errc::cancelled : errc::overloaded, of.what.doing,
                is_stopped ? "it was cancelled" : "other requests of the listing used up the time; try again later"));
  }
  if (auto turn = budget_.take(of.how.of, of.until, of.how.stop); !turn) {
    auto& why = turn.error();
    why.why.public_text = "cannot " + of.what.doing + ": " + why.why.public_text;
    return tl::unexpected(std::move(why));
  }
  auto request = request_of(of, token);
  endpoint::endpoint::sink sink{};
  if (of.what.into != nullptr) {
    of.content.emplace(*of.what.into, of.what.range, of.where == nullptr ? std::string() : of.where->type, of.where != nullptr);
    request.on_head = [&of](const endpoint::answer& head) { return of.content->begin(head); };
    sink = [&of](std::string_view piece) { return of.content->take(piece); };
  }
  ++requests_;
  auto got = (of.where == nullptr ? *base_ : *of.where->at).ask(request, of.how.stop, sink);
  if (of.content) bytes_ += of.content->passed();
  if (!got) {
    if (of.content && of.content->is_enough() && !of.content->is_of_sink()) return endpoint::answer{.status = 200};
    return tl::unexpected(failed(of, std::move(got.error())));
  }
  if (is_success(got->status)) {
    if (of.content) {
      if (auto whole = of.content->finish(*got); !whole) {
        if (of.content->is_of_sink() || of.content->is_of_server()) return tl::unexpected(failed(of, std::move(whole.error())));
        return tl::unexpected(refusal_of(416, {}, {}, circumstances_of(of.what)));
      }
    }
    return std::move(*got);
  }
  if (of.where != nullptr && got->status >= 300 && got->status < 400) return std::move(*got);
  auto why = refusal_of(got->status, got->bytes, got->retry, circumstances_of(of.what));
  if (why.what == trouble::unauthorized && !token.empty() && !of.is_renewed) {
    tokens_->refused(token);
    of.is_renewed = of.asks_at_once = true;
  }
  if (why.what == trouble::rate_limited) ++limited_;
  of.goes_again = why.what == trouble::rate_limited || why.what == trouble::unavailable;
  return tl::unexpected(std::move(why));
}

bool exchanges::pauses(attempt& of, refusal& why) {
  if (of.asks_at_once) return true;
  if (!of.goes_again) return false;
  const auto asked_for = why.why.retry.value_or(milliseconds(0));
  const auto pause = asked_for + of.pauses.next();
  // The rate limit applies to all requests of this source together, so all of them pause.
  if (why.what == trouble::rate_limited) {
    budget_.pause(std::min(pause, from_.longest_retry_after));
    if (asked_for > from_.longest_retry_after)
      tell("cannot " + of.what.doing + " now (status " + std::to_string(why.status) + "): Google requests a pause of " +
           std::to_string(std::chrono::ceil<std::chrono::seconds>(asked_for).count()) + " seconds; sending no requests for " +
           std::to_string(std::chrono::ceil<std::chrono::seconds>(from_.longest_retry_after).count()) + " seconds");
  }
  if (!why.why.retry) why.why.retry = std::max(pause, milliseconds(1'000));
  if (of.number >= from_.attempts || asked_for > from_.longest_retry_after || clock::now() + pause >= of.until) {
    if (of.number > 1) why.why.public_text += " (tried " + std::to_string(of.number) + " times)";
    return false;
  }
  tell("cannot " + of.what.doing + " now (" + std::string(name_of(why.what)) +
       (why.status == 0 ? std::string() : ", status " + std::to_string(why.status)) +
       (why.reason.empty() ? "" : ", " + why.reason) + "); retrying in " + std::to_string(pause.count()) + " ms");
  if (!google::waited(pause, of.how.stop)) {
    why = refused(trouble::cancelled, errc::cancelled, of.what.doing, "it was cancelled");
    return false;
  }
  ++of.number;
  ++retries_;
  return true;
}

answer<endpoint::answer> exchanges::ask(const wanted& what, const errand& how, const elsewhere* where) {
  attempt of{what, how, where, how.until.value_or(clock::now() + from_.content_time),
             google::backoff(from_.first_pause, from_.longest_pause)};
  for (;;) {
    auto got = once(of);
    if (got || !pauses(of, got.error())) return got;
  }
}

}  // namespace hondana::drive
