/// Writes commits, people and times in Markdown and JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/json/writer.hpp"
#include "sources/git/access_filter.hpp"
#include "sources/git/history.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/references.hpp"

namespace hondana::git {

/// ISO 8601 with the offset that was recorded; a time that no calendar has as its seconds.
[[nodiscard]] std::string time_of(const signature& who);
/// The same in UTC.
[[nodiscard]] std::string time_of(std::int64_t seconds);

/// The first digits of an id, for people.
[[nodiscard]] std::string short_id(const git_oid& id);
/// Those in Markdown, with a link to the commit.
[[nodiscard]] std::string commit_link(std::string_view repo, const git_oid& id);
[[nodiscard]] std::string commit_uri(std::string_view repo, const git_oid& id, bool is_json = false);

/// Without the secrets that somebody has taken for a name.
[[nodiscard]] signature shown_person(const concealment& hides, signature who);

/// An object with name, email and time.
void write_person(json::writer& to, const concealment& hides, const signature& who);

/// Subject, blank line and body, masked as one text: a secret may go on from the subject into the body.
[[nodiscard]] std::string message_of(const concealment& hides, const commit_facts& of);
/// One line of a list in Markdown: id, time, author, subject.
[[nodiscard]] std::string commit_line(const concealment& hides, std::string_view repo, const commit_facts& of);
/// The members of a commit, within an object that is begun already.
void write_commit(json::writer& to, const concealment& hides, std::string_view repo, const commit_facts& of);

}  // namespace hondana::git
