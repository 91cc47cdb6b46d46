/// Files that change while they are read: whatever is sent was the file's content at one moment.
#include "sources/files/file_content.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "base/bytes/prepared_content.hpp"
#include "scratch_folder.hpp"
#include "sources/files/open_file.hpp"

namespace hondana::files {
namespace {

/// A file in memory that changes when it is read for the n-th time.
class changing_file final : public open_file {
 public:
  explicit changing_file(std::string bytes) : bytes_(std::move(bytes)) {}

  /// Calls `change` right before the n-th read, from 1.
  void before_read(int n, std::function<void(changing_file&)> change) { changes_.emplace_back(n, std::move(change)); }
  void become(std::string bytes) {
    bytes_ = std::move(bytes);
    ++changed_;
  }
  void append(std::string_view more) {
    bytes_ += more;
    ++changed_;
  }
  /// As if time stamps had not moved on since the last change.
  void become_unnoticed(std::string bytes) { bytes_ = std::move(bytes); }
  /// Ahead of the clock, so that this lasts however slow the machine is.
  void be_recent() { changed_ = disk::wall_clock() + 3'600'000'000'000; }
  [[nodiscard]] int reads() const noexcept { return reads_; }

  [[nodiscard]] result<disk::stamp> state() const override { return disk::stamp{1, 2, bytes_.size(), changed_, changed_}; }
  [[nodiscard]] result<std::size_t> read(char* into, std::size_t size, std::uint64_t offset) const override {
    auto& self = const_cast<changing_file&>(*this);
    ++self.reads_;
    for (const auto& [n, change] : changes_) {
      if (n == reads_) change(self);
    }
    if (offset >= bytes_.size()) return std::size_t{0};
    const auto count = std::min<std::size_t>(size, bytes_.size() - offset);
    std::memcpy(into, bytes_.data() + offset, count);
    return count;
  }

 private:
  std::string bytes_;
  std::int64_t changed_ = 1'000'000'000;
  int reads_ = 0;
  std::vector<std::pair<int, std::function<void(changing_file&)>>> changes_;
};

result<file_content> read_it(const std::shared_ptr<changing_file>& file, std::optional<range> part = std::nullopt) {
  read_resources room;
  read_request request;
  request.requested_uri = "file:///f";
  return read_content(file, part, request, room);
}

std::string whole_of(const result<file_content>& found) {
  return found ? *std::get<shared_bytes>(found->data) : "error: " + std::string(name_of(found.error().code));
}

TEST(content, that_does_not_change_is_read_once_and_has_the_version_of_its_state) {
  const auto file = std::make_shared<changing_file>("content");
  const auto found = read_it(file);
  EXPECT_EQ(whole_of(found), "content");
  EXPECT_EQ(file->reads(), 1);
  EXPECT_EQ(found->version, version_of(*file->state()));
  EXPECT_EQ(found->version.size(), 32u);
  EXPECT_EQ(found->version.find_first_not_of("0123456789abcdef"), std::string::npos);
}

// attacks: special files (replaced while being read)
TEST(content, rewritten_while_it_is_read_is_read_again) {
  const auto file = std::make_shared<changing_file>("old content");
  file->before_read(2, [](auto& f) { f.become("new content"); });
  file->before_read(1, [](auto& f) { f.append(""); });  // a change of time only: the second collect decides
  EXPECT_EQ(whole_of(read_it(file)), "new content");
}

// attacks: special files (truncated while being read)
TEST(content, truncated_while_it_is_read_is_the_shorter_one) {
  const auto file = std::make_shared<changing_file>("a long content");
  file->before_read(1, [](auto& f) { f.become("short"); });
  EXPECT_EQ(whole_of(read_it(file)), "short");
}

TEST(content, appended_to_while_it_is_read_is_as_it_was_when_opened) {
  const auto file = std::make_shared<changing_file>("first\n");
  file->before_read(1, [](auto& f) { f.append("second\n"); });
  EXPECT_EQ(whole_of(read_it(file)), "first\n");
}

TEST(content, that_keeps_changing_is_an_error) {
  const auto file = std::make_shared<changing_file>("0");
  for (int n = 1; n <= 10; ++n) file->before_read(n, [n](auto& f) { f.become(std::string(1, static_cast<char>('a' + n))); });
  EXPECT_EQ(whole_of(read_it(file)), "error: content_changed");
}

TEST(content, that_changed_just_now_is_read_twice_even_when_its_state_says_nothing) {
  const auto file = std::make_shared<changing_file>("half old");
  file->be_recent();
  file->before_read(2, [](auto& f) { f.become_unnoticed("all new!"); });
  const auto found = read_it(file);
  EXPECT_EQ(whole_of(found), "all new!");
  EXPECT_EQ(found->version, bytes::to_hex(bytes::digest_of("all new!")));
}

TEST(content, of_racy_files_has_a_version_from_its_bytes) {
  const auto file = std::make_shared<changing_file>("content");
  file->be_recent();
  EXPECT_EQ(read_it(file)->version, bytes::to_hex(bytes::digest_of("content")));
  EXPECT_EQ(read_it(file, range{range_unit::bytes, 0, 1})->version, bytes::to_hex(bytes::digest_of("content")));
}

TEST(content, of_a_part_is_located_again_when_the_file_changed) {
  const auto file = std::make_shared<changing_file>("one\ntwo\nthree\n");
  // Reads: front, scan, locate, content, then the second time round.
  file->before_read(4, [](auto& f) { f.become("zero\none\ntwo\nthree\n"); });
  EXPECT_EQ(whole_of(read_it(file, range{range_unit::lines, 2, 2})), "one\n");
}

TEST(content, of_a_part_stays_while_the_file_is_appended_to) {
  const auto file = std::make_shared<changing_file>("one\ntwo\n");
  for (int n = 1; n <= 20; ++n) file->before_read(n, [](auto& f) { f.append("more\n"); });
  EXPECT_EQ(whole_of(read_it(file, range{range_unit::lines, 2, 2})), "two\n");
  EXPECT_EQ(whole_of(read_it(file, range{range_unit::bytes, 4, 6})), "two");
}

TEST(content, forms_of_large_files_are_remembered_while_they_stay_as_they_are) {
  const auto file = std::make_shared<changing_file>(std::string(2 << 20, 'x'));
  read_resources room;
  read_request request;
  ASSERT_TRUE(read_content(file, range{range_unit::bytes, 0, 9}, request, room).has_value());
  const int first = file->reads();
  ASSERT_TRUE(read_content(file, range{range_unit::bytes, 0, 9}, request, room).has_value());
  EXPECT_LT(file->reads() - first, first);
  file->become(std::string(2 << 20, '\0'));
  EXPECT_EQ(read_content(file, range{range_unit::bytes, 0, 9}, request, room)->kind, content_kind::blob);
}

/// A text of a tebibyte in lines of 64 bytes, of which nothing exists; binary from `text_end` on. Counts what is read.
class endless_file final : public open_file {
 public:
  static constexpr std::uint64_t bytes = 1ull << 40;

  explicit endless_file(std::uint64_t text_end = bytes) : text_end_(text_end) {}
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

  [[nodiscard]] result<disk::stamp> state() const override { return disk::stamp{1, 2, bytes, 1'000'000'000, 1'000'000'000}; }
  [[nodiscard]] result<std::size_t> read(char* into, std::size_t size, std::uint64_t offset) const override {
    const_cast<endless_file&>(*this).bytes_read_ += size;
    const auto text = static_cast<std::size_t>(std::min<std::uint64_t>(size, text_end_ - std::min(text_end_, offset)));
    std::memset(into, 'x', text);
    std::memset(into + text, '\xff', size - text);
    for (auto at = static_cast<std::size_t>(63 - offset % 64); at < text; at += 64) into[at] = '\n';
    return size;
  }

 private:
  std::uint64_t text_end_;
  std::uint64_t bytes_read_ = 0;
};

// attacks: special files (sparse 1 TiB file)
TEST(content, lines_of_a_binary_terabyte_are_refused_after_a_look_at_its_front) {
  const auto file = std::make_shared<endless_file>(0);
  read_resources room;
  const auto found = read_content(file, range{range_unit::lines, 1, 1'000'000'000}, {}, room);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, errc::invalid_argument);
  EXPECT_LE(file->bytes_read(), 300'000u);
}

// attacks: resource exhaustion (lines without end)
TEST(content, lines_are_counted_no_further_than_may_be_sent) {
  const endless_file file;
  read_request request;
  request.max_bytes = 1'000'000;
  const auto found = locate_range(file, endless_file::bytes, {range_unit::lines, 1, 1'000'000'000}, true, request);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, errc::response_too_large);
  EXPECT_NE(found.error().public_text.find("1000000 bytes"), std::string::npos);
  EXPECT_NE(found.error().public_text.find("?bytes="), std::string::npos);
  EXPECT_LE(file.bytes_read(), 1'300'000u);
  const auto few = locate_range(file, endless_file::bytes, {range_unit::lines, 3, 4}, true, request);
  ASSERT_TRUE(few.has_value());
  EXPECT_EQ(*few, (byte_range{128, 256}));
}

// attacks: resource exhaustion (lines without end)
TEST(content, lines_are_looked_for_in_the_first_256_mebibytes) {
  const endless_file file;
  const auto last = locate_range(file, endless_file::bytes, {range_unit::lines, 4'194'304, 4'194'304}, true, {});
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(*last, (byte_range{268'435'392, 268'435'456}));
  const auto before = file.bytes_read();
  const auto beyond = locate_range(file, endless_file::bytes, {range_unit::lines, 99'999'999, std::nullopt}, true, {});
  ASSERT_FALSE(beyond.has_value());
  EXPECT_EQ(beyond.error().code, errc::invalid_argument);
  EXPECT_NE(beyond.error().public_text.find("?bytes="), std::string::npos);
  EXPECT_EQ(file.bytes_read() - before, 268'435'456u);
}

TEST(content, every_part_of_a_file_beyond_256_mebibytes_has_the_form_of_its_front) {
  const auto file = std::make_shared<endless_file>(1ull << 30);
  read_resources room;
  read_request request;
  request.requested_uri = "file:///f";
  for (const std::uint64_t from : {0ull, 1ull << 35}) {
    const auto found = read_content(file, range{range_unit::bytes, from, from + 9}, request, room);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->kind, content_kind::text);
    read_result answer;
    answer.contents.emplace_back();
    answer.contents[0].kind = found->kind;
    answer.contents[0].data = found->data;
    const auto ready = bytes::prepare_content(std::move(answer), request);
    ASSERT_TRUE(ready.has_value());
    EXPECT_EQ(ready->contents[0].is_text, from == 0);  // what is not UTF-8 is a blob all the same
  }
}

TEST(content, of_up_to_a_mebibyte_is_whole_and_beyond_is_pulled) {
  const scratch_folder root;
  root.write("small", std::string(1 << 20, 'x'));
  root.write("large", std::string((1 << 20) + 1, 'x'));
  const auto files = open_provider(root);
  EXPECT_TRUE(std::holds_alternative<shared_bytes>(read(*files, root.uri("small"))->contents[0].data));
  EXPECT_TRUE(std::holds_alternative<std::shared_ptr<byte_reader>>(read(*files, root.uri("large"))->contents[0].data));
}

// attacks: special files (truncated while being read)
TEST(reader, does_not_see_what_is_appended_and_tells_a_truncation) {
  const scratch_folder root;
  const std::string bytes(2 << 20, 'x');
  root.write("large", bytes);
  const auto files = open_provider(root);
  const auto appended = read(*files, root.uri("large"));
  const auto truncated = read(*files, root.uri("large"));
  ASSERT_TRUE(appended.has_value() && truncated.has_value());
  ASSERT_EQ(::truncate(root.path("large").c_str(), 3 << 20), 0);
  EXPECT_EQ(bytes_of(appended->contents[0]), bytes);
  ASSERT_EQ(::truncate(root.path("large").c_str(), 1000), 0);
  auto& reader = *std::get<std::shared_ptr<byte_reader>>(truncated->contents[0].data);
  EXPECT_EQ(reader.size(), bytes.size());
  std::vector<char> window(4096);
  const auto count = reader.read(window);
  ASSERT_FALSE(count.has_value());
  EXPECT_EQ(count.error().code, errc::content_changed);
}

// attacks: special files (replaced while being read)
TEST(reader, keeps_reading_a_file_that_was_replaced_or_removed) {
  const scratch_folder root;
  const std::string bytes(2 << 20, 'x');
  root.write("large", bytes);
  const auto files = open_provider(root);
  const auto answer = read(*files, root.uri("large"));
  ASSERT_TRUE(answer.has_value());
  root.write("other", std::string(2 << 20, 'y'));
  ASSERT_EQ(::rename(root.path("other").c_str(), root.path("large").c_str()), 0);
  EXPECT_EQ(bytes_of(answer->contents[0]), bytes);
  ASSERT_TRUE(std::get<std::shared_ptr<byte_reader>>(answer->contents[0].data)->rewind().has_value());
  EXPECT_EQ(bytes_of(answer->contents[0]), bytes);
}

TEST(reader, of_a_large_read_passes_preparation_as_what_it_is) {
  const scratch_folder root;
  root.write("text.txt", std::string(2 << 20, 'x'));
  std::string late(2 << 20, 'x');
  late.back() = '\xff';
  root.write("late.txt", late);
  const auto files = open_provider(root);
  read_request request;
  for (const auto& [name, is_text] : {std::pair("text.txt", true), std::pair("late.txt", false)}) {
    auto answer = read(*files, root.uri(name));
    ASSERT_TRUE(answer.has_value());
    request.requested_uri = root.uri(name);
    const auto ready = bytes::prepare_content(std::move(*answer), request);
    ASSERT_TRUE(ready.has_value());
    EXPECT_EQ(ready->contents[0].is_text, is_text) << name;
    EXPECT_EQ(ready->contents[0].mime_type, is_text ? "text/plain" : "application/octet-stream") << name;
  }
}

// attacks: unicode (overlong UTF-8, lone surrogates, \xff\xfe)
TEST(content, is_text_only_when_all_of_it_is_utf_8) {
  const scratch_folder root;
  root.write("good.txt", "日本語\n");
  root.write("sjis.txt", "\x93\xfa\x96\x7b\n");
  root.write("utf16.txt", std::string("\xff\xfe"
                                      "a\0b\0",
                                      6));
  root.write("overlong.txt", "\xc0\xaf");
  root.write("surrogate.txt", "\xed\xa0\x80");
  root.write("cut.txt", "a\xe6\x97");
  root.write("nul.txt", std::string("a\0b", 3));
  root.write("pointer.png", "version https://git-lfs.github.com/spec/v1\n");
  root.write("empty.bin", "");
  const auto files = open_provider(root);
  const auto first = [&](const char* name) { return read(*files, root.uri(name))->contents[0]; };
  EXPECT_EQ(first("good.txt").kind, content_kind::text);
  EXPECT_EQ(first("good.txt").mime_type, "text/plain");
  for (const char* name : {"sjis.txt", "utf16.txt", "overlong.txt", "surrogate.txt", "cut.txt", "nul.txt"}) {
    EXPECT_EQ(first(name).kind, content_kind::blob) << name;
    EXPECT_EQ(first(name).mime_type, "application/octet-stream") << name;
  }
  EXPECT_EQ(first("pointer.png").kind, content_kind::text);
  EXPECT_EQ(first("pointer.png").mime_type, "text/plain");
  EXPECT_EQ(first("empty.bin").kind, content_kind::text);
}

// attacks: resource exhaustion (readers that never read)
TEST(buffers, are_lent_up_to_their_bytes_and_come_back) {
  buffer_pool buffers(250'000);
  auto first = buffers.acquire(100'000);
  auto second = buffers.acquire(0, 100'000);
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_EQ((*first)->size(), 100'000u);
  const auto third = buffers.acquire(100'000);
  ASSERT_FALSE(third.has_value());
  EXPECT_EQ(third.error().code, errc::overloaded);
  EXPECT_TRUE(buffers.acquire(60'000).has_value()) << "small ones are always lent";
  std::shared_ptr<const std::string> still_shared = *first;
  first = fail(errc::internal, "");
  EXPECT_FALSE(buffers.acquire(100'000).has_value());
  still_shared.reset();
  EXPECT_TRUE(buffers.acquire(100'000).has_value());
}

TEST(buffers, outlive_their_set) {
  auto buffers = std::make_unique<buffer_pool>();
  const auto held = buffers->acquire(100'000);
  buffers.reset();
  EXPECT_EQ((*held)->size(), 100'000u);
}

// attacks: resource exhaustion (32 concurrent blobs, readers that never read)
TEST(readers, have_places_for_few_and_one_address_a_quarter) {
  reader_slots readers(8);
  reader_slots of_networks(8);
  std::vector<std::shared_ptr<void>> held;
  const auto enter = [&](const std::string& address) {
    auto place = readers.acquire(address);
    if (place) held.push_back(std::move(*place));
    return place.has_value();
  };
  EXPECT_TRUE(enter("10.0.0.1") && enter("10.0.0.1"));
  EXPECT_FALSE(enter("10.0.0.1"));
  for (const auto* address : {"10.0.0.2", "10.0.0.3", "10.0.0.4"}) EXPECT_TRUE(enter(address) && enter(address));
  EXPECT_FALSE(enter("10.0.0.5"));
  held.pop_back();
  EXPECT_TRUE(enter("10.0.0.5"));
  const auto first = of_networks.acquire("2001:db8::1");
  const auto second = of_networks.acquire("2001:db8::2");
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(of_networks.acquire("2001:db8::3")) << "one network";
  EXPECT_TRUE(of_networks.acquire("2001:db8:0:1::1"));
  std::vector<std::shared_ptr<void>> local;
  for (int i = 0; i < 6; ++i) {
    auto place = of_networks.acquire("127.0.0.1");
    ASSERT_TRUE(place) << i;
    local.push_back(std::move(*place));
  }
}

TEST(content, reads_of_the_past_deadline_and_of_the_cancelled_end) {
  const scratch_folder root;
  root.write("large", std::string(2 << 20, 'x'));
  const auto files = open_provider(root);
  read_request request;
  request.uri = request.requested_uri = root.uri("large");
  request.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(files->read(request).error().code, errc::timed_out);
  request.deadline = std::chrono::steady_clock::time_point::max();
  std::stop_source stop;
  stop.request_stop();
  request.stop = stop.get_token();
  EXPECT_EQ(files->read(request).error().code, errc::cancelled);
}

}  // namespace
}  // namespace hondana::files
