/// Requests and answers on the wire.
///
/// Shapes: OpenAI API reference, "Create embeddings" and "List models"; errors as in its "Error codes". Numbers are written
/// with as many digits as read back the same, as Ollama and llama.cpp do.
#include "lsa/server.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "base/json/base64.hpp"
#include "base/json/reader.hpp"
#include "base/json/writer.hpp"
#include "lsa/words.hpp"

namespace lsa {
namespace {

namespace json = hondana::json;
using hondana_test::heard_request;
using hondana_test::scripted_connection;

struct asked {
  std::vector<std::string> texts;
  std::string model;
  bool is_base64 = false;
  std::size_t dimensions = 0;
};

std::optional<asked> asked_in(std::string_view body) {
  const auto document = json::document::parse(body);
  if (!document) return std::nullopt;
  const auto whole = document->root().as_object("");
  if (!whole) return std::nullopt;
  asked out;
  if (const auto name = whole->get_string("model")) out.model = *name;
  if (const auto format = whole->find_string("encoding_format"); format && *format) out.is_base64 = **format == "base64";
  if (const auto dimensions = whole->find("dimensions"); dimensions && *dimensions) {
    const auto count = (*dimensions)->as_integer("dimensions");
    if (!count || *count <= 0) return std::nullopt;
    out.dimensions = static_cast<std::size_t>(*count);
  }
  const auto input = whole->get("input");
  if (!input) return std::nullopt;
  if (const auto one = input->as_string("input")) {
    out.texts.emplace_back(*one);
    return out;
  }
  const auto many = input->as_array("input");
  if (!many) return std::nullopt;
  for (const auto& element : many->elements()) {
    const auto one = element.as_string("input");
    if (!one || one->empty()) return std::nullopt;
    out.texts.emplace_back(*one);
  }
  if (out.texts.empty()) return std::nullopt;
  return out;
}

bool refuse(scripted_connection& by, int status, std::string_view message, const behaviour& how) {
  const auto more = how.retry_after.empty() ? std::string() : "Retry-After: " + how.retry_after + "\r\n";
  if (how.is_plain) return by.answer(status, "text/plain", message, more);
  std::string out;
  json::writer to(out);
  to.begin_object().key("error").begin_object().member("message", message);
  to.member("type", status >= 500 ? "server_error" : "invalid_request_error").key("param").null();
  to.key("code").integer(status).end_object().end_object();
  return by.answer(status, "application/json", out, more);
}

void write(json::writer& to, const vector& one, bool is_base64, bool has_no_number) {
  if (is_base64) {
    auto numbers = one;
    if (has_no_number) numbers.front() = std::numeric_limits<float>::quiet_NaN();
    std::string text;
    json::append_base64(text, {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)});
    to.string(text);
    return;
  }
  std::string text = "[";
  char digits[32];
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (i != 0) text += ',';
    if (i == 0 && has_no_number)
      text += "NaN";
    else
      text.append(digits, std::to_chars(digits, digits + sizeof digits, one[i]).ptr);
  }
  to.raw(text + ']');
}

}  // namespace

server::server(std::shared_ptr<const lsa::model> of, behaviour how) : model_(std::move(of)), how_(std::move(how)) {}

server::~server() { stop(); }

void server::start() {
  const std::lock_guard lock(mutex_);
  is_stopping_ = false;
  listening_ = std::make_unique<hondana_test::scripted_server>(
      [this](const heard_request& to, scripted_connection& by) { return answer(to, by); });
}

void server::stop() {
  std::unique_ptr<hondana_test::scripted_server> ends;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    ends = std::move(listening_);
  }
  stopped_.notify_all();
  ends.reset();
}

std::uint16_t server::port() const {
  const std::lock_guard lock(mutex_);
  return listening_ ? listening_->port() : std::uint16_t{0};
}

std::string server::url() const { return "http://127.0.0.1:" + std::to_string(port()) + "/v1"; }

void server::behave(const behaviour& how) {
  const std::lock_guard lock(mutex_);
  how_ = how;
}

std::size_t server::texts() const {
  const std::lock_guard lock(mutex_);
  return texts_;
}

std::size_t server::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::vector<std::string> server::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

bool server::answer(const heard_request& to, scripted_connection& by) {
  behaviour how;
  {
    std::unique_lock lock(mutex_);
    if (listening_) listening_->forget();
    how = how_;
    if (to.method == "POST") ++requests_;
    if (stopped_.wait_for(lock, how.delay, [this] { return is_stopping_; })) return false;
  }
  if (how.is_dead) {
    by.vanish();
    return false;
  }
  if (!how.token.empty() && to.field("authorization") != "Bearer " + how.token)
    return refuse(by, 401, "Incorrect API key provided: " + to.field("authorization"), how);
  if (how.status != 200) return refuse(by, how.status, how.message, how);
  if (to.method == "GET" && to.target == "/v1/models") {
    std::string out;
    json::writer list(out);
    list.begin_object().member("object", "list").key("data").begin_array();
    list.begin_object().member("id", how.model).member("object", "model").key("created").integer(0);
    list.member("owned_by", "tests").end_object().end_array().end_object();
    return by.answer(200, "application/json", out);
  }
  if (to.method != "POST" || to.target != "/v1/embeddings") return by.answer(404, "text/plain", "404 page not found");
  return answer_vectors(to, how, by);
}

bool server::answer_vectors(const heard_request& to, const behaviour& how, scripted_connection& by) {
  const auto from = asked_in(to.body);
  if (!from) return refuse(by, 400, "'input' must be a text or a list of texts that are not empty", how);
  if (from->model != how.model) return refuse(by, 404, "model \"" + from->model + "\" not found, try pulling it first", how);
  if (from->texts.size() > how.most_texts)
    return refuse(
        by, 413,
        "batch size " + std::to_string(from->texts.size()) + " > maximum allowed batch size " + std::to_string(how.most_texts),
        how);
  std::size_t words = 0;
  std::vector<vector> made;
  for (const auto& one : from->texts) {
    if (one.size() > how.most_bytes) return refuse(by, 400, "the input length exceeds the context length", how);
    if (!how.refuses.empty() && one.find(how.refuses) != std::string::npos)
      return refuse(by, how.refuses_with, how.message, how);
    words += words_of(one).size();
    made.push_back(model_->embed(one));
  }
  std::size_t dimension = from->dimensions != 0 ? std::min(from->dimensions, model_->dimension()) : model_->dimension();
  {
    const std::lock_guard lock(mutex_);
    if (requests_ > how.requests_until_other_dimension) dimension /= 2;
    texts_ += from->texts.size();
    last_ = from->texts;
  }
  std::string out;
  json::writer list(out);
  list.begin_object().member("object", "list").key("data").begin_array();
  const auto count = made.size();
  for (std::size_t i = how.is_short ? 1 : 0; i < count; ++i) {
    const auto at = how.is_out_of_order ? count - 1 - i : i;
    made[at].resize(dimension);
    if (how.is_all_zero) made[at].assign(dimension, 0);
    list.begin_object().member("object", "embedding").key("embedding");
    write(list, made[at], how.is_base64 || from->is_base64, how.has_no_number && at + 1 == count);
    if (how.has_indexes) list.key("index").unsigned_integer(at);
    list.end_object();
  }
  list.end_array().member("model", how.model).key("usage").begin_object();
  list.key("prompt_tokens").unsigned_integer(words).key("total_tokens").unsigned_integer(words).end_object().end_object();
  return by.answer(200, "application/json", out);
}

}  // namespace lsa
