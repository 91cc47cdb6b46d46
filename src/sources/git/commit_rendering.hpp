/// Writes commits, people and times in Markdown and JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/json/writer.hpp"
#include "sources/git/history.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/references.hpp"
#include "sources/git/visibility_filter.hpp"

namespace hondana::git {

/// ISO 8601 with the recorded offset; for a time outside the years 1 to 9999, its seconds.
[[nodiscard]] std::string format_time(const signature& person);
/// The same in UTC.
[[nodiscard]] std::string format_time(std::int64_t seconds);

/// The first digits of an id, for people.
[[nodiscard]] std::string short_id(const git_oid& id);
/// The same in Markdown, with a link to the commit.
[[nodiscard]] std::string commit_link(std::string_view slug, const git_oid& id);
[[nodiscard]] std::string commit_uri(std::string_view slug, const git_oid& id, bool is_json = false);

/// Masks secrets that somebody used as a name or address.
[[nodiscard]] signature masked_person(const visibility_filter& visibility, signature person);

/// Writes an object with name, email and time.
void write_person(json::writer& writer, const visibility_filter& visibility, const signature& person);

/// Subject, blank line and body. Masked as one text, because a secret may extend from the subject into the body.
[[nodiscard]] std::string full_message(const visibility_filter& visibility, const commit_metadata& commit);
/// One line of a Markdown list: id, time, author, subject.
[[nodiscard]] std::string commit_line(const visibility_filter& visibility, std::string_view slug,
                                      const commit_metadata& commit);
/// Writes the members of a commit into an object that has already been begun.
void write_commit(json::writer& writer, const visibility_filter& visibility, std::string_view slug,
                  const commit_metadata& commit);

}  // namespace hondana::git
