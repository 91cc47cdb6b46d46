/// Packs and indexes that become shorter while they are mapped.
#include "sources/git/mapped_packs.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/disk/file_descriptor.hpp"
#include "sources/git/repository.hpp"
#include "sources/git/revision.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::string_view changed_while_read = "changed while they were being read. Retry.";

/// Of several pages each: the pack, its index and the index of several packs.
void fill_packs(const made_repository& in) {
  std::string stream;
  unsigned noise = 1;
  for (int round = 0; round < 3; ++round) {
    stream += "commit refs/heads/main\ncommitter A <a@example.com> " + std::to_string(1'700'000'000 + round) +
              " +0000\ndata 6\nround\n\n";
    for (int i = 0; i < 150; ++i) {
      std::string text = std::to_string(round) + '\n';
      for (int word = 0; word < 12; ++word) text += std::to_string(noise = noise * 1'664'525U + 1'013'904'223U) + '\n';
      stream += "M 644 inline n" + std::to_string(i) + "\ndata " + std::to_string(text.size()) + '\n' + text + '\n';
    }
  }
  in.git({"-c", "fastimport.unpackLimit=0", "fast-import", "--quiet"}, stream);
  in.git({"commit-graph", "write", "--reachable"});
}

std::filesystem::path file_ending(const made_repository& in, const std::string& folder, std::string_view end) {
  for (const auto& one : std::filesystem::directory_iterator(in.path() + "/.git/objects/" + folder))
    if (one.path().string().ends_with(end)) return one.path();
  ADD_FAILURE() << "there is no " << end;
  return {};
}

std::string whole_file(const std::filesystem::path& file) {
  std::ifstream from(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(from), {}};
}

/// The same file: what is mapped changes.
void shorten(const std::filesystem::path& file, std::size_t size) {
  std::filesystem::permissions(file, std::filesystem::perms::owner_write, std::filesystem::perm_options::add);
  std::filesystem::resize_file(file, size);
}

void write_in_place(const std::filesystem::path& file, std::string_view bytes) {
  std::fstream to(file, std::ios::binary | std::ios::in | std::ios::out);
  to << bytes;
  ASSERT_TRUE(to.flush()) << file;
}

git_options without_watching(const made_repository& what) {
  git_options options;
  options.repositories = {what.path()};
  options.watch = false;
  return options;
}

const std::vector<std::string>& asked_uris() {
  static const std::vector<std::string> all{"git://shelf/commit/HEAD~1",
                                            "git://shelf/tree/HEAD~2",
                                            "git://shelf/blob/HEAD~2/n7",
                                            "git://shelf/blob/HEAD/n149",
                                            "git://shelf/log",
                                            "git://shelf/diff/HEAD~2..HEAD?path=n3",
                                            "git://shelf/blame/HEAD/n11",
                                            "git://shelf/history/HEAD/n12",
                                            "git://shelf/overview",
                                            "git://shelf/changes"};
  return all;
}

std::map<std::string, std::string> all_answers(const served_repository& shelf) {
  std::map<std::string, std::string> all;
  for (const auto& uri : asked_uris()) all[uri] = shelf.text(uri);
  return all;
}

TEST(git_torn_files, end_in_errors_or_answers_and_are_read_again_once_they_are_back) {
  for (const std::string_view victim : {".idx", ".pack", "multi-pack-index", "commit-graph"}) {
    made_repository made;
    fill_packs(made);
    if (victim == "multi-pack-index") made.git({"multi-pack-index", "write"});
    const auto file = file_ending(made, victim == "commit-graph" ? "info" : "pack", victim);
    const auto good = whole_file(file);
    const auto expected = all_answers(served_repository(without_watching(made)));
    for (const std::size_t size : {std::size_t{0}, good.size() / 2}) {
      const served_repository shelf(without_watching(made));
      static_cast<void>(shelf.text("git://shelf/log"));
      shorten(file, size);
      for (const auto& [uri, text] : expected) {
        const auto read = shelf.try_read(uri);
        if (read) {
          EXPECT_EQ(*std::get<shared_bytes>(read->contents.front().data), text) << victim << ' ' << size << ' ' << uri;
        } else {
          EXPECT_NE(read.error().public_text, "") << victim << ' ' << size << ' ' << uri;
        }
      }
      write_in_place(file, good);
      EXPECT_EQ(all_answers(shelf), expected) << victim << ' ' << size;
    }
  }
}

/// A pack of less than a page, with its index.
std::filesystem::path small_index(made_repository& made) {
  for (const std::string text : {"one\n", "two\n", "three\n"}) {
    made.write("a", text);
    made.commit(text);
  }
  made.git({"repack", "-a", "-d", "-q"});
  auto file = file_ending(made, "pack", ".idx");
  EXPECT_LT(std::filesystem::file_size(file), 4096u);
  return file;
}

/// Shortens it, and puts what it was in its place.
void tear_and_mend(const made_repository& made, const std::filesystem::path& file) {
  const auto good = whole_file(file), beside = made.above() + "/good";
  std::ofstream(beside, std::ios::binary) << good;
  shorten(file, 100);
  std::filesystem::rename(beside, file);
}

TEST(git_torn_files, of_less_than_a_page_are_read_again_once_they_are_back) {
  made_repository made;
  const auto file = small_index(made);
  const auto oldest = made.git({"rev-parse", "HEAD~2"}).substr(0, 40), latest = made.git({"rev-parse", "HEAD"}).substr(0, 40);
  let_settle(made);
  const std::vector<std::pair<std::string, std::string>> asked{{"git://shelf/commit/" + oldest.substr(0, 8), "one"},
                                                               {"git://shelf/commit/" + oldest, "one"},
                                                               {"git://shelf/blob/HEAD~1/a", "two"},
                                                               {"git://shelf/commit/" + latest, "+three"}};
  for (const auto& [uri, text] : asked) {
    const served_repository shelf(without_watching(made));
    // Trees and commits are kept in memory, contents are not.
    for (const auto* known : {"git://shelf/tree/HEAD", "git://shelf/tree/HEAD~1"}) static_cast<void>(shelf.text(known));
    tear_and_mend(made, file);
    EXPECT_THAT(shelf.text(uri), HasSubstr(text)) << uri;
  }
  const served_repository shelf(without_watching(made));
  static_cast<void>(shelf.text("git://shelf/tree/HEAD"));
  tear_and_mend(made, file);
  EXPECT_THAT(shelf.complete("git://{repo}/commit/{rev}", "rev", oldest.substr(0, 6)).values, SizeIs(1));
}

TEST(git_torn_files, of_less_than_a_page_are_mapped_anew_by_all_who_share_them) {
  made_repository made;
  const auto file = small_index(made);
  run_git(made.above(), {"clone", "--quiet", "--shared", "shelf", "borrower"});
  git_options with;
  with.repositories = {made.path(), made.above() + "/borrower"};
  with.pointer_roots = {made.above()};
  with.watch = false;
  let_settle(made);
  const served_repository both(with);
  for (const auto* uri : {"git://shelf/tree/HEAD", "git://borrower/tree/HEAD"}) static_cast<void>(both.text(uri));
  tear_and_mend(made, file);
  EXPECT_EQ(both.text("git://borrower/blob/HEAD~1/a"), "two\n");
  EXPECT_EQ(both.text("git://shelf/blob/HEAD~2/a"), "one\n");
}

TEST(git_torn_files, are_told_of_in_words_and_their_handle_is_not_used_again) {
  made_repository made;
  fill_packs(made);
  const auto file = file_ending(made, "pack", ".idx");
  const auto good = whole_file(file);
  let_settle(made);
  const served_repository shelf(without_watching(made));
  const auto text = shelf.text("git://shelf/blob/HEAD~1/n7");
  shorten(file, 0);
  const auto why = shelf.error("git://shelf/blob/HEAD~2/n8");
  EXPECT_EQ(why.code, errc::source_unavailable);
  EXPECT_THAT(why.public_text, HasSubstr(changed_while_read));
  // Another file in its place, which an old handle would never see.
  std::filesystem::remove(file);
  std::ofstream(file, std::ios::binary) << good;
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD~1/n7"), text);
  EXPECT_NE(shelf.text("git://shelf/blob/HEAD~2/n8"), "");
}

TEST(git_torn_files, are_torn_for_all_who_have_them_mapped_and_for_nobody_else) {
  made_repository made, other;
  fill_packs(made);
  other.commit("first");
  run_git(made.above(), {"clone", "--quiet", "--shared", "shelf", "borrower"});
  const auto open = [](const std::string& path, const std::string& root) {
    const auto at = locate(path, {root});
    EXPECT_TRUE(at);
    auto opened = repository::open("shelf", *at, {root});
    EXPECT_TRUE(opened) << opened.error().public_text;
    return std::move(*opened);
  };
  const auto shelf = open(made.path(), made.above()), borrower = open(made.above() + "/borrower", made.above()),
             apart = open(other.path(), other.above());
  const auto file = file_ending(made, "pack", ".idx");
  const auto good = whole_file(file);
  {
    // One that waits for its next call has it mapped as well.
    const auto lent = borrower->acquire();
    ASSERT_TRUE(lent);
    EXPECT_TRUE(resolve_revision(lent->get(), "HEAD~1", "rev"));
  }
  {
    const auto early = shelf->acquire();
    ASSERT_TRUE(early);
    EXPECT_TRUE(resolve_revision(early->get(), "HEAD~1", "rev"));
    {
      const auto late = shelf->acquire();
      ASSERT_TRUE(late);
      shorten(file, 0);
      EXPECT_FALSE(resolve_revision(late->get(), "HEAD~2", "rev"));
      EXPECT_TRUE(late->is_truncated());
    }
    EXPECT_TRUE(early->is_truncated());
    write_in_place(file, good);
    // What is mapped is shared: a new handle would be given the zeros of the one that is still out.
    for (const auto& one : {shelf, borrower}) {
      const auto refused = one->acquire();
      ASSERT_FALSE(refused);
      EXPECT_THAT(refused.error().public_text, HasSubstr(changed_while_read));
    }
    const auto alone = apart->acquire();
    ASSERT_TRUE(alone);
    EXPECT_FALSE(alone->is_truncated());
  }
  for (const auto& one : {shelf, borrower}) {
    const auto again = one->acquire();
    ASSERT_TRUE(again);
    EXPECT_TRUE(resolve_revision(again->get(), "HEAD~2", "rev"));
    EXPECT_FALSE(again->is_truncated());
  }
}

TEST(git_torn_files, of_others_end_the_process_as_ever) {
  made_repository made;
  ASSERT_TRUE(initialize_libgit2());
  const auto path = made.above() + "/mapped";
  std::ofstream(path) << std::string(8192, 'x');
  const disk::handle file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const auto* const bytes = static_cast<const volatile char*>(::mmap(nullptr, 8192, PROT_READ, MAP_SHARED, file.get(), 0));
  ASSERT_NE(bytes, MAP_FAILED);
  EXPECT_EQ(bytes[5000], 'x');
  EXPECT_DEATH(
      {
        if (::ftruncate(file.get(), 0) == 0) static_cast<void>(bytes[5000]);
      },
      "");
  ASSERT_EQ(::ftruncate(file.get(), 0), 0);
  {
    auto maps = mapped_folders::create({made.path()});
    ASSERT_TRUE(maps);
    const truncation_guard guard(*maps);
    EXPECT_EQ(bytes[5000], '\0');
    EXPECT_TRUE((*maps)->is_truncated());
    EXPECT_FALSE(mapped_folders::create({made.path()}));
  }
  const auto again = mapped_folders::create({made.path()});
  ASSERT_TRUE(again);
  EXPECT_FALSE((*again)->is_truncated());
  ::munmap(const_cast<char*>(bytes), 8192);
}

}  // namespace
}  // namespace hondana::git
