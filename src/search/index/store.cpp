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

#include <hondana/metadata_keys.hpp>
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

void append_number(std::string& target, std::uint64_t number) {
  for (int i = 0; i < 8; ++i) target += static_cast<char>(number >> (8 * i) & 0xFF);
}

/// Limit in bytes for owners: enough for many names, but not for arbitrary text.
constexpr std::size_t max_owner_bytes = 4096;

constexpr int is_complete_bit = 1;
constexpr int has_scanned_bit = 2;

std::string_view scheme_of(std::string_view uri) noexcept { return uri.substr(0, uri.find(':')); }

/// Whether `owner` is an element, or several consecutive elements, of the list `list`.
bool contains_owner(std::string_view owner, std::string_view list) noexcept {
  for (auto position = list.find(owner); position != std::string_view::npos; position = list.find(owner, position + 1)) {
    const bool is_start = position == 0 || list.substr(0, position).ends_with(owner_separator);
    const auto tail = list.substr(position + owner.size());
    if (is_start && (tail.empty() || tail.starts_with(owner_separator))) return true;
  }
  return false;
}

/// Parses a number and removes it from `input` together with the space after it.
template <class Number>
bool consume_number(std::string_view& input, Number& target) {
  const auto end = input.find(' ');
  if (end == std::string_view::npos) return false;
  const auto [stop, problem] = std::from_chars(input.data(), input.data() + end, target);
  if (problem != std::errc() || stop != input.data() + end) return false;
  input.remove_prefix(end + 1);
  return true;
}

}  // namespace

std::string encode(const progress& value) {
  const int state = (value.is_complete ? is_complete_bit : 0) | (value.has_scanned ? has_scanned_bit : 0);
  return std::to_string(value.waiting) + ' ' + std::to_string(state) + ' ' +
         std::to_string(value.updated_at.time_since_epoch().count()) + ' ' + value.problem;
}

std::optional<progress> decode_progress(std::string_view text) {
  progress out;
  int state = 0;
  std::int64_t time = 0;
  if (!consume_number(text, out.waiting) || !consume_number(text, state) || !consume_number(text, time)) return std::nullopt;
  out.is_complete = (state & is_complete_bit) != 0;
  out.has_scanned = (state & has_scanned_bit) != 0;
  out.updated_at = milliseconds(std::chrono::milliseconds(time));
  out.problem = text;
  return out;
}

result<word_matches> store::find(std::span<const query_word> words, const document_filter& filter,
                                 std::size_t max_passages) const {
  HONDANA_TRY(const auto current, snapshot());
  return current->find(words, filter, max_passages);
}

result<std::vector<document_passage>> store::load(std::span<const passage_id> ids) const {
  HONDANA_TRY(const auto current, snapshot());
  return current->load(ids);
}

resource make_entry(const document& document) {
  resource out;
  out.uri = document.uri;
  out.name = document.name;
  out.title = document.title;
  out.description = document.description;
  out.mime_type = document.mime_type;
  out.kind = document.kind;
  out.size = document.size;
  out.version = document.version;
  out.annotations = {document.audience, document.priority, document.modified};
  return out;
}

bool passes(const document_filter& filter, const document& document) noexcept {
  if (!filter.uri_prefix.empty() && !document.uri.starts_with(filter.uri_prefix) &&
      std::none_of(filter.alternative_prefixes.begin(), filter.alternative_prefixes.end(),
                   [&document](const std::string& prefix) { return document.uri.starts_with(prefix); }))
    return false;
  if (!filter.scheme.empty() && scheme_of(document.uri) != filter.scheme) return false;
  if (!filter.language.empty() && !language::matches_range(document.language, filter.language)) return false;
  if (!filter.mime_type.empty()) {
    const auto type = std::string_view(document.mime_type).substr(0, document.mime_type.find(';'));
    const bool fits = filter.mime_type.back() == '/' ? type.starts_with(filter.mime_type) : type == filter.mime_type;
    if (!fits) return false;
  }
  if (!filter.kind.empty() && document.kind != filter.kind) return false;
  if (filter.audience &&
      std::find(document.audience.begin(), document.audience.end(), *filter.audience) == document.audience.end())
    return false;
  if (filter.min_priority && !(document.priority && *document.priority >= *filter.min_priority)) return false;
  if (!filter.owner.empty() && !contains_owner(filter.owner, document.owners)) return false;
  if (filter.processing &&
      std::find(filter.processing->begin(), filter.processing->end(), document.processing) == filter.processing->end())
    return false;
  return !filter.modified_since || (document.modified && *document.modified >= *filter.modified_since);
}

std::string normalize_owner(std::string_view owner) {
  if (owner.size() > max_owner_bytes || !json::is_utf8(owner) || json::has_nul(owner)) return {};
  return language::fold(owner);
}

std::uint64_t digest_of(const document& document) {
  const auto add = [](std::string& target, std::initializer_list<const std::string*> texts) {
    for (const auto* text : texts) {
      append_number(target, text->size());
      target += *text;
    }
  };
  std::string inside;
  add(inside, {&document.title, &document.description});
  append_number(inside, document.size.value_or(UINT64_MAX));
  std::string outside;
  add(outside, {&document.uri, &document.name, &document.mime_type, &document.kind, &document.owners});
  std::uint64_t audience = 0;
  for (const auto recipient : document.audience) audience |= recipient == chat_role::user ? 1u : 2u;
  append_number(outside, audience);
  append_number(outside, document.priority ? std::bit_cast<std::uint64_t>(*document.priority) : UINT64_MAX);
  append_number(outside,
                document.modified ? static_cast<std::uint64_t>(document.modified->time_since_epoch().count()) : UINT64_MAX);
  std::uint64_t out = 0;
  for (const auto* part : {&inside, &outside}) {
    for (const auto byte : digest_of_bytes<4>(*part)) out = out << 8 | byte;
  }
  return out;
}

bool agree_except_content(std::uint64_t left, std::uint64_t right) noexcept { return ((left ^ right) & UINT32_MAX) == 0; }

std::string text_to_embed(const document& document, std::string_view heading, std::string_view text) {
  std::string out = document.title.empty() ? document.name : document.title;
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

tl::unexpected<failure> malformed(const std::string& subject) {
  return fail(errc::invalid_argument, subject + " is not valid UTF-8, so it cannot be indexed; convert it first");
}

}  // namespace

result<document> make_storable(const document& document) {
  if (document.uri.empty() || json::has_nul(document.uri))
    return fail(errc::invalid_argument, "a document without a valid URI cannot be indexed");
  auto out = document;
  for (auto* text : {&out.uri, &out.version, &out.name, &out.title, &out.description, &out.mime_type, &out.kind, &out.language,
                     &out.problem, &out.processing, &out.owners}) {
    if (!clean(*text)) return malformed("the metadata of a document");
  }
  return out;
}

result<storable> make_storable(const document& document, std::span<const chunking::passage> passages) {
  if (passages.size() >= passage_id::max_per_document)
    return fail(errc::invalid_argument, "a document has too many passages to be indexed");
  HONDANA_TRY(auto metadata, make_storable(document));
  storable out{std::move(metadata), {passages.begin(), passages.end()}};
  for (auto& passage : out.passages) {
    if (!clean(passage.heading) || !clean(passage.text)) return malformed("a passage of " + out.metadata.uri);
  }
  if (out.passages.empty()) {
    chunking::passage entry;
    entry.text = out.metadata.description;
    entry.first_line = entry.last_line = 0;
    out.passages.push_back(std::move(entry));
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
