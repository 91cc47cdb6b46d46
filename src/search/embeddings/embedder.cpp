/// Embeddings of texts from a service with the OpenAI API.
#include "search/embeddings/embedder.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/utf8.hpp"
#include "base/json/writer.hpp"
#include "search/embeddings/backoff.hpp"
#include "search/embeddings/embedding_response.hpp"

namespace hondana::embeddings {

class service final : public embedder {
 public:
  service(settings options, std::shared_ptr<endpoint::endpoint> service_endpoint);

  result<std::vector<vector>> embed_documents(std::span<const std::string> texts, std::stop_token stop) const override;
  result<vector> embed_query(const std::string& text, std::chrono::steady_clock::time_point deadline,
                             std::stop_token stop) const override;
  const std::string& id() const noexcept override { return id_; }
  std::size_t dimension() const noexcept override { return dimension_; }
  std::string description() const override;
  std::string address() const override { return endpoint_->address(); }
  std::vector<std::string> files() const override { return endpoint_->files(); }

 private:
  using clock = backoff::clock;
  struct call_options {
    std::optional<clock::time_point> deadline{};
    std::stop_token stop{};
    bool skips_rejected =
        false;  ///< A text that the service rejects on its own gets an empty vector instead of failing the call.
  };
  /// The result of one request.
  struct batch_result {
    std::vector<vector> vectors{};  ///< Empty: rejected, maybe because of one of the texts; see `error`.
    failure error{};
    bool is_too_large = false;
  };

  [[nodiscard]] std::string prepare_text(const std::string& prefix, std::string_view text) const;
  /// Calls `embed_or_split`, and records success or failure for the back-off.
  [[nodiscard]] result<void> embed_with_backoff(std::span<std::string> texts, std::span<vector> vectors,
                                                const call_options& options) const;
  /// Sends all texts in one request; if the service rejects it, sends halves. `has_answered`: the service has returned at least
  /// one vector during this call.
  [[nodiscard]] result<void> embed_or_split(std::span<std::string> texts, std::span<vector> vectors,
                                            const call_options& options, bool& has_answered) const;
  [[nodiscard]] result<batch_result> send_request(std::span<const std::string> texts, const call_options& options) const;
  /// Whether the service answers at all, tested with a harmless text.
  [[nodiscard]] bool is_responsive(const call_options& options) const;
  [[nodiscard]] failure make_failure(const endpoint::response& response, std::string message) const;
  [[nodiscard]] result<void> check_dimension(std::span<const vector> vectors, const call_options& options) const;
  [[nodiscard]] std::string make_body(std::span<const std::string> texts) const;
  [[nodiscard]] std::size_t response_limit(std::size_t texts) const;

  const settings settings_;
  const std::shared_ptr<endpoint::endpoint> endpoint_;
  const std::string path_;
  const std::string id_;
  mutable std::atomic<std::size_t> dimension_;
  mutable backoff backoff_;
};

namespace {

/// In bytes. A shorter text is not halved further.
constexpr std::size_t min_split_bytes = 256;
/// Estimated sizes in a response: one number as text with its comma, the members around one vector, and the rest of the
/// response.
constexpr std::size_t number_bytes = 32;
constexpr std::size_t text_bytes = 1024;
constexpr std::size_t base_response_bytes = 1u << 20;
constexpr std::size_t max_response_bytes = 128u << 20;

constexpr std::string_view blanks = " \t\r\n\v\f";

/// Cuts at a character boundary.
std::string_view truncate(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  while (max_bytes > 0 && (static_cast<unsigned char>(text[max_bytes]) & 0xC0) == 0x80) --max_bytes;
  return text.substr(0, max_bytes);
}

std::string endpoint_path(std::string_view url) {
  url = url.substr(0, url.find('?'));
  while (url.ends_with('/')) url.remove_suffix(1);
  return url.ends_with("/embeddings") ? "" : "/embeddings";
}

std::string make_id(const settings& options) {
  std::string out;
  json::writer writer(out);
  writer.begin_array().string(options.model).unsigned_integer(options.dimensions);
  writer.string(options.query_prefix).string(options.document_prefix).end_array();
  return out;
}

/// Whether a text in the batch may have caused the rejection: it is malformed for the service, or exceeds the limits of its
/// model.
bool may_reject_text(int status) noexcept { return status == 400 || status == 413 || status == 422 || status == 500; }

std::string format_seconds(std::chrono::milliseconds time) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count()) + " s";
}

}  // namespace

service::service(settings options, std::shared_ptr<endpoint::endpoint> service_endpoint)
    : settings_(std::move(options)),
      endpoint_(std::move(service_endpoint)),
      path_(endpoint_path(settings_.connection.url)),
      id_(make_id(settings_)),
      dimension_(settings_.dimensions) {}

std::string service::prepare_text(const std::string& prefix, std::string_view text) const {
  text = truncate(text, settings_.max_bytes);
  // Services reject empty texts.
  if (text.find_first_not_of(blanks) == std::string_view::npos) text = ".";
  return prefix + std::string(text);
}

result<std::vector<vector>> service::embed_documents(std::span<const std::string> texts, std::stop_token stop) const {
  std::vector<vector> out(texts.size());
  std::vector<std::string> batch;
  for (std::size_t begin = 0; begin < texts.size(); begin += batch.size()) {
    const auto count = std::min(settings_.batch_size, texts.size() - begin);
    batch.clear();
    batch.reserve(count);
    for (const auto& text : texts.subspan(begin, count)) batch.push_back(prepare_text(settings_.document_prefix, text));
    HONDANA_TRY(embed_with_backoff(batch, std::span(out).subspan(begin, count), {.stop = stop, .skips_rejected = true}));
  }
  HONDANA_TRY(check_dimension(out, {.skips_rejected = true}));
  return out;
}

result<vector> service::embed_query(const std::string& text, clock::time_point deadline, std::stop_token stop) const {
  const auto now = clock::now();
  if (const auto delay = backoff_.remaining_delay(now, settings_.query_timeout)) {
    const auto count = backoff_.failures();
    auto out =
        fail(errc::source_unavailable, "the embedding service at " + endpoint_->origin() + " has failed" +
                                           (count > 1 ? ' ' + std::to_string(count) + " times in a row" : std::string()) +
                                           ", and is not called for another " + format_seconds(*delay));
    out.value().retry_after = *delay;
    return out;
  }
  std::vector<std::string> texts{prepare_text(settings_.query_prefix, text)};
  std::vector<vector> out(1);
  const call_options options{.deadline = std::min(deadline, now + settings_.query_timeout), .stop = std::move(stop)};
  HONDANA_TRY(embed_with_backoff(texts, out, options));
  HONDANA_TRY(check_dimension(out, options));
  return std::move(out.front());
}

result<void> service::embed_with_backoff(std::span<std::string> texts, std::span<vector> vectors,
                                         const call_options& options) const {
  const auto started = clock::now();
  bool has_answered = false;
  auto status = embed_or_split(texts, vectors, options, has_answered);
  if (!status && status.error().code == errc::cancelled) return status;
  if (status) {
    backoff_.report_success();
  } else {
    backoff_.report_failure(started, clock::now(), status.error().retry_after);
  }
  return status;
}

result<void> service::embed_or_split(std::span<std::string> texts, std::span<vector> vectors, const call_options& options,
                                     bool& has_answered) const {
  HONDANA_TRY(auto response, send_request(texts, options));
  if (!response.vectors.empty()) {
    has_answered = true;
    std::move(response.vectors.begin(), response.vectors.end(), vectors.begin());
    return {};
  }
  // If the service rejects everything, do not send each text separately.
  if (!response.is_too_large || texts.size() == 1) {
    if (!options.skips_rejected && !response.is_too_large) return tl::unexpected(std::move(response.error));
    if (options.skips_rejected && !has_answered) has_answered = is_responsive(options);
    if (options.skips_rejected && !has_answered) return tl::unexpected(std::move(response.error));
  }
  if (texts.size() > 1) {
    const auto half = texts.size() / 2;
    HONDANA_TRY(embed_or_split(texts.first(half), vectors.first(half), options, has_answered));
    return embed_or_split(texts.subspan(half), vectors.subspan(half), options, has_answered);
  }
  auto& text = texts.front();
  if (response.is_too_large && text.size() > min_split_bytes) {
    text = truncate(text, text.size() / 2);
    return embed_or_split(texts, vectors, options, has_answered);
  }
  if (!options.skips_rejected) return tl::unexpected(std::move(response.error));
  vectors.front().clear();
  return {};
}

bool service::is_responsive(const call_options& options) const {
  const std::vector<std::string> texts{prepare_text(settings_.document_prefix, "")};
  const auto response = send_request(texts, options);
  return response && !response->vectors.empty();
}

result<service::batch_result> service::send_request(std::span<const std::string> texts, const call_options& options) const {
  endpoint::request request;
  request.path = path_;
  request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  request.body = make_body(texts);
  request.deadline = options.deadline;
  request.max_bytes = response_limit(texts.size());
  auto response = endpoint_->send(request, options.stop);
  if (!response && response.error().code == errc::response_too_large && texts.size() > 1)
    return batch_result{{}, std::move(response.error()), true};
  if (!response) return tl::unexpected(std::move(response.error()));
  if (response->status < 200 || response->status > 299) {
    auto rejection = parse_rejection(response->status, response->body);
    auto error = make_failure(*response, std::move(rejection.message));
    if (rejection.is_too_large || may_reject_text(response->status))
      return batch_result{{}, std::move(error), rejection.is_too_large};
    return tl::unexpected(std::move(error));
  }
  auto out = parse_vectors(response->body, texts.size());
  if (out) return batch_result{std::move(*out), {}, false};
  return batch_result{{},
                      {out.error().code, "the embedding service at " + endpoint_->origin() + ' ' + out.error().public_text,
                       std::move(out.error().private_text)},
                      false};
}

failure service::make_failure(const endpoint::response& response, std::string message) const {
  failure out;
  out.private_text = std::move(message);
  out.retry_after = response.retry_after;
  const auto status = std::to_string(response.status);
  const auto service_name = "the embedding service at " + endpoint_->origin();
  if (response.status == 401 || response.status == 403) {
    out.code = errc::access_denied;
    // The service's message may repeat the token.
    out.private_text.clear();
    out.public_text = service_name + " rejects requests (" + status + "); " +
                      (settings_.connection.bearer_file.empty() && settings_.connection.user.empty()
                           ? "it requires authentication: set bearer_file"
                           : "the token or password in the configured file is not accepted");
  } else if (response.status == 404 || response.status == 405) {
    out.code = errc::source_unavailable;
    auto url = endpoint_->url();
    while (url.ends_with('/')) url.pop_back();
    out.public_text = service_name + " answers " + status + ": it does not know " + url + path_ + ", or has no model \"" +
                      settings_.model + "\"; the URL usually ends in /v1, and the model must be loaded there";
  } else if (response.status == 429 || response.status >= 500) {
    out.code = errc::source_unavailable;
    out.public_text = service_name + (response.status == 429 ? " has reached its rate limit (" : " failed (") + status + ')';
    if (response.retry_after) out.public_text += "; retry after " + format_seconds(*response.retry_after);
  } else if (response.status < 400) {
    out.code = errc::protocol_error;
    out.public_text =
        service_name + " redirects a request (" + status + "), which is not followed; set the URL that it redirects to";
  } else {
    out.code = errc::protocol_error;
    out.public_text = service_name + " rejects a request for vectors of the model \"" + settings_.model + "\" (" + status +
                      "); see the log for its message";
  }
  return out;
}

result<void> service::check_dimension(std::span<const vector> vectors, const call_options& options) const {
  std::size_t length = 0;
  bool is_mixed = false;
  for (const auto& embedding : vectors) {
    if (embedding.empty()) continue;
    is_mixed = is_mixed || (length != 0 && embedding.size() != length);
    length = embedding.size();
  }
  if (length == 0) return {};
  const auto message =
      "the embedding service at " + endpoint_->origin() + " answered with vectors of " + std::to_string(length) + " numbers";
  if (settings_.dimensions != 0 && length != settings_.dimensions)
    return fail(errc::protocol_error, message + ", but " + std::to_string(settings_.dimensions) +
                                          " are configured; set the dimensions of the model \"" + settings_.model + "\"");
  if (is_mixed) return fail(errc::protocol_error, message + ", and with vectors of another length; its model has changed");
  std::size_t known = 0;
  if (dimension_.compare_exchange_strong(known, length) || known == length) return {};
  // The dimension of documents is the valid one. If it changes, all document vectors are computed again.
  if (!options.skips_rejected)
    return fail(errc::content_changed,
                message + ", but those of documents have " + std::to_string(known) + ", so its model has changed");
  dimension_ = length;
  return {};
}

std::string service::make_body(std::span<const std::string> texts) const {
  std::size_t size = text_bytes;
  for (const auto& text : texts) size += text.size() + text.size() / 8;
  std::string out;
  out.reserve(size);
  json::writer writer(out);
  writer.begin_object().member("model", settings_.model).key("input").begin_array();
  for (const auto& input : texts) writer.string(input);
  writer.end_array().member("encoding_format", "float");
  if (settings_.dimensions != 0) writer.key("dimensions").unsigned_integer(settings_.dimensions);
  writer.end_object();
  return out;
}

std::size_t service::response_limit(std::size_t texts) const {
  const std::size_t known = dimension_;
  const auto numbers = known == 0 ? max_dimensions : known;
  return std::min(base_response_bytes + texts * (text_bytes + numbers * number_bytes), max_response_bytes);
}

std::string service::description() const {
  auto out = "vectors of the model \"" + settings_.model + '"';
  if (const std::size_t known = dimension_; known != 0) out += ", " + std::to_string(known) + " numbers each";
  return out;
}

namespace {

constexpr std::size_t max_batch_size = 2048;
constexpr std::size_t min_bytes = 64;
constexpr std::size_t max_text_bytes = 1u << 20;
constexpr std::size_t max_name_bytes = 512;
constexpr std::chrono::milliseconds max_query_timeout{60'000};

tl::unexpected<failure> invalid_setting(std::string reason) { return fail(errc::invalid_argument, std::move(reason)); }

bool is_name(const std::string& text) { return text.size() <= max_name_bytes && json::is_utf8(text) && !json::has_nul(text); }

}  // namespace

result<std::shared_ptr<const embedder>> make_embedder(settings options) {
  if (options.model.empty()) return invalid_setting("model: missing; set the name of the model at the service");
  if (!is_name(options.model) || !is_name(options.query_prefix) || !is_name(options.document_prefix))
    return invalid_setting("model, query_prefix and document_prefix must be UTF-8 of at most " +
                           std::to_string(max_name_bytes) + " bytes");
  if (options.dimensions > max_dimensions) return invalid_setting("dimensions: at most " + std::to_string(max_dimensions));
  if (options.batch_size == 0 || options.batch_size > max_batch_size)
    return invalid_setting("batch: expected 1 to " + std::to_string(max_batch_size) + " texts in a request");
  if (options.max_bytes < min_bytes || options.max_bytes > max_text_bytes)
    return invalid_setting("max_bytes: from " + std::to_string(min_bytes) + " to " + std::to_string(max_text_bytes) +
                           " bytes of a text");
  if (options.query_timeout.count() <= 0 || options.query_timeout > max_query_timeout)
    return invalid_setting("query_time: expected more than 0 and at most a minute");
  HONDANA_TRY(auto service_endpoint, endpoint::endpoint::create(options.connection));
  return std::make_shared<const service>(std::move(options), std::move(service_endpoint));
}

}  // namespace hondana::embeddings
