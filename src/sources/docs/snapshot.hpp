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

#include <hondana/provider.hpp>
#include <hondana/snapshot.hpp>

#include "sources/docs/document_folder.hpp"
#include "sources/docs/document_rules.hpp"
#include "sources/docs/document_text.hpp"
#include "sources/docs/document_type.hpp"

namespace hondana::docs {

/// A priority from 0 to 1, and the reason for it.
struct weight {
  double priority = 0.5;
  std::string reason{};  ///< For display: "an introduction by its name, 6 documents link to it".

  bool operator==(const weight&) const = default;
};

/// Computes the priority by the rules of docs/documents.md. `path`: as returned by `readable`, with folders. `modified`: empty
/// if unknown. `links`: number of other documents of the set that link to it.
[[nodiscard]] weight usual_weight(std::string_view path,
                                  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified, std::size_t links,
                                  std::chrono::system_clock::time_point now);

/// A document with its metadata.
struct document {
  std::string on_disk{};  ///< Its path in the folder, in the bytes it has on disk.
  std::string path{};     ///< The path in NFC, as in its URI. As on disk if two files would have the same.
  document_type type{};
  disk::stamp state{};
  ruled rule{};
  std::shared_ptr<const facts> known{};  ///< Null: not rendered yet, so unknown.
  std::size_t linked_from = 0;           ///< Number of other documents of the set that link to it.
  std::vector<std::string> broken{};     ///< Its links without a target, as written.
  weight worth{};
  resource entry{};
};

/// The target of a link.
struct destination {
  enum class kind : std::uint8_t {
    elsewhere,  ///< Outside of the set, or another scheme.
    here,       ///< Within the document.
    document,
    folder,
    file,     ///< An existing file that is not a document.
    nowhere,  ///< Does not exist in the set.
  };
  kind what = kind::elsewhere;
  std::string path{};     ///< Of the document, the folder, or the missing file.
  std::string section{};  ///< The fragment, decoded.
};

/// Metadata of documents by path on disk.
using known_facts = std::map<std::string, std::shared_ptr<const facts>, std::less<>>;

/// The documents of a set. Immutable. Threads: any.
class scene {
 public:
  /// `now`: the time for judging the age of documents.
  [[nodiscard]] static std::shared_ptr<const scene> make(std::string set, const walked& found, const rules& said,
                                                         const known_facts& known, std::chrono::system_clock::time_point now);

  [[nodiscard]] const std::string& set() const noexcept { return set_; }
  [[nodiscard]] const entry_snapshot& entries() const noexcept { return *entries_; }
  [[nodiscard]] const std::map<std::string, document, std::less<>>& documents() const noexcept { return documents_; }
  [[nodiscard]] const std::vector<omission>& left_out() const noexcept { return left_out_; }

  [[nodiscard]] const document* find(std::string_view path) const;
  /// The document whose path is equal after folding normal form, width and case. Null if there is none, or several.
  [[nodiscard]] const document* find_alike(std::string_view path) const;
  /// "" is the set itself.
  [[nodiscard]] bool is_folder(std::string_view path) const { return path.empty() || folders_.contains(path); }
  [[nodiscard]] destination lead(const document& from, std::string_view target) const;

  /// Notifies of all entries that were added, removed or changed since `before`.
  void tell_changes_since(const scene& before, change_listener& to) const;

 private:
  explicit scene(std::string set) : set_(std::move(set)) {}
  void take_documents(const walked& found, const rules& said, const known_facts& known);
  void follow_links();
  void weigh(std::chrono::system_clock::time_point now);
  void list();

  std::string set_;
  std::map<std::string, document, std::less<>> documents_;  // by path
  std::map<std::string, std::string, std::less<>> alike_;   // by folded path; empty: several
  std::set<std::string, std::less<>> folders_;
  std::set<std::string, std::less<>> others_;  // files that are not documents, and omitted ones
  std::vector<omission> left_out_;
  std::unique_ptr<const entry_snapshot> entries_;
};

/// The entry of the set's outline, without a version.
[[nodiscard]] resource entry_of_outline(const std::string& set);
/// The entry of a folder.
[[nodiscard]] resource entry_of_folder(const std::string& set, const std::string& path);

/// Whether the caller may see an entry.
[[nodiscard]] bool is_seen(const caller& who, const resource& entry);
/// Whether no access rule can apply to the caller, however a URI is spelled.
[[nodiscard]] inline bool needs_no_rules(const caller& who) { return who.identity == "local" && !who.view; }
/// Whether the caller may see the entry and read its resource.
[[nodiscard]] bool is_readable(const caller& who, const resource& entry);

}  // namespace hondana::docs
