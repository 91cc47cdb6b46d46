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
  service(settings from, std::shared_ptr<endpoint::endpoint> at);

  result<std::vector<vector>> of_documents(std::span<const std::string> texts, std::stop_token stop) const override;
  result<vector> of_query(const std::string& text, std::chrono::steady_clock::time_point until,
                          std::stop_token stop) const override;
  const std::string& id() const noexcept override { return id_; }
  std::size_t dimension() const noexcept override { return dimension_; }
  std::string description() const override;
  std::string place() const override { return at_->place(); }
  std::vector<std::string> files() const override { return at_->files(); }

 private:
  using clock = respite::clock;
  struct call {
    std::optional<clock::time_point> until{};
    std::stop_token stop{};
    bool leaves_out = false;  ///< A text that the service rejects on its own gets an empty vector instead of failing the call.
  };
  /// The result of one request.
  struct outcome {
    std::vector<vector> vectors{};  ///< Empty: rejected, maybe because of one of the texts; see `why`.
    failure why{};
    bool is_for_size = false;
  };

  [[nodiscard]] std::string prepared(const std::string& prefix, std::string_view text) const;
  /// Calls `ask`, and records success or failure for the back-off.
  [[nodiscard]] result<void> fill(std::span<std::string> texts, std::span<vector> into, const call& how) const;
  /// Sends all texts in one request; if the service rejects it, sends halves. `does_answer`: the service has returned at least
  /// one vector during this call.
  [[nodiscard]] result<void> ask(std::span<std::string> texts, std::span<vector> into, const call& how,
                                 bool& does_answer) const;
  [[nodiscard]] result<outcome> ask_once(std::span<const std::string> texts, const call& how) const;
  /// Whether the service answers at all, tested with a harmless text.
  [[nodiscard]] bool answers(const call& how) const;
  [[nodiscard]] failure failure_of(const endpoint::answer& got, std::string words) const;
  [[nodiscard]] result<void> take_dimension(std::span<const vector> of, const call& how) const;
  [[nodiscard]] std::string body_of(std::span<const std::string> texts) const;
  [[nodiscard]] std::size_t most_bytes_for(std::size_t texts) const;

  const settings from_;
  const std::shared_ptr<endpoint::endpoint> at_;
  const std::string path_;
  const std::string id_;
  mutable std::atomic<std::size_t> dimension_;
  mutable respite respite_;
};

namespace {

/// In bytes. A shorter text is not halved further.
constexpr std::size_t shortest_text = 256;
/// Estimated sizes in a response: one number as text with its comma, the members around one vector, and the rest of the
/// response.
constexpr std::size_t bytes_a_number = 32;
constexpr std::size_t bytes_a_text = 1024;
constexpr std::size_t bytes_an_answer = 1u << 20;
constexpr std::size_t most_bytes_an_answer = 128u << 20;

constexpr std::string_view blanks = " \t\r\n\v\f";

/// Cuts at a character boundary.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

std::string path_for(std::string_view url) {
  url = url.substr(0, url.find('?'));
  while (url.ends_with('/')) url.remove_suffix(1);
  return url.ends_with("/embeddings") ? "" : "/embeddings";
}

std::string id_of(const settings& from) {
  std::string out;
  json::writer to(out);
  to.begin_array().string(from.model).unsigned_integer(from.dimensions);
  to.string(from.query_prefix).string(from.document_prefix).end_array();
  return out;
}

/// Whether a text in the batch may have caused the rejection: it is malformed for the service, or exceeds the limits of its
/// model.
bool may_be_for_a_text(int status) noexcept { return status == 400 || status == 413 || status == 422 || status == 500; }

std::string in_seconds(std::chrono::milliseconds time) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count()) + " s";
}

}  // namespace

service::service(settings from, std::shared_ptr<endpoint::endpoint> at)
    : from_(std::move(from)),
      at_(std::move(at)),
      path_(path_for(from_.at.url)),
      id_(id_of(from_)),
      dimension_(from_.dimensions) {}

std::string service::prepared(const std::string& prefix, std::string_view text) const {
  text = cut(text, from_.most_bytes);
  // Services reject empty texts.
  if (text.find_first_not_of(blanks) == std::string_view::npos) text = ".";
  return prefix + std::string(text);
}

result<std::vector<vector>> service::of_documents(std::span<const std::string> texts, std::stop_token stop) const {
  std::vector<vector> out(texts.size());
  std::vector<std::string> batch;
  for (std::size_t from = 0; from < texts.size(); from += batch.size()) {
    const auto count = std::min(from_.batch, texts.size() - from);
    batch.clear();
    batch.reserve(count);
    for (const auto& one : texts.subspan(from, count)) batch.push_back(prepared(from_.document_prefix, one));
    HONDANA_TRY(fill(batch, std::span(out).subspan(from, count), {.stop = stop, .leaves_out = true}));
  }
  HONDANA_TRY(take_dimension(out, {.leaves_out = true}));
  return out;
}

result<vector> service::of_query(const std::string& text, clock::time_point until, std::stop_token stop) const {
  const auto now = clock::now();
  if (const auto left = respite_.left(now, from_.query_time)) {
    const auto count = respite_.failures();
    auto out =
        fail(errc::source_unavailable, "the embedding service at " + at_->origin() + " has failed" +
                                           (count > 1 ? ' ' + std::to_string(count) + " times in a row" : std::string()) +
                                           ", and is not called for another " + in_seconds(*left));
    out.value().retry = *left;
    return out;
  }
  std::vector<std::string> texts{prepared(from_.query_prefix, text)};
  std::vector<vector> out(1);
  const call how{.until = std::min(until, now + from_.query_time), .stop = std::move(stop)};
  HONDANA_TRY(fill(texts, out, how));
  HONDANA_TRY(take_dimension(out, how));
  return std::move(out.front());
}

result<void> service::fill(std::span<std::string> texts, std::span<vector> into, const call& how) const {
  const auto began = clock::now();
  bool does_answer = false;
  auto done = ask(texts, into, how, does_answer);
  if (!done && done.error().code == errc::cancelled) return done;
  if (done) {
    respite_.succeeded();
  } else {
    respite_.failed(began, clock::now(), done.error().retry);
  }
  return done;
}

result<void> service::ask(std::span<std::string> texts, std::span<vector> into, const call& how, bool& does_answer) const {
  HONDANA_TRY(auto got, ask_once(texts, how));
  if (!got.vectors.empty()) {
    does_answer = true;
    std::move(got.vectors.begin(), got.vectors.end(), into.begin());
    return {};
  }
  // If the service rejects everything, do not send each text separately.
  if (!got.is_for_size || texts.size() == 1) {
    if (!how.leaves_out && !got.is_for_size) return tl::unexpected(std::move(got.why));
    if (how.leaves_out && !does_answer) does_answer = answers(how);
    if (how.leaves_out && !does_answer) return tl::unexpected(std::move(got.why));
  }
  if (texts.size() > 1) {
    const auto half = texts.size() / 2;
    HONDANA_TRY(ask(texts.first(half), into.first(half), how, does_answer));
    return ask(texts.subspan(half), into.subspan(half), how, does_answer);
  }
  auto& text = texts.front();
  if (got.is_for_size && text.size() > shortest_text) {
    text = cut(text, text.size() / 2);
    return ask(texts, into, how, does_answer);
  }
  if (!how.leaves_out) return tl::unexpected(std::move(got.why));
  into.front().clear();
  return {};
}

bool service::answers(const call& how) const {
  const std::vector<std::string> texts{prepared(from_.document_prefix, "")};
  const auto got = ask_once(texts, how);
  return got && !got->vectors.empty();
}

result<service::outcome> service::ask_once(std::span<const std::string> texts, const call& how) const {
  endpoint::request what;
  what.path = path_;
  what.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  what.body = body_of(texts);
  what.until = how.until;
  what.most_bytes = most_bytes_for(texts.size());
  auto got = at_->ask(what, how.stop);
  if (!got && got.error().code == errc::response_too_large && texts.size() > 1)
    return outcome{{}, std::move(got.error()), true};
  if (!got) return tl::unexpected(std::move(got.error()));
  if (got->status < 200 || got->status > 299) {
    auto refused = refusal_in(got->status, got->bytes);
    auto why = failure_of(*got, std::move(refused.words));
    if (refused.is_for_size || may_be_for_a_text(got->status)) return outcome{{}, std::move(why), refused.is_for_size};
    return tl::unexpected(std::move(why));
  }
  auto out = vectors_in(got->bytes, texts.size());
  if (out) return outcome{std::move(*out), {}, false};
  return outcome{{},
                 {out.error().code, "the embedding service at " + at_->origin() + ' ' + out.error().public_text,
                  std::move(out.error().private_text)},
                 false};
}

failure service::failure_of(const endpoint::answer& got, std::string words) const {
  failure out;
  out.private_text = std::move(words);
  out.retry = got.retry;
  const auto status = std::to_string(got.status);
  const auto who = "the embedding service at " + at_->origin();
  if (got.status == 401 || got.status == 403) {
    out.code = errc::access_denied;
    // The service's message may repeat the token.
    out.private_text.clear();
    out.public_text = who + " rejects requests (" + status + "); " +
                      (from_.at.bearer_file.empty() && from_.at.user.empty()
                           ? "it requires authentication: set bearer_file"
                           : "the token or password in the configured file is not accepted");
  } else if (got.status == 404 || got.status == 405) {
    out.code = errc::source_unavailable;
    auto url = at_->url();
    while (url.ends_with('/')) url.pop_back();
    out.public_text = who + " answers " + status + ": it does not know " + url + path_ + ", or has no model \"" + from_.model +
                      "\"; the URL usually ends in /v1, and the model must be loaded there";
  } else if (got.status == 429 || got.status >= 500) {
    out.code = errc::source_unavailable;
    out.public_text = who + (got.status == 429 ? " has reached its rate limit (" : " failed (") + status + ')';
    if (got.retry) out.public_text += "; retry after " + in_seconds(*got.retry);
  } else if (got.status < 400) {
    out.code = errc::broken_protocol;
    out.public_text = who + " redirects a request (" + status + "), which is not followed; set the URL that it redirects to";
  } else {
    out.code = errc::broken_protocol;
    out.public_text = who + " rejects a request for vectors of the model \"" + from_.model + "\" (" + status +
                      "); see the log for its message";
  }
  return out;
}

result<void> service::take_dimension(std::span<const vector> of, const call& how) const {
  std::size_t got = 0;
  bool is_mixed = false;
  for (const auto& one : of) {
    if (one.empty()) continue;
    is_mixed = is_mixed || (got != 0 && one.size() != got);
    got = one.size();
  }
  if (got == 0) return {};
  const auto says =
      "the embedding service at " + at_->origin() + " answered with vectors of " + std::to_string(got) + " numbers";
  if (from_.dimensions != 0 && got != from_.dimensions)
    return fail(errc::broken_protocol, says + ", but " + std::to_string(from_.dimensions) +
                                           " are configured; set the dimensions of the model \"" + from_.model + "\"");
  if (is_mixed) return fail(errc::broken_protocol, says + ", and with vectors of another length; its model has changed");
  std::size_t known = 0;
  if (dimension_.compare_exchange_strong(known, got) || known == got) return {};
  // The dimension of documents is the valid one. If it changes, all document vectors are computed again.
  if (!how.leaves_out)
    return fail(errc::content_changed,
                says + ", but those of documents have " + std::to_string(known) + ", so its model has changed");
  dimension_ = got;
  return {};
}

std::string service::body_of(std::span<const std::string> texts) const {
  std::size_t size = bytes_a_text;
  for (const auto& one : texts) size += one.size() + one.size() / 8;
  std::string out;
  out.reserve(size);
  json::writer to(out);
  to.begin_object().member("model", from_.model).key("input").begin_array();
  for (const auto& one : texts) to.string(one);
  to.end_array().member("encoding_format", "float");
  if (from_.dimensions != 0) to.key("dimensions").unsigned_integer(from_.dimensions);
  to.end_object();
  return out;
}

std::size_t service::most_bytes_for(std::size_t texts) const {
  const std::size_t known = dimension_;
  const auto numbers = known == 0 ? most_dimensions : known;
  return std::min(bytes_an_answer + texts * (bytes_a_text + numbers * bytes_a_number), most_bytes_an_answer);
}

std::string service::description() const {
  auto out = "vectors of the model \"" + from_.model + '"';
  if (const std::size_t known = dimension_; known != 0) out += ", " + std::to_string(known) + " numbers each";
  return out;
}

namespace {

constexpr std::size_t most_in_a_batch = 2048;
constexpr std::size_t least_bytes = 64;
constexpr std::size_t most_bytes = 1u << 20;
constexpr std::size_t longest_name = 512;
constexpr std::chrono::milliseconds longest_query{60'000};

tl::unexpected<failure> unfit(std::string why) { return fail(errc::invalid_argument, std::move(why)); }

bool is_name(const std::string& text) { return text.size() <= longest_name && json::is_utf8(text) && !json::has_nul(text); }

}  // namespace

result<std::shared_ptr<const embedder>> make_embedder(settings from) {
  if (from.model.empty()) return unfit("model: missing; set the name of the model at the service");
  if (!is_name(from.model) || !is_name(from.query_prefix) || !is_name(from.document_prefix))
    return unfit("model, query_prefix and document_prefix must be UTF-8 of at most " + std::to_string(longest_name) + " bytes");
  if (from.dimensions > most_dimensions) return unfit("dimensions: at most " + std::to_string(most_dimensions));
  if (from.batch == 0 || from.batch > most_in_a_batch)
    return unfit("batch: expected 1 to " + std::to_string(most_in_a_batch) + " texts in a request");
  if (from.most_bytes < least_bytes || from.most_bytes > most_bytes)
    return unfit("most_bytes: from " + std::to_string(least_bytes) + " to " + std::to_string(most_bytes) + " bytes of a text");
  if (from.query_time.count() <= 0 || from.query_time > longest_query)
    return unfit("query_time: expected more than 0 and at most a minute");
  HONDANA_TRY(auto at, endpoint::endpoint::of(from.at));
  return std::make_shared<const service>(std::move(from), std::move(at));
}

}  // namespace hondana::embeddings
