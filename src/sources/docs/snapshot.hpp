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

/// Computes the priority by the rules of docs/documents.md. `path`: as returned by `display_path`, with folders. `modified`:
/// empty if unknown. `link_count`: number of other documents of the set that link to it.
[[nodiscard]] priority_rating rate_document(std::string_view path,
                                            std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified,
                                            std::size_t link_count, std::chrono::system_clock::time_point now);

/// A document with its metadata.
struct document {
  std::string disk_path{};  ///< Its path in the folder, in the bytes it has on disk.
  std::string path{};       ///< The path in NFC, as in its URI. As on disk if two files would have the same.
  document_type type{};
  disk::stamp stamp{};
  rule_result rule{};
  std::shared_ptr<const document_properties> properties{};  ///< Null: not rendered yet, so unknown.
  std::size_t backlink_count = 0;                           ///< Number of other documents of the set that link to it.
  std::vector<std::string> broken_links{};                  ///< Its links without a target, as written.
  priority_rating rating{};
  resource entry{};
};

/// The target of a link.
struct link_target {
  enum class target_kind : std::uint8_t {
    external,       ///< Outside of the set, or another scheme.
    same_document,  ///< Within the document.
    document,
    folder,
    file,     ///< An existing file that is not a document.
    missing,  ///< Does not exist in the set.
  };
  target_kind kind = target_kind::external;
  std::string path{};     ///< Of the document, the folder, or the missing file.
  std::string section{};  ///< The fragment, decoded.
};

/// Metadata of documents by path on disk.
using properties_by_path = std::map<std::string, std::shared_ptr<const document_properties>, std::less<>>;

/// The documents of a set. Immutable. Threads: any.
class snapshot {
 public:
  /// `now`: the time for judging the age of documents.
  [[nodiscard]] static std::shared_ptr<const snapshot> make(std::string set, const walk_result& walked, const rules& rules,
                                                            const properties_by_path& properties,
                                                            std::chrono::system_clock::time_point now);

  [[nodiscard]] const std::string& set_name() const noexcept { return set_name_; }
  [[nodiscard]] const entry_snapshot& entries() const noexcept { return *entries_; }
  [[nodiscard]] const std::map<std::string, document, std::less<>>& documents() const noexcept { return documents_; }
  [[nodiscard]] const std::vector<omitted_entry>& omitted() const noexcept { return omitted_; }

  [[nodiscard]] const document* find(std::string_view path) const;
  /// The document whose path is equal after folding normal form, width and case. Null if there is none, or several.
  [[nodiscard]] const document* find_folded(std::string_view path) const;
  /// "" is the set itself.
  [[nodiscard]] bool is_folder(std::string_view path) const { return path.empty() || folders_.contains(path); }
  [[nodiscard]] link_target resolve_link(const document& source, std::string_view target) const;

  /// Notifies of all entries that were added, removed or changed since `previous`.
  void notify_changes_since(const snapshot& previous, change_listener& listener) const;

 private:
  explicit snapshot(std::string set) : set_name_(std::move(set)) {}
  void add_documents(const walk_result& walked, const rules& rules, const properties_by_path& properties);
  void resolve_links();
  void rate_documents(std::chrono::system_clock::time_point now);
  void build_entries();

  std::string set_name_;
  std::map<std::string, document, std::less<>> documents_;        // by path
  std::map<std::string, std::string, std::less<>> folded_paths_;  // by folded path; empty: several
  std::set<std::string, std::less<>> folders_;
  std::set<std::string, std::less<>> other_files_;  // files that are not documents, and omitted ones
  std::vector<omitted_entry> omitted_;
  std::unique_ptr<const entry_snapshot> entries_;
};

/// The entry of the set's outline, without a version.
[[nodiscard]] resource make_outline_entry(const std::string& set);
/// The entry of a folder.
[[nodiscard]] resource make_folder_entry(const std::string& set, const std::string& path);

/// Whether the caller may see an entry.
[[nodiscard]] bool is_visible(const caller_info& caller, const resource& entry);
/// Whether no access rule can apply to the caller, however a URI is spelled.
[[nodiscard]] inline bool is_unrestricted(const caller_info& caller) {
  return caller.identity == "local" && !caller.access_filter;
}
/// Whether the caller may see the entry and read its resource.
[[nodiscard]] bool is_readable(const caller_info& caller, const resource& entry);

}  // namespace hondana::docs
