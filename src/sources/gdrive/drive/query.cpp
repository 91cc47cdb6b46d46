/// Puts terms together.
#include "sources/gdrive/drive/query.hpp"

namespace hondana::drive {

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + '\'';
}

query& query::add(std::string_view term) {
  if (!text_.empty()) text_ += " and ";
  text_ += term;
  return *this;
}

query& query::in_folder(std::string_view id) { return add(quoted(id) + " in parents"); }
query& query::name_is(std::string_view name) { return add("name = " + quoted(name)); }
query& query::name_begins(std::string_view begin) { return add("name contains " + quoted(begin)); }
query& query::text_has(std::string_view words) { return add("fullText contains " + quoted(words)); }
query& query::is_type(std::string_view mime_type) { return add("mimeType = " + quoted(mime_type)); }
query& query::is_not_type(std::string_view mime_type) { return add("mimeType != " + quoted(mime_type)); }
query& query::trashed(bool is_so) { return add(is_so ? "trashed = true" : "trashed = false"); }
query& query::starred(bool is_so) { return add(is_so ? "starred = true" : "starred = false"); }
query& query::shared_with_me() { return add("sharedWithMe = true"); }
query& query::modified_after(std::string_view time) { return add("modifiedTime > " + quoted(time)); }
query& query::also(std::string_view term) { return term.empty() ? *this : add('(' + std::string(term) + ')'); }

}  // namespace hondana::drive
