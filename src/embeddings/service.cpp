/// Batches, what they are asked for with, and what becomes of refusals.
#include "embeddings/service.hpp"

#include <algorithm>
#include <utility>

#include "embeddings/answers.hpp"
#include "json/writer.hpp"

namespace hondana::embeddings {
namespace {

/// Below it a single text is not made shorter.
constexpr std::size_t shortest_text = 256;
/// Of a number as text, with its comma; and of what surrounds the numbers of one text, and of an answer.
constexpr std::size_t bytes_a_number = 32;
constexpr std::size_t bytes_a_text = 1024;
constexpr std::size_t bytes_an_answer = 1u << 20;
constexpr std::size_t most_bytes_an_answer = 128u << 20;

constexpr std::string_view blanks = " \t\r\n\v\f";

/// Cut at a character.
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
  // Services refuse what is empty.
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
    if (auto done = fill(batch, std::span(out).subspan(from, count), {.stop = stop}); !done)
      return tl::unexpected(std::move(done.error()));
  }
  return out;
}

result<vector> service::of_query(const std::string& text, std::stop_token stop) const {
  const auto now = clock::now();
  if (const auto left = respite_.left(now, from_.query_time)) {
    const auto count = respite_.failures();
    auto out =
        fail(errc::source_unavailable, "the embedding service at " + at_->origin() + " has failed" +
                                           (count > 1 ? ' ' + std::to_string(count) + " times in a row" : std::string()) +
                                           ", and is left alone for another " + in_seconds(*left));
    out.value().retry = *left;
    return out;
  }
  std::vector<std::string> texts{prepared(from_.query_prefix, text)};
  std::vector<vector> out(1);
  if (auto done = fill(texts, out, {.until = now + from_.query_time, .stop = std::move(stop)}); !done)
    return tl::unexpected(std::move(done.error()));
  return std::move(out.front());
}

result<void> service::fill(std::span<std::string> texts, std::span<vector> into, const call& how) const {
  const auto began = clock::now();
  auto done = ask(texts, into, how);
  if (!done && done.error().code == errc::cancelled) return done;
  if (done) {
    respite_.succeeded();
  } else {
    respite_.failed(began, clock::now(), done.error().retry);
  }
  const std::lock_guard lock(mutex_);
  wrong_last_ = done ? std::string() : done.error().public_text;
  return done;
}

result<void> service::ask(std::span<std::string> texts, std::span<vector> into, const call& how) const {
  failure why;
  auto got = ask_once(texts, how, why);
  if (!got) return tl::unexpected(std::move(got.error()));
  if (*got) {
    if (auto fine = check_dimension((*got)->front().size()); !fine) return fine;
    std::move((*got)->begin(), (*got)->end(), into.begin());
    return {};
  }
  if (texts.size() > 1) {
    const auto half = texts.size() / 2;
    if (auto done = ask(texts.first(half), into.first(half), how); !done) return done;
    return ask(texts.subspan(half), into.subspan(half), how);
  }
  auto& text = texts.front();
  if (text.size() <= shortest_text) return tl::unexpected(std::move(why));
  text = cut(text, text.size() / 2);
  return ask(texts, into, how);
}

result<std::optional<std::vector<vector>>> service::ask_once(std::span<const std::string> texts, const call& how,
                                                             failure& why) const {
  endpoint::request what;
  what.path = path_;
  what.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  what.body = body_of(texts);
  what.until = how.until;
  what.most_bytes = most_bytes_for(texts.size());
  auto got = at_->ask(what, how.stop);
  if (!got && got.error().code == errc::response_too_large && texts.size() > 1) {
    why = std::move(got.error());
    return std::nullopt;
  }
  if (!got) return tl::unexpected(std::move(got.error()));
  if (got->status < 200 || got->status > 299) {
    auto refused = refusal_in(got->status, got->bytes);
    auto what_failed = failure_of(*got, std::move(refused.words));
    if (!refused.is_for_size) return tl::unexpected(std::move(what_failed));
    why = std::move(what_failed);
    return std::nullopt;
  }
  auto out = vectors_in(got->bytes, texts.size());
  if (!out)
    return fail(out.error().code, "the embedding service at " + at_->origin() + ' ' + out.error().public_text,
                std::move(out.error().private_text));
  return std::move(*out);
}

failure service::failure_of(const endpoint::answer& got, std::string words) const {
  failure out;
  out.private_text = std::move(words);
  out.retry = got.retry;
  const auto status = std::to_string(got.status);
  const auto who = "the embedding service at " + at_->origin();
  if (got.status == 401 || got.status == 403) {
    out.code = errc::access_denied;
    // It may repeat the token.
    out.private_text.clear();
    out.public_text = who + " refuses us (" + status + "); " +
                      (from_.at.bearer_file.empty() && from_.at.user.empty()
                           ? "it wants to know who asks: name a bearer_file"
                           : "the token or password in the named file is not, or no longer, accepted");
  } else if (got.status == 404 || got.status == 405) {
    out.code = errc::source_unavailable;
    auto url = at_->url();
    while (url.ends_with('/')) url.pop_back();
    out.public_text = who + " answers " + status + ": it knows no " + url + path_ + ", or has no model \"" + from_.model +
                      "\"; the URL usually ends in /v1, and the model must have been loaded there";
  } else if (got.status == 429 || got.status >= 500) {
    out.code = errc::source_unavailable;
    out.public_text = who + (got.status == 429 ? " is asked too often (" : " fails (") + status + ')';
    if (got.retry) out.public_text += "; it wants to be left alone for " + in_seconds(*got.retry);
  } else if (got.status < 400) {
    out.code = errc::broken_protocol;
    out.public_text = who + " redirects a request (" + status + "), which is not followed; name the URL that it redirects to";
  } else {
    out.code = errc::broken_protocol;
    out.public_text =
        who + " refuses a request for vectors of the model \"" + from_.model + "\" (" + status + "); the log has its own words";
  }
  return out;
}

result<void> service::check_dimension(std::size_t got) const {
  std::size_t known = 0;
  if (dimension_.compare_exchange_strong(known, got) || known == got) return {};
  return fail(
      errc::broken_protocol,
      "the embedding service at " + at_->origin() + " answered with vectors of " + std::to_string(got) + " numbers, where " +
          std::to_string(known) +
          (from_.dimensions != 0 ? " are configured; name the dimensions that the model \"" + from_.model + "\" has"
                                 : " came before, so it is another model now; restart with it under a name of its own, so "
                                   "that all vectors are made anew"));
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
  auto out = "vectors of the model \"" + from_.model + "\" from " + at_->origin();
  if (const std::size_t known = dimension_; known != 0) out += ", " + std::to_string(known) + " numbers each";
  const std::lock_guard lock(mutex_);
  return wrong_last_.empty() ? out : out + "; last: " + wrong_last_;
}

}  // namespace hondana::embeddings
