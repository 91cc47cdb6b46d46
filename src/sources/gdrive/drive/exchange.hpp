/// One request to Drive with its turns, its token, its attempts and their pauses.
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
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "sources/gdrive/drive/client.hpp"
#include "transport/endpoint/endpoint.hpp"

namespace hondana::drive {

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
