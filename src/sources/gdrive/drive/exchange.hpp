/// Sends one request to Drive with token, retries and rate limit, and checks the content that comes back.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "sources/gdrive/drive/client.hpp"
#include "transport/endpoint/endpoint.hpp"

namespace hondana::drive {

/// What `place_of_link` found out about a URL.
struct link_place {
  bool is_allowed = false;
  bool has_token = false;
  /// Google's log-in page. A redirect to it means that Google did not accept the token.
  bool is_log_in = false;
};

/// Decides whether a link may be followed, and whether it gets the token.
/// `url`: from Drive or from a redirect. `base`: the client's own.
/// Allowed: the base's origin; and by https: on the default port google.com, googleapis.com, googleusercontent.com and their
/// subdomains. The token is sent to docs.google.com, *.googleapis.com and the base only.
[[nodiscard]] link_place place_of_link(const std::string& url, const std::string& base);

/// Resolves `location` against `url`, without its fragment. Empty if it is not a usable URL.
[[nodiscard]] std::string next_link(const std::string& url, const std::string& location);

/// `bytes 0-99/1000`. `whole` is empty if the header has `*`.
struct content_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::optional<std::uint64_t> whole{};
};
/// Parses a Content-Range header; empty if it is invalid. Spec: RFC 9110 section 14.4.
[[nodiscard]] std::optional<content_range> content_range_in(std::string_view field) noexcept;

/// Checks a content against the request, and passes it to the sink. Threads: one at a time.
class content_taker {
 public:
  /// `type`: the MIME type that a content from a link must have; empty: any.
  content_taker(const content_sink& into, const std::optional<byte_range>& range, std::string type, bool is_by_link)
      : into_(into), range_(range), type_(std::move(type)), is_by_link_(is_by_link) {}

  result<void> begin(const endpoint::answer& head);
  result<void> take(std::string_view piece);
  /// Call after a successful answer, even without a body. Errors: those of the sink; invalid_argument if the range starts after
  /// the end.
  result<void> finish(const endpoint::answer& head);

  [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }
  [[nodiscard]] bool is_enough() const noexcept { return is_enough_; }        ///< The requested range is complete and valid.
  [[nodiscard]] bool is_of_sink() const noexcept { return is_of_sink_; }      ///< The error came from the sink.
  [[nodiscard]] bool is_of_server() const noexcept { return is_of_server_; }  ///< The error is in the server's answer.
  [[nodiscard]] std::uint64_t passed() const noexcept { return passed_; }

 private:
  result<void> not_this(std::string_view why);

  const content_sink& into_;
  std::optional<byte_range> range_;
  std::string type_;
  bool is_by_link_;
  bool has_begun_ = false, is_enough_ = false, is_of_sink_ = false, is_of_server_ = false;
  bool is_sending_whole_ = false;        // the server ignored the requested range
  std::uint64_t skip_ = 0;               // bytes before the requested range that are still to be skipped
  std::optional<std::uint64_t> left_{};  // bytes of the requested range that are still to come
  std::uint64_t passed_ = 0;
};

/// A request.
struct wanted {
  std::string doing;   ///< As `circumstances::doing`.
  std::string path{};  ///< Relative to the base, escaped; empty for a link.
  texts query{};
  std::optional<std::string> body{};  ///< JSON, sent by POST.
  bool has_page_token = false;
  bool is_export = false;
  /// Receives the content. Null: the answer is JSON and is returned.
  const content_sink* into = nullptr;
  std::optional<byte_range> range{};
};

/// A server other than the base.
struct elsewhere {
  std::shared_ptr<endpoint::endpoint> at;
  bool has_token = false;  ///< May receive the client's token.
  std::string type{};      ///< The MIME type that the content must have.
};

/// Sends requests and retries them. Threads: any.
class exchanges {
 public:
  using clock = monotonic_clock;

  exchanges(settings from, std::shared_ptr<google::tokens> with, std::shared_ptr<endpoint::endpoint> base)
      : from_(std::move(from)), tokens_(std::move(with)), base_(std::move(base)), budget_(from_.allowed) {}

  /// Returns the answer: a success, or a redirect that is not followed. `where` null: the base.
  [[nodiscard]] answer<endpoint::answer> ask(const wanted& what, const errand& how, const elsewhere* where = nullptr);

  [[nodiscard]] client::figures now() const;
  [[nodiscard]] std::string account() const;
  void remember(const std::string& account);
  [[nodiscard]] const settings& from() const noexcept { return from_; }
  [[nodiscard]] const endpoint::endpoint& base() const noexcept { return *base_; }
  [[nodiscard]] google::tokens& tokens() const noexcept { return *tokens_; }
  [[nodiscard]] circumstances circumstances_of(const wanted& what) const;

 private:
  struct attempt;
  class seat;
  answer<endpoint::answer> once(attempt& of);
  [[nodiscard]] endpoint::request request_of(const attempt& of, const std::string& token) const;
  [[nodiscard]] refusal failed(attempt& of, failure why) const;
  /// Waits before the next attempt. False if there is none; then `why` says so.
  bool pauses(attempt& of, refusal& why);
  void tell(const std::string& line) const {
    if (from_.log) from_.log(line);
  }

  const settings from_;
  const std::shared_ptr<google::tokens> tokens_;
  const std::shared_ptr<endpoint::endpoint> base_;
  budget budget_;
  mutable std::mutex mutex_;
  std::string account_;
  std::condition_variable_any left_;
  std::size_t crawling_ = 0;  // running requests with priority `crawling`
  std::atomic<std::uint64_t> requests_{0}, retries_{0}, limited_{0}, bytes_{0};
};

/// Makes the error of a call that failed before a request was sent, or for a reason other than an HTTP error.
[[nodiscard]] refusal refused(trouble what, errc code, const std::string& doing, const std::string& why,
                              std::string private_text = {});

}  // namespace hondana::drive
