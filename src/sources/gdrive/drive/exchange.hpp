/// One request to Drive with token, retries and rate limit, and the checked content that comes back.
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

struct link_place {
  bool is_allowed = false;
  bool has_token = false;
  /// Where Google asks people to log in: a redirect there means that the token was not taken.
  bool is_log_in = false;
};

/// `url`: as Drive or a redirect says it. `base`: the client's own. Allowed: the base's origin; by https: at its usual port,
/// google.com, googleapis.com, googleusercontent.com and what lies below them. The token is for docs.google.com,
/// *.googleapis.com and the base.
[[nodiscard]] link_place place_of_link(const std::string& url, const std::string& base);

/// `location` as seen from `url`, without its fragment. Empty: it leads nowhere.
[[nodiscard]] std::string next_link(const std::string& url, const std::string& location);

/// `bytes 0-99/1000`; the whole is nothing where it is `*`.
struct content_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::optional<std::uint64_t> whole{};
};
/// Nothing for what is none. Spec: RFC 9110 section 14.4.
[[nodiscard]] std::optional<content_range> content_range_in(std::string_view field) noexcept;

/// Threads: one at a time.
class content_taker {
 public:
  /// `type`: what the content is to be when it comes by a link; empty: whatever it is.
  content_taker(const content_sink& into, const std::optional<byte_range>& range, std::string type, bool is_by_link)
      : into_(into), range_(range), type_(std::move(type)), is_by_link_(is_by_link) {}

  result<void> begin(const endpoint::answer& head);
  result<void> take(std::string_view piece);
  /// After a success: nothing may have come. Errors: those of the sink; invalid_argument for a range behind the end.
  result<void> finish(const endpoint::answer& head);

  [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }
  [[nodiscard]] bool is_enough() const noexcept { return is_enough_; }        ///< The end of it was ours, and in order.
  [[nodiscard]] bool is_of_sink() const noexcept { return is_of_sink_; }      ///< The error was the sink's.
  [[nodiscard]] bool is_of_server() const noexcept { return is_of_server_; }  ///< The error was what came.
  [[nodiscard]] std::uint64_t passed() const noexcept { return passed_; }

 private:
  result<void> not_this(std::string_view why);

  const content_sink& into_;
  std::optional<byte_range> range_;
  std::string type_;
  bool is_by_link_;
  bool has_begun_ = false, is_enough_ = false, is_of_sink_ = false, is_of_server_ = false;
  bool is_sending_whole_ = false;        // though a part was asked for
  std::uint64_t skip_ = 0;               // of a whole content of which a part was asked for
  std::optional<std::uint64_t> left_{};  // of the part
  std::uint64_t passed_ = 0;
};

/// What is asked for.
struct wanted {
  std::string doing;   ///< As `circumstances::doing`.
  std::string path{};  ///< Below the base, escaped; of a link: empty.
  texts query{};
  std::optional<std::string> body{};  ///< JSON, POSTed.
  bool has_page_token = false;
  bool is_export = false;
  /// Where the content goes; null: it is the answer's bytes, of Drive's JSON.
  const content_sink* into = nullptr;
  std::optional<byte_range> range{};
};

/// Another place than the base.
struct elsewhere {
  std::shared_ptr<endpoint::endpoint> at;
  bool has_token = false;  ///< May see ours.
  std::string type{};      ///< What the content is to be.
};

/// Threads: any.
class exchanges {
 public:
  using clock = monotonic_clock;

  exchanges(settings from, std::shared_ptr<google::tokens> with, std::shared_ptr<endpoint::endpoint> base)
      : from_(std::move(from)), tokens_(std::move(with)), base_(std::move(base)), budget_(from_.allowed) {}

  /// The answer, which is a success or a redirect that is not followed. Null: the base.
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
  /// Waits before the next attempt. False: there is none, and `why` says so.
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
  std::size_t crawling_ = 0;  // requests on their way
  std::atomic<std::uint64_t> requests_{0}, retries_{0}, limited_{0}, bytes_{0};
};

/// For what failed before anything was sent, or by other means than an answer.
[[nodiscard]] refusal refused(trouble what, errc code, const std::string& doing, const std::string& why,
                              std::string private_text = {});

}  // namespace hondana::drive
