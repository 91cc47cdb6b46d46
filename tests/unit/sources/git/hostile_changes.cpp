/// Trees and blobs that were made to harm, or have come to harm.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <git2/sys/mempack.h>
#include <git2/sys/odb_backend.h>

#include "sources/git/diff.hpp"
#include "unit/sources/git/made_repository.hpp"
#include "unit/sources/git/patch_judge.hpp"

namespace hondana::git {
namespace {

namespace fs = std::filesystem;

/// Writes objects as they are, also those that git would not.
class raw_objects {
 public:
  enum class kept { on_disk, in_memory };
  explicit raw_objects(kept where = kept::on_disk) : in_(open_judged(made_.path())) {
    git_odb* raw = nullptr;
    EXPECT_EQ(git_repository_odb(&raw, in_.get()), 0);
    odb_.reset(raw);
    if (where == kept::on_disk) return;
    git_odb_backend* memory = nullptr;
    EXPECT_EQ(git_mempack_new(&memory), 0);
    EXPECT_EQ(git_odb_add_backend(raw, memory, 999), 0);
  }

  [[nodiscard]] git_repository* in() const { return in_.get(); }
  [[nodiscard]] const made_repository& made() const { return made_; }

  git_oid write(std::string_view bytes, git_object_t type = GIT_OBJECT_BLOB) const {
    git_oid id{};
    EXPECT_EQ(git_odb_write(&id, odb_.get(), bytes.data(), bytes.size(), type), 0) << last_error_message();
    return id;
  }

  struct entry {
    std::string mode, name;
    git_oid id{};
  };
  git_oid tree(const std::vector<entry>& entries) const {
    std::string bytes;
    for (const auto& one : entries) {
      bytes += one.mode + ' ' + one.name + '\0';
      bytes.append(reinterpret_cast<const char*>(one.id.id), GIT_OID_RAWSZ);
    }
    return write(bytes, GIT_OBJECT_TREE);
  }
  [[nodiscard]] tree_pointer open(const git_oid& id) const {
    git_tree* raw = nullptr;
    EXPECT_EQ(git_tree_lookup(&raw, in_.get(), &id), 0) << last_error_message();
    return tree_pointer(raw);
  }
  [[nodiscard]] std::string file_of(const git_oid& id) const {
    const auto text = to_hex(id);
    return made_.path() + "/objects/" + text.substr(0, 2) + '/' + text.substr(2);
  }

 private:
  made_repository made_{{"--bare"}};
  repository_pointer in_;
  odb_pointer odb_;
};

git_oid id_of(char digit) {
  git_oid id{};
  EXPECT_EQ(git_oid_fromstr(&id, std::string(40, digit).c_str()), 0);
  return id;
}

TEST(git_hostile_changes, missing_objects_are_named) {
  const raw_objects objects;
  const auto tree = objects.open(objects.tree({{"100644", "a", id_of('1')}}));
  auto changes = compare(objects.in(), nullptr, tree.get());
  ASSERT_TRUE(changes);
  std::string patch;
  auto done = append_patch(patch, objects.in(), changes->at(0));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::source_unavailable);
  EXPECT_NE(done.error().public_text.find(std::string(40, '1')), std::string::npos);
  EXPECT_EQ(patch, "");
  EXPECT_EQ(measure(changes->at(0), objects.in()).error().code, errc::source_unavailable);
  // Inexact renames need contents, and what has none is none.
  const auto other = objects.open(objects.tree({{"100644", "b", objects.write("b\n")}}));
  const auto apart = compare(objects.in(), other.get(), tree.get());
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->size(), 2u);
  const auto above = objects.open(objects.tree({{"40000", "missing", id_of('2')}}));
  const auto without = compare(objects.in(), nullptr, above.get());
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, errc::source_unavailable);
  EXPECT_NE(without.error().public_text.find(std::string(40, '2')), std::string::npos);
}

TEST(git_hostile_changes, damaged_objects_are_errors) {
  const raw_objects objects;
  for (const std::string_view damage : {"", "x", "\x78\x9c nothing"}) {
    const auto blob = objects.write("text " + std::string(damage));
    const auto tree = objects.open(objects.tree({{"100644", "a", blob}}));
    fs::permissions(objects.file_of(blob), fs::perms::owner_all);
    std::ofstream(objects.file_of(blob), std::ios::binary) << damage;
    const auto changes = compare(objects.in(), nullptr, tree.get());
    ASSERT_TRUE(changes);
    std::string patch;
    const auto done = append_patch(patch, objects.in(), changes->at(0));
    ASSERT_FALSE(done) << patch;
    EXPECT_EQ(done.error().code, errc::source_unavailable);
  }
}

TEST(git_hostile_changes, an_object_under_anothers_name_is_not_believed) {
  const raw_objects objects;
  // A tree that holds itself: only by lying about its name.
  const auto tree = objects.tree({{"40000", "again", id_of('3')}});
  const auto lie = objects.file_of(id_of('3'));
  fs::create_directories(fs::path(lie).parent_path());
  fs::copy_file(objects.file_of(tree), lie);
  const auto changes = compare(objects.in(), nullptr, objects.open(tree).get());
  ASSERT_FALSE(changes);
  EXPECT_EQ(changes.error().code, errc::source_unavailable);
}

TEST(git_hostile_changes, objects_of_another_type_are_errors) {
  const raw_objects objects;
  const auto blob = objects.write("text\n"), empty = objects.tree({});
  const auto file = objects.open(objects.tree({{"100644", "a", empty}}));
  const auto changes = compare(objects.in(), nullptr, file.get());
  ASSERT_TRUE(changes);
  std::string patch;
  EXPECT_EQ(append_patch(patch, objects.in(), changes->at(0)).error().code, errc::source_unavailable);
  const auto folder = objects.open(objects.tree({{"40000", "a", blob}}));
  EXPECT_FALSE(compare(objects.in(), nullptr, folder.get()));
}

TEST(git_hostile_changes, names_that_no_file_may_have_are_shown_as_git_shows_them) {
  const raw_objects objects;
  const auto blob = objects.write("text\n");
  const auto below = objects.tree({{"100644", "config", blob}});
  for (const char* name : {"..", ".", ".git", ".GIT", "a/b", "/etc/passwd", "../../outside", "\x1b[31mred", "git~1", " "}) {
    for (const auto& [mode, id] : {std::pair("100644", blob), std::pair("40000", below)}) {
      const auto tree = objects.tree({{mode, name, id}});
      const auto opened = objects.open(tree);
      const auto changes = compare(objects.in(), nullptr, opened.get());
      ASSERT_TRUE(changes) << name;
      ASSERT_EQ(changes->size(), 1u) << name;
      std::string patch;
      ASSERT_TRUE(append_patch(patch, objects.in(), changes->at(0)));
      const auto empty = to_hex(objects.tree({}));
      EXPECT_EQ(patch, objects.made().git({"diff-tree", "-p", "--full-index", empty, to_hex(tree)})) << name;
    }
  }
}

TEST(git_hostile_changes, unusual_modes_are_read_as_git_reads_them) {
  const raw_objects objects;
  const auto blob = objects.write("text\n");
  for (const char* mode : {"100664", "100600", "100777", "120777", "160755", "140000", "0100644"}) {
    const auto tree = objects.tree({{mode, "a", blob}});
    const auto changes = compare(objects.in(), nullptr, objects.open(tree).get());
    ASSERT_TRUE(changes) << mode;
    std::string patch;
    ASSERT_TRUE(append_patch(patch, objects.in(), changes->at(0)));
    EXPECT_EQ(patch, objects.made().git({"diff-tree", "-p", "--full-index", to_hex(objects.tree({})), to_hex(tree)})) << mode;
  }
}

TEST(git_hostile_changes, a_small_repository_of_endless_trees_ends) {
  const raw_objects objects(raw_objects::kept::in_memory);
  const auto bomb = [&](git_oid id, const std::string& mode) {
    for (int depth = 0; depth < 12; ++depth) {
      std::vector<raw_objects::entry> entries;
      for (char name = 'a'; name <= 'j'; ++name) entries.push_back({depth == 0 ? mode : "40000", std::string(1, name), id});
      id = objects.tree(entries);
    }
    return objects.open(id);
  };
  const auto full = bomb(objects.write("text\n"), "100644"), empty = bomb(objects.tree({}), "40000");
  for (const auto* tree : {&full, &empty}) {
    const auto changes = compare(objects.in(), nullptr, tree->get());
    ASSERT_FALSE(changes);
    EXPECT_EQ(changes.error().code, errc::response_too_large);
  }
}

TEST(git_hostile_changes, a_deep_tree_and_a_long_name_are_errors) {
  const raw_objects objects(raw_objects::kept::in_memory);
  auto id = objects.write("text\n");
  std::string mode = "100644";
  for (int depth = 0; depth < 3000; ++depth) {
    id = objects.tree({{std::exchange(mode, "40000"), "a", id}});
  }
  EXPECT_EQ(compare(objects.in(), nullptr, objects.open(id).get()).error().code, errc::response_too_large);
  id = objects.write("text\n");
  mode = "100644";
  for (int depth = 0; depth < 20; ++depth) {
    id = objects.tree({{std::exchange(mode, "40000"), std::string(4000, 'n'), id}});
  }
  EXPECT_EQ(compare(objects.in(), nullptr, objects.open(id).get()).error().code, errc::response_too_large);
}

TEST(git_hostile_changes, a_hundred_thousand_entries_are_compared_and_one_more_is_too_many) {
  const raw_objects objects(raw_objects::kept::in_memory);
  const auto blob = objects.write("text\n");
  std::vector<raw_objects::entry> entries;
  for (int i = 0; i < 100'001; ++i) entries.push_back({"100644", "n" + std::to_string(100'000'000 + i), blob});
  const auto more = objects.open(objects.tree(entries));
  entries.pop_back();
  const auto all = objects.open(objects.tree(entries));
  const auto changes = compare(objects.in(), all.get(), nullptr);
  ASSERT_TRUE(changes);
  EXPECT_EQ(changes->size(), 100'000u);
  EXPECT_EQ(compare(objects.in(), more.get(), nullptr).error().code, errc::response_too_large);
  compare_options one_path;
  one_path.paths = {entries[77].name};
  const auto one = compare(objects.in(), more.get(), nullptr, one_path);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->size(), 1u);
  // As many renames, of contents that are all the same.
  for (auto& entry : entries) entry.name.insert(0, "m");
  const auto moved = compare(objects.in(), all.get(), objects.open(objects.tree(entries)).get(), {.max_changes = 200'000});
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->size(), 100'000u);
  EXPECT_EQ(moved->at(99'999).old_side.path, "n100099999");
}

TEST(git_hostile_changes, long_files_stop_at_the_limits) {
  const raw_objects objects(raw_objects::kept::in_memory);
  std::string text(std::size_t{100} << 20, 'x');
  for (std::size_t i = 1; i < text.size(); i += 2) text[i] = '\n';
  const auto from = objects.open(objects.tree({{"100644", "a", objects.write(text)}}));
  text[0] = 'y';
  const auto to = objects.open(objects.tree({{"100644", "a", objects.write(text)}}));
  auto changed = compare(objects.in(), from.get(), to.get()), added = compare(objects.in(), nullptr, to.get());
  ASSERT_TRUE(changed && added);
  std::string patch = "before";
  EXPECT_EQ(append_patch(patch, objects.in(), added->at(0)).error().code, errc::response_too_large);
  EXPECT_EQ(append_patch(patch, objects.in(), changed->at(0)).error().code, errc::response_too_large);  // too many lines
  EXPECT_EQ(patch, "before");
  ASSERT_TRUE(measure(added->at(0), objects.in()));
  EXPECT_EQ(added->at(0).added_lines, std::uint64_t{50} << 20);
  patch_options options;
  options.max_file_bytes = std::uint64_t{50} << 20;
  ASSERT_TRUE(append_patch(patch, objects.in(), changed->at(0), options));
  EXPECT_NE(patch.find("Binary files a/a and b/a differ\n"), std::string::npos);
  ASSERT_TRUE(measure(changed->at(0), objects.in(), options));
  EXPECT_TRUE(changed->at(0).is_binary);
}

TEST(git_hostile_changes, every_step_can_be_stopped) {
  const raw_objects objects(raw_objects::kept::in_memory);
  std::string text;
  for (int i = 0; i < 9000; ++i) text += std::to_string(i) + '\n';
  std::vector<raw_objects::entry> before, after;
  for (int i = 0; i < 8; ++i) {
    before.push_back({"100644", "a" + std::to_string(100 + i), objects.write(text + "a" + std::to_string(i))});
    after.push_back({"100644", "b" + std::to_string(100 + i), objects.write(text + "b\n" + std::to_string(i))});
  }
  const auto from = objects.open(objects.tree(before)), to = objects.open(objects.tree(after));
  // Asked once more each time, until nothing stops it.
  std::size_t stopped = 0;
  for (std::size_t answers = 0;; ++answers) {
    std::size_t left = answers;
    compare_options options;
    options.is_stopped = [&] { return left-- == 0; };
    const auto changes = compare(objects.in(), from.get(), to.get(), options);
    if (changes) break;
    ASSERT_EQ(changes.error().code, errc::cancelled);
    ++stopped;
  }
  EXPECT_GT(stopped, 16u);
  const auto changes = compare(objects.in(), from.get(), nullptr);
  ASSERT_TRUE(changes);
  std::string patch;
  patch_options options;
  std::size_t asked = 0;
  options.is_stopped = [&] { return ++asked == 5; };
  EXPECT_EQ(append_patch(patch, objects.in(), changes->at(0), options).error().code, errc::cancelled);
  EXPECT_EQ(patch, "");
}

}  // namespace
}  // namespace hondana::git
