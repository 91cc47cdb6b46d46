/// The provider of one log: reads, completion, subscriptions and rate-limited notifications.
#include "sources/logs/log_provider.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/clock.hpp>
#include <hondana/completion.hpp>
#include <hondana/provider.hpp>

#include "base/bytes/digest.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/logs/address.hpp"
#include "sources/logs/catalog_entries.hpp"
#include "sources/logs/moment.hpp"
#include "sources/logs/records/fields.hpp"
#include "sources/logs/records/log_backend.hpp"
#include "sources/logs/rendering.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/secret_names.hpp"

namespace hondana::logs {

void change_notifier::set_listener(std::shared_ptr<change_listener> listener) {
  const std::lock_guard lock(mutex_);
  listener_.swap(listener);
}

void change_notifier::set_enabled(bool is_enabled) {
  const std::lock_guard lock(mutex_);
  is_enabled_ = is_enabled;
}

void change_notifier::notify() {
  std::shared_ptr<change_listener> listener;
  {
    const std::lock_guard lock(mutex_);
    if (!is_enabled_ || !listener_ || is_scheduled_) return;
    const auto now = executor::clock::now();
    if (now - notified_at_ < min_interval) {
      is_scheduled_ = true;
      timers_.schedule(notified_at_ + min_interval, [weak_notifier = weak_from_this()] {
        if (const auto notifier = weak_notifier.lock()) notifier->notify_delayed();
      });
      return;
    }
    notified_at_ = now;
    listener = listener_;
  }
  listener->content_changed(uri_, title_);
}

void change_notifier::notify_delayed() {
  std::shared_ptr<change_listener> listener;
  {
    const std::lock_guard lock(mutex_);
    is_scheduled_ = false;
    if (!is_enabled_) return;
    notified_at_ = executor::clock::now();
    listener = listener_;
  }
  if (listener) listener->content_changed(uri_, title_);
}

struct completion_context {
  records::instant now = 0;
  /// Returns the newest records, masked. Empty: the caller may not read them.
  std::function<result<records::log_page>(std::size_t lines)> read_newest{};
  /// See `records::log_backend::native_fields`. Set if `read_newest` is set.
  std::function<result<std::vector<std::pair<std::string, std::string>>>(std::string_view name, std::size_t records)>
      native_fields{};
};

/// Completes a parameter: levels, formats, numbers of lines and times. For `field`, the names that the newest records have, and
/// after `path:` their values. Fields whose name suggests a secret get no values. Errors: of `read_newest`.
[[nodiscard]] result<complete_result> complete_parameter(const complete_request& request, const completion_context& context);

namespace {

constexpr std::size_t completion_records = 500;
constexpr std::size_t max_names = 1000;
constexpr std::size_t max_value_bytes = 200;
constexpr int max_path_depth = 4;

using tally = std::map<std::string, std::size_t, std::less<>>;

/// Counts the names of fields. Those of nested objects get a path with dots.
void count_names(tally& names, std::string_view text, const std::string& prefix, int depth) {
  records::for_each_field(text, [&](std::string_view name, std::string_view raw) {
    const auto path = prefix + std::string(name);
    if (name.empty() || path.find_first_of(":=") != std::string::npos) return true;
    if (raw.starts_with('{') && depth < max_path_depth) {
      count_names(names, raw, path + '.', depth + 1);
    } else if (!raw.starts_with('[') && (names.size() < max_names || names.contains(path))) {
      ++names[path];
    }
    return true;
  });
}

/// Most frequent first, then by name.
std::vector<std::string> sort_by_frequency(const tally& counts) {
  std::vector<std::pair<std::string_view, std::size_t>> entries(counts.begin(), counts.end());
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.second != b.second ? a.second > b.second : a.first < b.first; });
  std::vector<std::string> out;
  out.reserve(entries.size());
  for (const auto& [name, count] : entries) out.emplace_back(name);
  return out;
}

/// The most common journal fields, which are offered before other ones.
const std::vector<std::string>& common_journal_fields() {
  static const std::vector<std::string> fields{"_SYSTEMD_UNIT", "SYSLOG_IDENTIFIER", "PRIORITY",   "_PID", "_COMM", "_UID",
                                               "_HOSTNAME",     "_BOOT_ID",          "_TRANSPORT", "_EXE", "UNIT"};
  return fields;
}

/// Whether the path of a field suggests that its value is a secret.
bool is_sensitive_path(std::string_view path) {
  if (secrets::classify_name(path) != secrets::sensitivity::none) return true;
  while (!path.empty()) {
    const auto name = path.substr(0, path.find('.'));
    if (secrets::classify_name(name) == secrets::sensitivity::strong) return true;
    path.remove_prefix(std::min(path.size(), name.size() + 1));
  }
  return false;
}

/// Counts the names of fields, or the values of one field.
class field_counter {
 public:
  explicit field_counter(std::optional<std::string> path) : path_(std::move(path)) {}

  void add(const records::log_record& record) {
    if (!path_) return count_names(counts_, record.text, {}, 0);
    const auto value = records::find_field(record.text, *path_);
    if (value) add_value(*value);
  }
  void add_native(const std::pair<std::string, std::string>& field) {
    if (path_) return add_value(field.second);
    if (native_counts_.size() < max_names || native_counts_.contains(field.first)) ++native_counts_[field.first];
  }
  [[nodiscard]] std::vector<std::string> ranked() {
    auto out = sort_by_frequency(counts_);
    for (const auto& field : common_journal_fields())
      if (native_counts_.erase(field) != 0) out.push_back(field);
    const auto other_fields = sort_by_frequency(native_counts_);
    out.insert(out.end(), other_fields.begin(), other_fields.end());
    return out;
  }

 private:
  void add_value(const std::string& value) {
    // Objects and lists contain fields with their own names.
    const bool is_listed = !value.empty() && value.size() <= max_value_bytes && value.find(',') == std::string::npos &&
                           value.front() != '{' && value.front() != '[' && secrets::redact_text(value) == value;
    if (is_listed && (counts_.size() < max_names || counts_.contains(value))) ++counts_[value];
  }

  const std::optional<std::string> path_;
  tally counts_, native_counts_;
};

result<complete_result> complete_field(const complete_request& request, const completion_context& context) {
  complete_result empty{{}, 0, false};
  if (!context.read_newest) return empty;
  // Only the last item of a list is completed.
  const auto comma = request.value.rfind(',');
  const auto front = comma == std::string::npos ? std::string() : request.value.substr(0, comma + 1);
  const auto partial = request.value.substr(front.size());
  const auto separator = partial.find_first_of(":=");
  const auto path = separator == std::string::npos ? std::nullopt : std::optional(partial.substr(0, separator));
  // Do not list values of secret fields, even if masking does not recognize them.
  if (path && (path->empty() || is_sensitive_path(*path))) return empty;
  field_counter counter(path);
  const auto page = context.read_newest(completion_records);
  if (!page) return tl::unexpected(page.error());
  for (const auto& record : page->records) counter.add(record);
  if (context.native_fields) {
    const auto native_fields = context.native_fields(path.value_or(""), completion_records);
    if (!native_fields) return tl::unexpected(native_fields.error());
    for (const auto& field : *native_fields) counter.add_native(field);
  }
  auto values = counter.ranked();
  for (auto& value : values) value = front + (path ? partial.substr(0, separator + 1) + value : value + ':');
  return complete_from(request.value, values);
}

std::vector<std::string> common_times(records::instant now, bool is_until) {
  const auto today = format_time(now - ((now % day) + day) % day);
  const auto yesterday = format_time(now - ((now % day) + day) % day - day);
  constexpr std::size_t date_size = 10;
  std::vector<std::string> out{"15m", "1h", "6h", "1d", "7d", today.substr(0, date_size), yesterday.substr(0, date_size)};
  if (is_until) out.insert(out.begin(), "now");
  return out;
}

}  // namespace

result<complete_result> complete_parameter(const complete_request& request, const completion_context& context) {
  const auto complete_fixed = [&](const std::vector<std::string>& values) { return complete_from(request.value, values); };
  if (request.argument == "level") return complete_fixed({"error", "warning", "critical", "notice", "info", "debug", "trace"});
  if (request.argument == "since" || request.argument == "until")
    return complete_fixed(common_times(context.now, request.argument == "until"));
  if (request.argument == "lines") return complete_fixed({"100", "20", "500", "1000", "10000"});
  if (request.argument == "format")
    return request.uri_template.find("/summary") != std::string::npos ? complete_fixed({"markdown", "json"})
                                                                      : complete_fixed({"text", "json"});
  if (request.argument == "field") return complete_field(request, context);
  return complete_result{{}, 0, false};
}

namespace {

/// The time reserved for writing the answer before the deadline of a request.
constexpr std::chrono::milliseconds response_margin{200};
constexpr std::uint64_t max_answer_bytes = 4u << 20;

std::string make_version(std::string_view log_version, std::string_view uri) {
  bytes::digester digester;
  digester.update(log_version);
  digester.update("\n");
  digester.update(uri);
  return bytes::to_hex(digester.value());
}

summary_cache_options make_summary_options(const provider_options& options) {
  auto out = options.summary_options;
  out.lookback = options.lookback > 0 ? options.lookback : day;
  out.max_scanned_bytes = options.max_scanned_bytes;
  out.timeout = options.timeout;
  out.clock = options.clock;
  return out;
}

}  // namespace

/// Reports changes of the summary's priority.
struct log_provider::list_notifier {
  std::mutex mutex;
  std::shared_ptr<change_listener> listener;
  std::string uri, title;

  void notify() {
    std::shared_ptr<change_listener> current_listener;
    {
      const std::lock_guard lock(mutex);
      current_listener = listener;
    }
    if (current_listener) current_listener->list_changed();
  }
};

/// Logs each problem of the log once, until it changes or ends.
struct log_provider::failure_log {
  std::string name;
  std::function<void(std::string_view)> log;
  std::mutex mutex;
  std::string last_error;

  void record(const std::string& error, const std::string& details = {}) {
    {
      const std::lock_guard lock(mutex);
      if (last_error == error) return;
      last_error = error;
    }
    if (!log) return;
    if (error.empty()) return log("the log " + name + " can be read again");
    log("the log " + name + ": " + error + (details.empty() ? "" : " (" + details + ')'));
  }
};

struct log_provider::rendered_content {
  std::string version;
  std::optional<std::string> text{};
  metadata fields{};
  bool is_racy = false;
};

log_provider::log_provider(provider_options options)
    : options_(std::move(options)),
      record_notifier_(std::make_shared<change_notifier>(uri_prefix(options_.name),
                                                         make_entry({.name = options_.name}, options_.is_journal).title)),
      summary_notifier_(std::make_shared<change_notifier>(
          summary_uri(options_.name), make_entry({.name = options_.name, .is_summary = true}, false).title)),
      list_notifier_(std::make_shared<list_notifier>()),
      failure_log_(std::make_shared<failure_log>()),
      summary_cache_(std::make_shared<summary_cache>(
          options_.backend, make_summary_options(options_),
          summary_cache::update_handlers{
              [notifier = summary_notifier_] { notifier->notify(); },
              [list_changes = list_notifier_] { list_changes->notify(); },
              [backend = options_.backend, failures = failure_log_] { failures->record(backend->last_error()); }})) {
  failure_log_->name = options_.name;
  failure_log_->log = options_.log;
}

log_provider::~log_provider() {
  const std::lock_guard lock(watch_mutex_);
  if (is_watching_) options_.backend->follow(nullptr);
}

std::string log_provider::name() const { return "log " + options_.name; }

std::vector<std::string> log_provider::claims() const { return {uri_prefix(options_.name)}; }

scheme_documentation log_provider::documentation() const { return logs::describe_scheme(); }

std::vector<resource_template> log_provider::templates() const { return make_templates(options_.name); }

hondana::system_requirements log_provider::requirements() const { return options_.backend->requirements(); }

provider_traits log_provider::traits() const noexcept {
  return {.masking = options_.redact ? secret_masking::by_source : secret_masking::none};
}

hondana::provider_health log_provider::health() const {
  summary_cache_->request_check();
  auto error = options_.backend->last_error();
  return {error.empty(), std::move(error)};
}

void log_provider::check() {
  options_.backend->check();
  failure_log_->record(options_.backend->last_error());
}

failure log_provider::to_client_error(failure error) const {
  if (error.code == errc::resource_not_found || error.code == errc::access_denied) error.code = errc::source_unavailable;
  if (error.code == errc::source_unavailable) failure_log_->record(error.public_text, error.private_text);
  return error;
}

records::instant log_provider::now() const { return options_.clock ? options_.clock() : current_instant(); }

result<log_address> log_provider::resolve(const std::string& uri) const {
  auto address = parse_address(uri, now());
  if (address && address->name != options_.name)
    return fail(errc::resource_not_found, "Unknown log. List the resources to see the logs.");
  return address;
}

records::read_budget log_provider::make_budget(const request_context& context, std::uint64_t max_bytes) const {
  records::read_budget budget;
  budget.deadline = monotonic_clock::now() + options_.timeout;
  if (context.deadline != std::chrono::steady_clock::time_point::max())
    budget.deadline = std::min(budget.deadline, context.deadline - response_margin);
  budget.max_scanned_bytes = options_.max_scanned_bytes;
  // In JSON, a text can take twice its size. It takes even more if it consists mostly of control characters, and is rejected
  // then.
  budget.max_answer_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(max_answer_bytes, max_bytes / 2));
  budget.max_record_bytes = std::min(budget.max_record_bytes, budget.max_answer_bytes);
  return budget;
}

result<list_result> log_provider::list(const list_request& request) {
  list_result page;
  for (const bool is_summary : {false, true}) {
    auto entry = make_entry({.name = options_.name, .is_summary = is_summary}, options_.is_journal);
    if (is_summary) entry.annotations.priority = summary_cache_->priority();
    if (std::is_gt(compare_by_segment(entry.uri, request.after_key))) page.entries.push_back(std::move(entry));
  }
  if (page.entries.size() > request.limit) {
    page.entries.resize(request.limit);
    page.next_key = page.entries.empty() ? request.after_key : page.entries.back().uri;
  }
  return page;
}

result<log_provider::rendered_content> log_provider::render_page(const log_address& address, const request_context& context,
                                                                 std::uint64_t max_bytes,
                                                                 const std::optional<std::string>& known_version) {
  // Read the version before the records, so that it is never newer than they are.
  HONDANA_TRY(const auto version, options_.backend->version(context));
  rendered_content output;
  if (!version.empty() && !address.is_relative) {
    output.version = make_version(version, to_uri(address));
    if (known_version == output.version) return output;
  }
  auto query = address.query;
  query.lines = address.lines.value_or(options_.lines);
  HONDANA_TRY(const auto page, options_.backend->read(query, make_budget(context, max_bytes), context));
  page_report report{.address = address, .page = page, .has_prefixes = options_.is_journal};
  if (page.next) {
    auto older_address = address;
    older_address.query.cursor = *page.next;
    report.next_uri = to_uri(older_address);
  }
  output.text = address.is_json ? to_json(report) : to_text(report);
  output.fields = secrets::redaction_metadata(page.masked_count);
  if (!report.next_uri.empty()) output.fields.emplace_back("dev.hondana/next", report.next_uri);
  if (!page.early_end_reason.empty()) output.fields.emplace_back("dev.hondana/endedEarly", page.early_end_reason);
  // If the time limit or the current time influenced the contents, the log's version does not identify them.
  output.is_racy = !page.early_end_reason.empty() || address.is_relative;
  return output;
}

result<log_provider::rendered_content> log_provider::render_summary(const log_address& address,
                                                                    const request_context& context) {
  std::shared_ptr<const log_summary> report;
  if (!address.query.since && !address.query.until) {
    HONDANA_TRY(auto cached, summary_cache_->get(context));
    report = std::move(cached);
  } else {
    summary_request request;
    request.since = address.query.since;
    request.until = address.query.until;
    request.lookback = options_.lookback > 0 ? options_.lookback : day;
    request.now = now();
    request.budget = make_budget(context, UINT64_MAX);
    HONDANA_TRY(auto created, summarize(*options_.backend, request, context));
    report = std::make_shared<const log_summary>(std::move(created));
  }
  rendered_content output;
  output.text = address.is_json ? to_json(*report, options_.name) : to_markdown(*report, options_.name);
  output.is_racy = true;
  return output;
}

result<log_provider::rendered_content> log_provider::render(const log_address& address, const request_context& context,
                                                            std::uint64_t max_bytes,
                                                            const std::optional<std::string>& known_version) {
  auto output = address.is_summary ? render_summary(address, context) : render_page(address, context, max_bytes, known_version);
  if (!output) return tl::unexpected(to_client_error(std::move(output.error())));
  failure_log_->record(options_.backend->last_error());
  if (!output->text) return output;
  if (output->text->size() > max_bytes)
    return fail(errc::response_too_large, "This page has " + std::to_string(output->text->size()) + " bytes, and at most " +
                                              std::to_string(max_bytes) + " may be sent. Request fewer lines.");
  if (output->version.empty()) {
    output->version = bytes::to_hex(bytes::digest_of(*output->text));
    if (known_version == output->version) output->text.reset();
  }
  return output;
}

result<read_result> log_provider::read(const read_request& request) {
  HONDANA_TRY(const auto address, resolve(request.uri));
  HONDANA_TRY(auto rendered, render(address, request, request.max_bytes, request.cached_version));
  read_result response;
  response.version = std::move(rendered.version);
  response.is_racy = rendered.is_racy;
  if (!rendered.text) return response;
  const auto entry = make_entry(address, options_.is_journal);
  resource_content item;
  item.name = entry.name;
  item.title = entry.title;
  item.mime_type = entry.mime_type;
  item.kind = content_kind::text;
  item.metadata = std::move(rendered.fields);
  item.data = std::make_shared<const std::string>(std::move(*rendered.text));
  response.contents.push_back(std::move(item));
  return response;
}

result<resource> log_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto address, resolve(request.uri));
  auto entry = make_entry(address, options_.is_journal);
  entry.uri = request.uri;
  if (address.is_summary) entry.annotations.priority = summary_cache_->priority();
  entry.version = request.known_version.value_or(std::string());
  if (!entry.version.empty()) return entry;
  HONDANA_TRY(auto rendered, render(address, request, read_request().max_bytes, std::nullopt));
  entry.version = std::move(rendered.version);
  if (address.is_summary) entry.annotations.priority = summary_cache_->priority();
  return entry;
}

result<complete_result> log_provider::complete(const complete_request& request) {
  completion_context context;
  context.now = now();
  const bool may_read = !request.caller.access_filter || request.caller.access_filter->may_read(uri_prefix(options_.name));
  if (may_read)
    context.read_newest = [this, &request](std::size_t lines) {
      records::log_query query;
      query.lines = lines;
      auto budget = make_budget(request, max_answer_bytes);
      constexpr std::chrono::milliseconds max_time{300};
      budget.deadline = std::min(budget.deadline, monotonic_clock::now() + max_time);
      return options_.backend->read(query, budget, request);
    };
  if (may_read)
    context.native_fields = [this, &request](std::string_view field, std::size_t max_records) {
      return options_.backend->native_fields(field, max_records, make_budget(request, max_answer_bytes), request);
    };
  auto completion = complete_parameter(request, context);
  if (!completion) return tl::unexpected(to_client_error(std::move(completion.error())));
  return completion;
}

void log_provider::set_listener(std::shared_ptr<change_listener> listener) {
  if (!options_.watch) return;
  record_notifier_->set_listener(listener);
  summary_notifier_->set_listener(listener);
  const std::lock_guard lock(list_notifier_->mutex);
  list_notifier_->listener = std::move(listener);
}

void log_provider::update_watching() {
  const bool needs_watching = options_.watch && (watches_records_ || watches_summary_);
  record_notifier_->set_enabled(watches_records_);
  summary_notifier_->set_enabled(watches_summary_);
  summary_cache_->set_watched(options_.watch && watches_list_, options_.watch && watches_summary_);
  if (needs_watching == is_watching_) return;
  is_watching_ = needs_watching;
  if (!needs_watching) return options_.backend->follow(nullptr);
  options_.backend->follow([records = record_notifier_, weak_cache = std::weak_ptr(summary_cache_)] {
    records->notify();
    if (const auto cache = weak_cache.lock()) cache->schedule_update();
  });
}

void log_provider::watch(const std::string& uri) {
  const auto address = resolve(uri);
  if (!address) return;
  const std::lock_guard lock(watch_mutex_);
  (address->is_summary ? watches_summary_ : watches_records_) = true;
  update_watching();
}

void log_provider::unwatch(const std::string& uri) {
  const auto address = resolve(uri);
  if (!address) return;
  const std::lock_guard lock(watch_mutex_);
  (address->is_summary ? watches_summary_ : watches_records_) = false;
  update_watching();
}

void log_provider::watch_list() {
  const std::lock_guard lock(watch_mutex_);
  watches_list_ = true;
  update_watching();
}

void log_provider::unwatch_list() {
  const std::lock_guard lock(watch_mutex_);
  watches_list_ = false;
  update_watching();
}

}  // namespace hondana::logs
