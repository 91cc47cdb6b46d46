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

/// Formats the time of a signature in ISO 8601 with the recorded offset; outside the years 1 to 9999, as its seconds.
[[nodiscard]] std::string format_time(const signature& person);
/// Formats a time in UTC. `seconds`: since 1970.
[[nodiscard]] std::string format_time(std::int64_t seconds);

/// The first ten digits of an id.
[[nodiscard]] std::string short_id(const git_oid& id);
/// `short_id` in Markdown, with a link to the commit. `slug`: the name of the repository in URIs.
[[nodiscard]] std::string commit_link(std::string_view slug, const git_oid& id);
[[nodiscard]] std::string commit_uri(std::string_view slug, const git_oid& id, bool is_json = false);

/// Masks secrets in the name and the email.
[[nodiscard]] signature masked_person(const visibility_filter& visibility, signature person);

/// Writes a JSON object with name, email and time, after `masked_person`.
void write_person(json::writer& writer, const visibility_filter& visibility, const signature& person);

/// Joins subject and body with a blank line, and masks secrets, which may extend from the subject into the body.
[[nodiscard]] std::string full_message(const visibility_filter& visibility, const commit_metadata& commit);
/// One line of a Markdown list, with its line end: id, author's time, author, subject.
[[nodiscard]] std::string commit_line(const visibility_filter& visibility, std::string_view slug,
                                      const commit_metadata& commit);
/// Writes the members of a commit into a JSON object. The caller must have begun the object, and must end it.
void write_commit(json::writer& writer, const visibility_filter& visibility, std::string_view slug,
                  const commit_metadata& commit);

}  // namespace hondana::git
