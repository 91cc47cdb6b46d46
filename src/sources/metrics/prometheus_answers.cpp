/// Opens answers of the HTTP API v1 and reads texts and errors out of them.
#include "sources/metrics/prometheus_answers.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/json/utf8.hpp"

namespace hondana::metrics {
namespace {

constexpr std::size_t most_warnings = 16;

struct told_error {
  std::string type{};
  std::string words{};
};

/// What a body says went wrong; empty where it says nothing, as a page in HTML.
told_error error_in(const json::value& root) {
  told_error out;
  const auto body = root.as_object("");
  if (!body) return out;
  if (const auto type = body->find_string("errorType"); type && *type) out.type = shown(**type, 40);
  if (const auto words = body->find_string("error"); words && *words) out.words = shown(**words);
  return out;
}

tl::unexpected<failure> refusal(int status, const told_error& why, std::string_view whose) {
  const std::string who(whose);
  const std::string number = " (" + std::to_string(status) + ")";
  const std::string words = why.words.empty() ? std::string() : ": " + why.words;
  if (status == 401 || status == 403) {
    return fail(errc::source_unavailable, who + " rejects the credentials of this source" + number +
                                              ": check bearer_file, or user and password_file, in its configuration");
  }
  if (status == 429) return fail(errc::source_unavailable, who + " rate-limits this source" + number + ": send fewer requests");
  if (why.type == "timeout")
    return fail(errc::timed_out, who + " timed out" + words + ". Request fewer series or a shorter range");
  if (why.type == "canceled") return fail(errc::source_unavailable, who + " cancelled the request: retry");
  if (status == 404 || status == 405 || status == 501 || why.type == "not_found")
    return fail(errc::unsupported, who + " does not support this request" + number);
  if (why.type == "bad_data" || why.type == "execution" || status == 400 || status == 413 || status == 422)
    return fail(errc::invalid_argument, who + " rejects this request" + (words.empty() ? number : words));
  if (status >= 300 && status < 400)
    return fail(errc::source_unavailable,
                who + " redirects elsewhere" + number + ", which is not followed: configure that URL");
  return fail(errc::source_unavailable, who + " failed" + number + words);
}

}  // namespace

std::string shown(std::string_view text, std::size_t most) {
  // What is cut within a character loses all of it below.
  const bool is_cut = text.size() > most;
  if (is_cut) text = text.substr(0, most);
  if (is_cut) text.remove_suffix(json::incomplete_tail(text));
  std::string out;
  json::append_replacing(out, text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (is_cut) out += "…";
  return out;
}

tl::unexpected<failure> broken_answer(std::string_view whose, const json::bad_member& why) {
  return fail(errc::broken_protocol, std::string(whose) + " sent an invalid answer: " + shown(why.text()));
}

result<prometheus_answer> open_prometheus_answer(int status, std::string_view bytes, std::string_view whose) {
  auto parsed = json::document::parse(bytes);
  const bool is_success = status >= 200 && status < 300;
  if (!parsed) {
    if (!is_success) return refusal(status, {}, whose);
    return fail(errc::broken_protocol,
                std::string(whose) +
                    " did not answer with JSON: check that the URL is that of a Prometheus server, without its /api/v1",
                parsed.error().what);
  }
  prometheus_answer out{std::move(*parsed), {}, {}};
  const auto body = out.text.root().as_object("");
  if (!body) {
    if (!is_success) return refusal(status, {}, whose);
    return broken_answer(whose, body.error());
  }
  if (!is_success) return refusal(status, error_in(out.text.root()), whose);
  const auto how = body->get_string("status");
  if (!how) return broken_answer(whose, how.error());
  if (*how == "error") return refusal(status, error_in(out.text.root()), whose);
  if (*how != "success") return broken_answer(whose, {"status", "expected \"success\" or \"error\""});
  const auto data = body->find("data");
  if (!data) return broken_answer(whose, data.error());
  if (*data) out.data = **data;
  for (const std::string_view kind : {"warnings", "infos"}) {
    const auto told = body->find(kind);
    if (!told) return broken_answer(whose, told.error());
    if (!*told || (*told)->is_null()) continue;
    const auto list = (*told)->as_array(kind);
    if (!list) return broken_answer(whose, list.error());
    for (const auto& one : list->elements()) {
      const auto text = one.as_string(kind);
      if (!text) return broken_answer(whose, text.error());
      if (out.warnings.size() == most_warnings) break;
      out.warnings.push_back(shown(*text));
    }
  }
  return out;
}

result<std::vector<std::string>> texts_of(const json::value& data, std::size_t most, std::string_view whose) {
  std::vector<std::string> out;
  // Some servers say null where there is nothing.
  if (data.is_null()) return out;
  const auto list = data.as_array("data");
  if (!list) return broken_answer(whose, list.error());
  std::vector<std::string_view> all;
  all.reserve(list->size());
  for (const auto& one : list->elements()) {
    const auto text = one.as_string("data[]");
    if (!text) return broken_answer(whose, text.error());
    if (!text->empty()) all.push_back(*text);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() > most) all.resize(most);
  out.assign(all.begin(), all.end());
  return out;
}

std::string prometheus_time(series::instant at) {
  const auto size = static_cast<std::uint64_t>(at < 0 ? -(at + 1) : at) + (at < 0 ? 1 : 0);
  auto thousandths = std::to_string(size % 1000);
  thousandths.insert(0, 3 - thousandths.size(), '0');
  return (at < 0 ? "-" : "") + std::to_string(size / 1000) + '.' + thousandths;
}

}  // namespace hondana::metrics
