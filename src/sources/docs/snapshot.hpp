/// An immutable snapshot of all documents of a set, with their priorities and links.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/entry_snapshot.hpp>
#include <hondana/provider.hpp>

#include "sources/docs/document_folder.hpp"
#include "sources/docs/document_rules.hpp"
#include "sources/docs/document_text.hpp"
#include "sources/docs/document_type.hpp"

namespace hondana::docs {

/// A priority from 0 to 1, and the reason for it.
struct priority_rating {
  double priority = 0.5;
  std::string reason{};  ///< For display: "an introduction by its name, 6 documents link to it".

  bool operator==(const priority_rating&) const = default;
};

/// Computes the priority of a document without a set priority, by its name, age and links (docs/documents.md). `path`: as
/// returned by `display_path`. `modified`: absent: unknown. `link_count`: number of other documents of the set that link to it.
[[nodiscard]] priority_rating rate_document(std::string_view path,
                                            std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified,
                                            std::size_t link_count, std::chrono::system_clock::time_point now);

/// A document with its metadata.
struct document {
  std::string disk_path{};  ///< Its path in the folder, in the file system's bytes.
  std::string path{};  ///< The path in normal form C, as in its URI. Equal to `disk_path` if another document has that path.
  document_type type{};
  disk::stamp stamp{};  ///< As of the walk.
  rule_result rule{};
  std::shared_ptr<const document_properties> properties{};  ///< Null: not read or not rendered yet. May be older than `stamp`.
  std::size_t backlink_count = 0;                           ///< Number of other documents of the set that link to it.
  std::vector<std::string> broken_links{};                  ///< Its links whose target does not exist, as written.
  priority_rating rating{};
  resource entry{};
};

/// The target of a link.
struct link_target {
  enum class target_kind : std::uint8_t {
    external,       ///< Outside of the folder of the set, or with a scheme or host.
    same_document,  ///< In the document that contains the link.
    document,       ///< Another document of the set, or the same one by its path.
    folder,
    file,     ///< A file or folder in the folder of the set that is not served as a document.
    missing,  ///< Does not exist in the folder of the set.
  };
  target_kind kind = target_kind::external;
  std::string path{};     ///< Relative to the folder of the set; empty for `external` and `same_document`.
  std::string section{};  ///< The fragment, percent-decoded; empty: none.
};

/// Properties of documents by `document::disk_path`.
using properties_by_path = std::map<std::string, std::shared_ptr<const document_properties>, std::less<>>;

/// The documents of a set. Immutable. Threads: any.
class snapshot {
 public:
  /// Makes the documents of a walk, with their links, priorities and entries. `now`: for the age of documents.
  [[nodiscard]] static std::shared_ptr<const snapshot> make(std::string set, const walk_result& walked, const rules& rules,
                                                            const properties_by_path& properties,
                                                            std::chrono::system_clock::time_point now);

  [[nodiscard]] const std::string& set_name() const noexcept { return set_name_; }
  [[nodiscard]] const entry_snapshot& entries() const noexcept { return *entries_; }
  /// By `document::path`.
  [[nodiscard]] const std::map<std::string, document, std::less<>>& documents() const noexcept { return documents_; }
  [[nodiscard]] const std::vector<omitted_entry>& omitted() const noexcept { return omitted_; }

  /// The document with this `document::path`; null if there is none.
  [[nodiscard]] const document* find(std::string_view path) const;
  /// The document whose path is equal if normal form, width and case are ignored. Null if there is none, or several.
  [[nodiscard]] const document* find_folded(std::string_view path) const;
  /// Whether a folder contains documents. The empty path is the set itself, which always counts.
  [[nodiscard]] bool is_folder(std::string_view path) const { return path.empty() || folders_.contains(path); }
  /// Resolves a link in `source`. `target`: as written, a path relative to `source` or, with a leading `/`, to the set. Also
  /// finds documents if the target lacks the ending `.md`, `.adoc` or `.rst`, or has `.html` instead.
  [[nodiscard]] link_target resolve_link(const document& source, std::string_view target) const;

  /// Notifies `listener` of everything that was added, removed or changed since `previous`.
  void notify_changes_since(const snapshot& previous, change_listener& listener) const;

 private:
  explicit snapshot(std::string set) : set_name_(std::move(set)) {}
  void add_documents(const walk_result& walked, const rules& rules, const properties_by_path& properties);
  void resolve_links();
  void rate_documents(std::chrono::system_clock::time_point now);
  void build_entries();

  std::string set_name_;
  std::map<std::string, document, std::less<>> documents_;        // by path
  std::map<std::string, std::string, std::less<>> folded_paths_;  // path by folded path; empty: several documents have it
  std::set<std::string, std::less<>> folders_;
  std::set<std::string, std::less<>> other_files_;  // files that are not documents, and omitted ones
  std::vector<omitted_entry> omitted_;
  std::unique_ptr<const entry_snapshot> entries_;
};

/// Makes the entry of the set's outline, without a version.
[[nodiscard]] resource make_outline_entry(const std::string& set);
/// Makes the entry of a folder, without a version.
[[nodiscard]] resource make_folder_entry(const std::string& set, const std::string& path);

/// Whether the caller may see an entry.
[[nodiscard]] bool is_visible(const caller_info& caller, const resource& entry);
/// Whether no access rule applies to the caller, so that other spellings of URIs are harmless.
[[nodiscard]] inline bool is_unrestricted(const caller_info& caller) {
  return caller.identity == "local" && !caller.access_filter;
}
/// Whether the caller may see the entry and read its resource.
[[nodiscard]] bool is_readable(const caller_info& caller, const resource& entry);

}  // namespace hondana::docs
