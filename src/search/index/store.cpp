/// The contract of index stores, and the checks on documents that all stores share.
#include "search/index/store.hpp"

#include <nettle/sha2.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <initializer_list>
#include <system_error>
#include <utility>

#include <hondana/facts.hpp>
#include <hondana/uri.hpp>

#include "base/json/utf8.hpp"
#include "text/language/language.hpp"

namespace hondana::search {
namespace {

/// The first bytes of a SHA-256 digest.
template <std::size_t Size>
std::array<std::uint8_t, Size> digest_of_bytes(std::string_view text) {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, text.size(), reinterpret_cast<const std::uint8_t*>(text.data()));
  std::array<std::uint8_t, Size> out{};
  sha256_digest(&context, Size, out.data());
  return out;
}

void append(std::string& to, std::uint64_t number) {
  for (int i = 0; i < 8; ++i) to += static_cast<char>(number >> (8 * i) & 0xFF);
}

/// Limit in bytes for owners: enough for many names, but not for arbitrary text.
constexpr std::size_t longest_owner = 4096;

constexpr int is_complete_bit = 1;
constexpr int has_looked_bit = 2;

std::string_view scheme_of(std::string_view uri) noexcept { return uri.substr(0, uri.find(':')); }

/// Whether `one` is an element, or several consecutive elements, of the list `all`.
bool is_among(std::string_view one, std::string_view all) noexcept {
  for (auto at = all.find(one); at != std::string_view::npos; at = all.find(one, at + 1)) {
    const bool begins_there = at == 0 || all.substr(0, at).ends_with(between_owners);
    const auto behind = all.substr(at + one.size());
    if (begins_there && (behind.empty() || behind.starts_with(between_owners))) return true;
  }
  return false;
}

/// Parses a number and removes it from `from` together with the space after it.
template <class Number>
bool take(std::string_view& from, Number& into) {
  const auto end = from.find(' ');
  if (end == std::string_view::npos) return false;
  const auto [stop, problem] = std::from_chars(from.data(), from.data() + end, into);
  if (problem != std::errc() || stop != from.data() + end) return false;
  from.remove_prefix(end + 1);
  return true;
}

}  // namespace

std::string spelled(const progress& how) {
  const int state = (how.is_complete ? is_complete_bit : 0) | (how.has_looked ? has_looked_bit : 0);
  return std::to_string(how.waiting) + ' ' + std::to_string(state) + ' ' + std::to_string(how.at.time_since_epoch().count()) +
         ' ' + how.problem;
}

std::optional<progress> progress_from(std::string_view spelled) {
  progress out;
  int state = 0;
  std::int64_t at = 0;
  if (!take(spelled, out.waiting) || !take(spelled, state) || !take(spelled, at)) return std::nullopt;
  out.is_complete = (state & is_complete_bit) != 0;
  out.has_looked = (state & has_looked_bit) != 0;
  out.at = milliseconds(std::chrono::milliseconds(at));
  out.problem = spelled;
  return out;
}

result<matches> store::find(std::span<const wanted_word> words, const document_filter& which, std::size_t most) const {
  HONDANA_TRY(const auto now, at_once());
  return now->find(words, which, most);
}

result<std::vector<shown_passage>> store::show(std::span<const passage_id> which) const {
  HONDANA_TRY(const auto now, at_once());
  return now->show(which);
}

resource entry_of(const document& what) {
  resource out;
  out.uri = what.uri;
  out.name = what.name;
  out.title = what.title;
  out.description = what.description;
  out.mimeType = what.mime_type;
  out.kind = what.kind;
  out.size = what.size;
  out.version = what.version;
  out.annotations = {what.audience, what.priority, what.modified};
  return out;
}

bool passes(const document_filter& which, const document& what) noexcept {
  if (!which.uri_prefix.empty() && !what.uri.starts_with(which.uri_prefix) &&
      std::none_of(which.more_prefixes.begin(), which.more_prefixes.end(),
                   [&what](const std::string& one) { return what.uri.starts_with(one); }))
    return false;
  if (!which.scheme.empty() && scheme_of(what.uri) != which.scheme) return false;
  if (!which.language.empty() && !language::is_in_range(what.language, which.language)) return false;
  if (!which.mime_type.empty()) {
    const auto type = std::string_view(what.mime_type).substr(0, what.mime_type.find(';'));
    const bool fits = which.mime_type.back() == '/' ? type.starts_with(which.mime_type) : type == which.mime_type;
    if (!fits) return false;
  }
  if (!which.kind.empty() && what.kind != which.kind) return false;
  if (which.audience && std::find(what.audience.begin(), what.audience.end(), *which.audience) == what.audience.end())
    return false;
  if (which.min_priority && !(what.priority && *what.priority >= *which.min_priority)) return false;
  if (!which.owner.empty() && !is_among(which.owner, what.owners)) return false;
  if (which.made && std::find(which.made->begin(), which.made->end(), what.made) == which.made->end()) return false;
  return !which.modified_since || (what.modified && *what.modified >= *which.modified_since);
}

std::string comparable_owner(std::string_view said) {
  if (said.size() > longest_owner || !json::is_utf8(said) || json::has_nul(said)) return {};
  return language::folded(said);
}

std::uint64_t digest_of(const document& what) {
  const auto add = [](std::string& to, std::initializer_list<const std::string*> texts) {
    for (const auto* text : texts) {
      append(to, text->size());
      to += *text;
    }
  };
  std::string inside;
  add(inside, {&what.title, &what.description});
  append(inside, what.size.value_or(UINT64_MAX));
  std::string outside;
  add(outside, {&what.uri, &what.name, &what.mime_type, &what.kind, &what.owners});
  std::uint64_t audience = 0;
  for (const auto one : what.audience) audience |= one == role::user ? 1u : 2u;
  append(outside, audience);
  append(outside, what.priority ? std::bit_cast<std::uint64_t>(*what.priority) : UINT64_MAX);
  append(outside, what.modified ? static_cast<std::uint64_t>(what.modified->time_since_epoch().count()) : UINT64_MAX);
  std::uint64_t out = 0;
  for (const auto* half : {&inside, &outside}) {
    for (const auto byte : digest_of_bytes<4>(*half)) out = out << 8 | byte;
  }
  return out;
}

bool are_alike_outside(std::uint64_t one, std::uint64_t other) noexcept { return ((one ^ other) & UINT32_MAX) == 0; }

std::string text_to_embed(const document& of, std::string_view heading, std::string_view text) {
  std::string out = of.title.empty() ? of.name : of.title;
  if (!heading.empty()) {
    if (!out.empty()) out += '\n';
    out += heading;
  }
  if (!out.empty()) out += '\n';
  out += text;
  return out;
}

std::string digest_of_text(std::string_view text) {
  const auto bytes = digest_of_bytes<16>(text);
  return {bytes.begin(), bytes.end()};
}

namespace {

/// Removes NUL bytes. Returns false if the text is not valid UTF-8.
bool clean(std::string& text) {
  if (!json::is_utf8(text)) return false;
  if (json::has_nul(text)) text.erase(std::remove(text.begin(), text.end(), '\0'), text.end());
  return true;
}

tl::unexpected<failure> malformed(const std::string& what) {
  return fail(errc::invalid_argument, what + " is not valid UTF-8, so it cannot be indexed; convert it first");
}

}  // namespace

result<document> storable_of(const document& what) {
  if (what.uri.empty() || json::has_nul(what.uri))
    return fail(errc::invalid_argument, "a document without a valid URI cannot be indexed");
  auto out = what;
  for (auto* text : {&out.uri, &out.version, &out.name, &out.title, &out.description, &out.mime_type, &out.kind, &out.language,
                     &out.problem, &out.made, &out.owners}) {
    if (!clean(*text)) return malformed("the metadata of a document");
  }
  return out;
}

result<storable> storable_of(const document& what, std::span<const chunking::passage> of) {
  if (of.size() >= passage_id::most_a_document)
    return fail(errc::invalid_argument, "a document has too many passages to be indexed");
  HONDANA_TRY(auto document, storable_of(what));
  storable out{std::move(document), {of.begin(), of.end()}};
  for (auto& one : out.all) {
    if (!clean(one.heading) || !clean(one.text)) return malformed("a passage of " + out.of.uri);
  }
  if (out.all.empty()) {
    chunking::passage entry;
    entry.text = out.of.description;
    entry.first_line = entry.last_line = 0;
    out.all.push_back(std::move(entry));
  }
  return out;
}

std::int64_t hours_now() {
  return std::chrono::duration_cast<std::chrono::hours>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string name_and_path(std::string_view name, std::string_view uri) {
  const auto colon = uri.find(':');
  const auto path = uri.substr(colon == std::string_view::npos ? 0 : colon + 1);
  auto decoded = percent_decode(path);
  std::string out = decoded ? std::move(*decoded) : std::string(path);
  out += ' ';
  out += name;
  return out;
}

}  // namespace hondana::search
