/// The provider of one log.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>

#include "base/executor/timers.hpp"
#include "sources/logs/address.hpp"
#include "sources/logs/records/log.hpp"
#include "sources/logs/summary_cache.hpp"

namespace hondana::logs {

/// Notifies a listener that the contents of a resource changed: at once, and then at most every `between`. Changes in that time
/// are reported at its end. Threads: any.
class telling : public std::enable_shared_from_this<telling> {
 public:
  static constexpr std::chrono::milliseconds between{20};

  telling(std::string uri, std::string title) : uri_(std::move(uri)), title_(std::move(title)) {}

  void tell_to(std::shared_ptr<change_listener> to);
  void turn(bool on);
  void tell();

 private:
  void tell_late();

  const std::string uri_, title_;
  executor::timers timers_;
  std::mutex mutex_;
  std::shared_ptr<change_listener> to_;
  bool is_on_ = false;
  bool is_late_ = false;  // a timer is set
  executor::clock::time_point told_{};
};

struct provider_options {
  std::string name;                  ///< A slug.
  std::shared_ptr<records::log> of;  ///< Returns masked records, unless `redact` is false.
  bool is_journal = false;
  bool redact = true;
  bool watch = true;
  std::size_t lines = usual_lines;
  std::uint64_t scanned_bytes = 256u << 20;     ///< For one answer.
  std::chrono::milliseconds time{2000};         ///< For one answer.
  records::instant look_back = 0;               ///< Time range of the summary, in microseconds. 0: one day.
  summaries_options summing{};                  ///< The members above override it.
  std::function<records::instant()> now{};      ///< Empty: the system clock.
  std::function<void(std::string_view)> log{};  ///< May be empty.
};

/// Serves the records of a log in pages, and a summary. Threads: any.
class log_provider final : public provider {
 public:
  explicit log_provider(provider_options from);
  ~log_provider() override;

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<reading> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  void watch(std::shared_ptr<change_listener> to) override;
  void attach(const std::string& uri) override;
  void detach(const std::string& uri) override;
  void attach_list() override;
  void detach_list() override;
  [[nodiscard]] hondana::needs needs() const override;
  [[nodiscard]] hondana::masking masking() const noexcept override;
  [[nodiscard]] hondana::health health() const override;

  /// Checks what is wrong with the log, and writes it to the server's log. May block on disk access.
  void look();

 private:
  struct rendered;
  [[nodiscard]] records::instant now() const;
  [[nodiscard]] result<address> find(const std::string& uri) const;
  [[nodiscard]] records::budget budget_for(const call& by, std::uint64_t max_bytes) const;
  /// Leaves out the text if its version is `known`. Errors: of the log, and response_too_large.
  [[nodiscard]] result<rendered> render(const address& at, const call& by, std::uint64_t max_bytes,
                                        const std::optional<std::string>& known);
  [[nodiscard]] result<rendered> render_page(const address& at, const call& by, std::uint64_t max_bytes,
                                             const std::optional<std::string>& known);
  [[nodiscard]] result<rendered> render_summary(const address& at, const call& by);
  void follow_as_wanted();
  /// Prepares an error of the log for clients. The catalog would replace the texts of codes for missing resources.
  [[nodiscard]] failure told(failure why) const;

  const provider_options options_;
  const std::shared_ptr<telling> records_, summary_;
  struct list_listener;
  const std::shared_ptr<list_listener> list_;
  struct trouble_log;
  const std::shared_ptr<trouble_log> troubles_;
  const std::shared_ptr<summaries> summaries_;

  std::mutex following_;  // held while the log's `follow` is called; the function passed to it never takes this lock
  bool has_records_ = false, has_summary_ = false, has_list_ = false, is_following_ = false;
};

}  // namespace hondana::logs
