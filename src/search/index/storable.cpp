/// Checking texts before they are kept.
#include "search/index/storable.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <hondana/uri.hpp>

#include "base/json/utf8.hpp"

namespace hondana::search {
namespace {

/// Whether it can be kept now.
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
