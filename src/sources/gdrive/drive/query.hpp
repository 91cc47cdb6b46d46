/// The `q` of files.list, put together so that no name can be more than a name.
#pragma once

#include <string>
#include <string_view>

namespace hondana::drive {

/// `'…'` with quotes and backslashes escaped. Spec: Google, "Search query terms and operators".
[[nodiscard]] std::string quoted(std::string_view text);

/// Terms that are all to hold. Empty: everything.
class query {
 public:
  query& in_folder(std::string_view id);       ///< `'ID' in parents`
  query& name_is(std::string_view name);       ///< `name = '…'`
  query& name_begins(std::string_view begin);  ///< `name contains '…'`, which is by words and ignores case.
  query& text_has(std::string_view words);     ///< `fullText contains '…'`
  query& is_type(std::string_view mime_type);
  query& is_not_type(std::string_view mime_type);
  query& trashed(bool is_so);
  query& starred(bool is_so);
  query& shared_with_me();
  /// RFC 3339.
  query& modified_after(std::string_view time);
  /// A term in Drive's own words, which is trusted: from the configuration. It is put into parentheses.
  query& also(std::string_view term);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  query& add(std::string_view term);
  std::string text_;
};

}  // namespace hondana::drive
