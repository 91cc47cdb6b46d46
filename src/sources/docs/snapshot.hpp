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

/// A priority from 0 to 1, and why.
struct weight {
  double priority = 0.5;
  std::string reason{};  ///< For people: "an introduction by its name, 6 documents link to it".

  bool operator==(const weight&) const = default;
};

/// The rules of docs/documents.md. `path`: readable (`readable`), folders included; `modified`: nothing: not known;
/// `links`: how many other documents of the set link to it.
[[nodiscard]] weight usual_weight(std::string_view path,
                                  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified, std::size_t links,
                                  std::chrono::system_clock::time_point now);

/// One document with what is known of it.
struct document {
  std::string on_disk{};  ///< Its path below the folder, in the bytes it has there.
  std::string path{};     ///< The same in NFC, as its URI has it; where two would be one, as on disk.
  document_type type{};
  disk::stamp state{};
  ruled rule{};
  std::shared_ptr<const facts> known{};  ///< Null: it has not been read, since it would have to be rendered.
  std::size_t linked_from = 0;           ///< How many other documents of the set link to it.
  std::vector<std::string> broken{};     ///< Its links that lead nowhere, as written.
  weight worth{};
  resource entry{};
};

/// Where a link of a document leads.
struct destination {
  enum class kind : std::uint8_t {
    elsewhere,  ///< Out of the set, or to another scheme.
    here,       ///< Within the document.
    document,
    folder,
    file,     ///< It is there and no document.
    nowhere,  ///< There is nothing in the set.
  };
  kind what = kind::elsewhere;
  std::string path{};     ///< Of the document, the folder or what is not there.
  std::string section{};  ///< The fragment, decoded.
};

/// What is known of documents by their paths on disk.
using known_facts = std::map<std::string, std::shared_ptr<const facts>, std::less<>>;

/// Immutable. Threads: any.
class scene {
 public:
  /// `now`: what documents are new or old by.
  [[nodiscard]] static std::shared_ptr<const scene> make(std::string set, const walked& found, const rules& said,
                                                         const known_facts& known, std::chrono::system_clock::time_point now);

  [[nodiscard]] const std::string& set() const noexcept { return set_; }
  [[nodiscard]] const entry_snapshot& entries() const noexcept { return *entries_; }
  [[nodiscard]] const std::map<std::string, document, std::less<>>& documents() const noexcept { return documents_; }
  [[nodiscard]] const std::vector<omission>& left_out() const noexcept { return left_out_; }

  [[nodiscard]] const document* find(std::string_view path) const;
  /// The document whose path is the same but for NFC and NFD, width and case; null where there is none or several.
  [[nodiscard]] const document* find_alike(std::string_view path) const;
  /// "": the set itself.
  [[nodiscard]] bool is_folder(std::string_view path) const { return path.empty() || folders_.contains(path); }
  [[nodiscard]] destination lead(const document& from, std::string_view target) const;

  /// Tells what has come, gone or changed since `before` was the newest.
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
  std::set<std::string, std::less<>> others_;  // files that are no documents, and what is left out
  std::vector<omission> left_out_;
  std::unique_ptr<const entry_snapshot> entries_;
};

/// The entry of the set's outline, without a version.
[[nodiscard]] resource entry_of_outline(const std::string& set);
/// Of a folder.
[[nodiscard]] resource entry_of_folder(const std::string& set, const std::string& path);

/// Whether the caller may see an entry.
[[nodiscard]] bool is_seen(const caller& who, const resource& entry);
/// Whether no rule can be about the caller, however a URI is written.
[[nodiscard]] inline bool needs_no_rules(const caller& who) { return who.identity == "local" && !who.view; }
/// Whether he may read what it is of, too.
[[nodiscard]] bool is_readable(const caller& who, const resource& entry);

}  // namespace hondana::docs
