/// What every store does alike.
#include "sources/analyses/cache/store.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/json/utf8.hpp"
#include "sources/analyses/cache/analysis_json.hpp"
#include "sources/analyses/cache/ids.hpp"

namespace hondana::analyses {
namespace {

/// The beginning of a prompt as one line.
std::string title_of(const std::string& prompt) {
  auto out = normalised(std::string_view(prompt).substr(0, 16 * longest_title));
  std::replace_if(out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  if (out.size() <= longest_title) return out;
  static constexpr std::string_view more = "…";
  out.resize(longest_title - more.size());
  out.resize(out.size() - json::incomplete_tail(out));
  return out.append(more);
}

}  // namespace

std::string entry::to_json() const { return encode(body, about.id, about.how, about.created, about.expires); }

result<analysis> analysis_of(const entry& what) {
  auto out = decode_kept(what.to_json());
  if (!out) return fail(errc::internal, "the stored analysis " + what.about.id + " cannot be read", out.error().public_text);
  return out;
}

std::string spelled(const ticket& what) { return what.id + '.' + std::to_string(what.token) + '.' + what.secret; }

result<ticket> ticket_spelled(std::string_view text) {
  const auto first = text.find('.'), last = text.rfind('.');
  if (first != last && is_id(text.substr(0, first)) && is_secret(text.substr(last + 1))) {
    ticket out{std::string(text.substr(0, first)), 0, std::string(text.substr(last + 1))};
    const auto* const end = text.data() + last;
    const auto [stop, error] = std::from_chars(text.data() + first + 1, end, out.token);
    if (error == std::errc() && stop == end) return out;
  }
  return fail(errc::invalid_argument,
              "invalid ticket; give the whole ID.NUMBER.SECRET that the claim returned, or claim again");
}

result<putting> prepare(const analysis& what, status how) {
  putting out;
  out.body = encode_body(what);
  if (out.body.size() > most_bytes)
    return fail(errc::response_too_large, "an analysis can have at most " + std::to_string(most_bytes) + " bytes of JSON (" +
                                              std::to_string(most_bytes >> 20) + " MiB); this one has " +
                                              std::to_string(out.body.size()) + "; leave out text that is stored elsewhere");
  auto& about = out.about;
  about.of = key_of(what.asked);
  about.how = how;
  about.task = what.task;
  about.title = title_of(what.asked.prompt);
  about.session = what.session;
  about.confidence = what.consensus ? what.consensus->confidence : 0;
  about.agreement = agreement_of(what);
  const auto total = totals_of(what);
  about.cost = total.cost;
  about.took = total.took;
  about.rounds = static_cast<std::uint32_t>(what.rounds.size());
  about.providers = providers_of(what);
  about.bytes = out.body.size();
  out.tags = what.tags;
  out.context = what.asked.context;
  for (const auto& one : what.votes) out.names.push_back(one.provider);
  return out;
}

}  // namespace hondana::analyses
