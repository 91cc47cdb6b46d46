/// What a commit says, however oddly it was written.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sources/git/history.hpp"
#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {
namespace {

/// Writes a commit object of these bytes behind its tree and parents; its id.
std::string raw_commit(const made_repository& made, std::string_view rest, const std::vector<std::string>& parents = {}) {
  std::string bytes = "tree " + made.git({"mktree"}, "");
  for (const auto& one : parents) bytes += "parent " + one + '\n';
  bytes += rest;
  auto id = made.git({"-c", "core.looseCompression=0", "hash-object", "-t", "commit", "-w", "--literally", "--stdin"}, bytes);
  id.pop_back();
  return id;
}

std::string with_committer(const std::string& line) { return "author A <a> 5 +0000\ncommitter " + line + "\n\nsubject\n"; }

commit_metadata facts_at(const made_repository& made, const std::string& id) {
  const auto repository = opened(made.path());
  auto facts = read_commit_metadata(repository.get(), id_from(id));
  EXPECT_TRUE(facts) << facts.error().public_text;
  return facts ? std::move(*facts) : commit_metadata{};
}

std::string told_by_git(const made_repository& made, const std::string& id, const std::string& format) {
  auto text = made.git({"log", "-1", "--encoding=UTF-8", "--format=" + format + "%x01", id});
  return text.substr(0, text.find('\1'));
}

constexpr std::string_view people = "author A B <a@b> 1700000000 +0530\ncommitter C <c@d> 1700000100 -0800\n";

TEST(git_commit_facts, are_subject_body_and_people_as_git_tells_them) {
  const made_repository made;
  const std::string front(people);
  for (const std::string& rest : {
           front + "\nsubject\n\nbody\nmore\n",
           front + "\n\n  \nsubject \n of two lines\t\n   \n\n\n  body\n\nmore",
           front + "\nno end",
           front + "\n",
           front,
           front + "\nsubject\n\n\n",
           front + "\nsubject\r\n\r\nbody\r\n",
           front + "encoding ISO-8859-1\n\nS\xfcmme\n\nK\xf6rper\n",
           front + "encoding Shift_JIS\n\n\x93\xfa\x96\x7b\n\n\x8c\xea\n",
           front + "gpgsig -----BEGIN PGP SIGNATURE-----\n \n encoding x\n author Z <z> 1 +0000\n -----END PGP "
                   "SIGNATURE-----\n\nsigned\n\nbody\n",
           front + "mergetag object 0000000000000000000000000000000000000000\n type commit\n tag v1\n tagger T <t> 1 +0000\n "
                   "\n text\n\nmerge\n",
           front + "odd\nheaders of\n any kind\n\nsubject\n",
           std::string("author  Two  Spaces  < sp@ce >  12  +0000\ncommitter <only@mail> 3 +0000\n\nx\n"),
           std::string("author A <b> c> 7 +0100\ncommitter A <b <c>> 8 +0100\n\nx\n"),
       }) {
    const auto id = raw_commit(made, rest);
    const auto facts = facts_at(made, id);
    EXPECT_EQ(facts.summary, told_by_git(made, id, "%s")) << rest;
    EXPECT_EQ(facts.body, told_by_git(made, id, "%b")) << rest;
    EXPECT_EQ(facts.author.name, told_by_git(made, id, "%an")) << rest;
    EXPECT_EQ(facts.author.email, told_by_git(made, id, "%ae")) << rest;
    EXPECT_EQ(std::to_string(facts.author.time), told_by_git(made, id, "%at")) << rest;
    EXPECT_EQ(facts.committer.name, told_by_git(made, id, "%cn")) << rest;
    EXPECT_EQ(std::to_string(facts.committer.time), told_by_git(made, id, "%ct")) << rest;
    EXPECT_EQ(facts.omitted_bytes, 0u);
  }
  const auto facts = facts_at(made, raw_commit(made, front + "\nx\n"));
  EXPECT_EQ(facts.author.offset, 330);
  EXPECT_EQ(facts.committer.offset, -480);
  EXPECT_TRUE(facts.parents.empty());
  EXPECT_EQ(to_hex(facts.tree), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
}

TEST(git_commit_facts, of_commits_without_people_and_dates_are_empty_and_zero) {
  const made_repository made;
  for (const std::string rest : {"\nsubject\n", "author\ncommitter \n\nsubject\n", "author x\ncommitter <\n\nsubject\n",
                                 "author A <a> tomorrow\ncommitter A <a> -5 +0000\n\nsubject\n",
                                 "author A <a> 99999999999999999999 +0000\ncommitter A <a> 1 +99999999999\n\nsubject\n"}) {
    const auto facts = facts_at(made, raw_commit(made, rest));
    EXPECT_EQ(facts.summary, "subject") << rest;
    EXPECT_EQ(facts.author.time, 0) << rest;
    EXPECT_EQ(facts.committer.offset, 0) << rest;
  }
}

TEST(git_commit_facts, end_at_a_nul_and_name_what_encoding_they_were_in) {
  const made_repository made;
  EXPECT_EQ(facts_at(made, raw_commit(made, std::string(people) + std::string("\nfront\0behind\n", 14))).summary, "front");
  EXPECT_EQ(facts_at(made, raw_commit(made, std::string(people) + "encoding Shift_JIS\n\n\x93\xfa\n")).encoding, "Shift_JIS");
  EXPECT_EQ(facts_at(made, raw_commit(made, std::string(people) + "\nplain\n")).encoding, "");
}

TEST(git_commit_facts, of_a_message_of_100_MB_are_its_subject_and_its_first_64_KiB) {
  const made_repository made;
  std::string body;
  const std::string line = "日本語 and more of it in a line\n";
  while (body.size() < 100'000'000) body += line;
  const auto facts = facts_at(made, raw_commit(made, std::string(people) + "\nsubject\n\n" + body));
  EXPECT_EQ(facts.summary, "subject");
  EXPECT_LE(facts.body.size(), 65536u);
  EXPECT_GT(facts.body.size(), 65000u);
  EXPECT_EQ(facts.body, body.substr(0, facts.body.size()));
  EXPECT_TRUE(facts.body.ends_with(line));
  EXPECT_EQ(facts.omitted_bytes, body.size() - facts.body.size());
  EXPECT_EQ(facts.encoding, "");
}

TEST(git_commit_facts, of_one_endless_line_are_cut_between_characters) {
  const made_repository made;
  std::string text;
  while (text.size() < 200'000) text += "本";
  const auto facts = facts_at(made, raw_commit(made, std::string(people) + '\n' + text + "\n\nx" + text));
  EXPECT_EQ(facts.summary, text.substr(0, facts.summary.size()));
  EXPECT_GT(facts.summary.size(), 4090u);
  EXPECT_EQ(facts.summary.size() % 3, 0u);
  EXPECT_EQ(facts.body.size() % 3, 1u);
  EXPECT_EQ(facts.omitted_bytes, text.size() * 2 + 2 - facts.summary.size() - facts.body.size());
}

TEST(git_commit_facts, refuse_what_is_no_commit_or_malformed_by_its_id) {
  const made_repository made;
  const auto repository = opened(made.path());
  auto blob = made.git({"hash-object", "-w", "--stdin"}, "text");
  blob.pop_back();
  auto broken = made.git({"hash-object", "-t", "commit", "-w", "--literally", "--stdin"}, "tree of no id\n");
  broken.pop_back();
  const std::string missing(40, '1');
  for (const auto& [id, code] : {std::pair(blob, errc::invalid_argument), std::pair(broken, errc::source_unavailable),
                                 std::pair(missing, errc::source_unavailable)}) {
    const auto refused = read_commit_metadata(repository.get(), id_from(id));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, code);
    EXPECT_NE(refused.error().public_text.find(id), std::string::npos) << refused.error().public_text;
  }
}

TEST(git_commit_facts, of_broken_dates_sort_as_git_sorts_them) {
  const made_repository made;
  std::vector<std::string> ids;
  const auto add = [&](const std::string& rest) { ids.push_back(raw_commit(made, rest)); };
  for (const std::string line :
       {"A <a> tomorrow", "A <a> -5 +0000", "A <a> 99999999999999999999999 +0000", "A <a>", "A <a>    1700000000",
        "A <a> +1700000001 +0000", "A <a> 1700000002junk", "A <a> x> 1700000003 +0000", "A a 1700000004 +0000",
        "A <a>1700000005 +0000", "A <a> 0 +0000", "A <a>\t1700000006 +0000", "A <a> 1e9 +0000"})
    add(with_committer(line));
  add("committer A <a> 1700000007 +0000\n\nno author\n");
  add("committer A <a> 1700000008 +0000\nauthor A <a> 5 +0000\n\nturned round\n");
  add("author A <a> 5 +0000\nodd\ncommitter A <a> 1700000009 +0000\n\nbetween\n");
  add("\nnobody\n");
  const auto top = raw_commit(made, with_committer("A <a> 1800000000 +0000"), ids);
  const auto repository = opened(made.path());
  log_request request;
  request.start = id_from(top);
  const auto page = read_log(repository.get(), request);
  ASSERT_TRUE(page);
  std::vector<std::string> ours;
  for (const auto& one : page->commits) ours.push_back(to_hex(one.id));
  EXPECT_EQ(ours, lines_of(made.git({"rev-list", top})));
}

}  // namespace
}  // namespace hondana::git
