/// The index in SQLite: connections for reading, and reads of documents and vectors.

#include <algorithm>
#include <cstring>
#include <utility>

#include "search/index/embedded/embedded_store_impl.hpp"

namespace hondana::search {
namespace {

constexpr std::size_t most_idle = 8;

/// Copies the numbers of a vector; `bytes` may be unaligned.
void numbers_in(std::string_view bytes, std::vector<float>& into) {
  into.resize(bytes.size() / sizeof(float));
  std::memcpy(into.data(), bytes.data(), into.size() * sizeof(float));
}

/// A transaction, so that all reads during its lifetime see one state.
class one_transaction {
 public:
  explicit one_transaction(sqlite::connection& on) : on_(on), has_begun_(!on.is_in_transaction() && on.run("BEGIN")) {}
  one_transaction(const one_transaction&) = delete;
  one_transaction& operator=(const one_transaction&) = delete;
  ~one_transaction() {
    if (!has_begun_) return;
    const auto ended = on_.run("COMMIT");
    static_cast<void>(ended);  // nothing was written
  }

 private:
  sqlite::connection& on_;
  const bool has_begun_;
};

/// All counts except `bytes`.
result<store_counts> counted(sqlite::connection& on) {
  store_counts out;
  const std::pair<std::uint64_t*, const char*> all[]{
      {&out.documents, "SELECT count(*) FROM documents"},
      {&out.without_text, "SELECT count(*) FROM documents WHERE problem<>''"},
      {&out.passages, "SELECT count(*) FROM words_docsize"},
      {&out.vectors, "SELECT count(*) FROM passages p WHERE EXISTS(SELECT 1 FROM vectors v WHERE v.digest=p.digest)"}};
  for (const auto& [into, sql] : all) {
    HONDANA_TRY(auto number, on.number(sql));
    *into = static_cast<std::uint64_t>(number);
  }
  return out;
}

tl::unexpected<failure> nothing_yet(std::string why) { return fail(errc::resource_not_found, std::move(why)); }

}  // namespace

result<std::unique_ptr<embedded_store::reader>> embedded_store::take_reader() const {
  if (is_in_memory_) {
    std::unique_lock holds(in_memory_);
    std::unique_ptr<reader> one;
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        one = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (!one) {
      one = std::make_unique<reader>();
      one->on = &file_.writer;
      one->knows = now_;
      HONDANA_TRY(prepare_reader(*one));
    }
    one->holds = std::move(holds);
    return one;
  }
  const auto there = sqlite::identity_of(options_.path);
  {
    const std::lock_guard lock(mutex_);
    if (now_->file != there) {
      readers_ -= static_cast<int>(idle_.size());
      idle_.clear();
      now_ = std::make_shared<remembered>();
      now_->file = there;
    }
    if (!idle_.empty()) {
      auto one = std::move(idle_.back());
      idle_.pop_back();
      return one;
    }
  }
  return open_reader();
}

result<std::unique_ptr<embedded_store::reader>> embedded_store::open_reader() const {
  const auto& path = options_.path;
  HONDANA_TRY(const auto names, sqlite::hold_names(path, kind_of_index));
  const auto there = sqlite::identity_of(path);
  if (!there) return nothing_yet("the search index is being created");
  auto one = std::make_unique<reader>();
  HONDANA_TRY(auto opened, sqlite::connection::open(path, std::string(what_an_index_is)));
  one->own = std::move(opened);
  one->own.only_reads();
  one->on = &one->own;
  HONDANA_TRY(one->own.run("PRAGMA query_only=1; PRAGMA cache_size=-16384"));
  HONDANA_TRY(const auto application, one->own.number("PRAGMA application_id"));
  const auto version = one->own.number("PRAGMA user_version");
  if (!version) return tl::unexpected(version.error());
  if (application == 0 && *version == 0) return nothing_yet("the search index is being created");
  if (application != our_application || *version != schema_version)
    return nothing_yet("the search index is in use by another version of hondana");
  const auto words = one->own.text("SELECT coalesce((SELECT value FROM facts WHERE name='words'),'')");
  if (!words) return tl::unexpected(words.error());
  if (words->empty()) return nothing_yet("the search index is being created");
  if (*words != options_.words->id())
    return nothing_yet("another process writes the search index with another setting of words; end it, or set another path");
  {
    const std::lock_guard lock(mutex_);
    if (now_->file != there) {
      readers_ -= static_cast<int>(idle_.size());
      idle_.clear();
      now_ = std::make_shared<remembered>();
      now_->file = there;
    }
    one->knows = now_;
  }
  HONDANA_TRY(prepare_reader(*one));
  ++readers_;
  return one;
}

result<void> embedded_store::prepare_reader(reader& one) const {
  HONDANA_TRY(weighing::install(*one.on));
  const std::string show = "SELECT p.heading, p.text, p.first_line, p.last_line, p.page, " + std::string(columns_of_document) +
                           " FROM passages p JOIN documents d ON d.id=(p.id>>16) WHERE p.id=?1";
  const std::pair<sqlite::statement*, const char*> all[]{
      {&one.show, show.c_str()},
      {&one.count_word, "SELECT doc FROM word_counts WHERE term=?1"},
      {&one.count_prefix, "SELECT sum(doc) FROM (SELECT doc FROM word_counts WHERE term>=?1 AND term<?2 LIMIT ?3)"},
      {&one.count_changes,
       "SELECT (SELECT value FROM facts WHERE name='changed'), (SELECT value FROM facts WHERE name='rewritten')"}};
  for (const auto& [into, sql] : all) {
    HONDANA_TRY(auto made, one.on->prepare(sql));
    *into = std::move(made);
  }
  return {};
}

void embedded_store::give_back(std::unique_ptr<reader> one) const {
  if (!one) return;
  if (is_in_memory_) {
    const std::lock_guard lock(mutex_);
    auto holds = std::move(one->holds);
    if (idle_.size() < most_idle) idle_.push_back(std::move(one));
    one.reset();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < most_idle && one->knows == now_) return idle_.push_back(std::move(one));
  }
  one.reset();
  --readers_;
}

result<embedded_store::borrowed> embedded_store::borrow() const {
  auto taken = take_reader();
  if (taken) return borrowed(*this, std::move(*taken));
  auto why = told(std::move(taken.error()));
  why.code = errc::source_unavailable;
  return tl::unexpected(std::move(why));
}

result<void> embedded_store::each_document(const std::function<void(known)>& each) const {
  HONDANA_TRY(auto taken, borrow());
  const auto& by = taken;
  HONDANA_TRY(
      auto asked,
      by->on->prepare("SELECT d.uri, d.version, d.described, d.problem, w.way FROM documents d JOIN ways w ON w.id=d.way"));
  for (;;) {
    const auto more = asked.step();
    if (!more) return tl::unexpected(told(more.error()));
    if (!*more) return {};
    each({std::string(asked.bytes(0)), std::string(asked.bytes(1)), static_cast<std::uint64_t>(asked.number(2)),
          !asked.bytes(3).empty(), std::string(asked.bytes(4))});
  }
}

result<void> embedded_store::each_vector(const vector_hearer& each) const {
  HONDANA_TRY(auto taken, borrow());
  const auto& by = taken;
  HONDANA_TRY(auto asked, by->on->prepare("SELECT p.id, v.numbers FROM passages p JOIN vectors v ON v.digest=p.digest"));
  std::vector<float> numbers;
  for (;;) {
    const auto more = asked.step();
    if (!more) return tl::unexpected(told(more.error()));
    if (!*more) return {};
    numbers_in(asked.bytes(1), numbers);
    each({asked.number(0)}, numbers);
  }
}

result<void> embedded_store::vectors_of(std::span<const std::string> digests, const vector_hearer& each) const {
  HONDANA_TRY(auto taken, borrow());
  const auto& by = taken;
  HONDANA_TRY(auto asked,
              by->on->prepare("SELECT p.id, v.numbers FROM vectors v JOIN passages p ON p.digest=v.digest WHERE v.digest=?1"));
  std::vector<float> numbers;
  for (const auto& one : digests) {
    asked.bind(1, one);
    for (;;) {
      const auto more = asked.step();
      if (!more) return tl::unexpected(told(more.error()));
      if (!*more) break;
      numbers_in(asked.bytes(1), numbers);
      each({asked.number(0)}, numbers);
    }
    asked.reset();
  }
  return {};
}

result<store_counts> embedded_store::counts() const {
  HONDANA_TRY(auto taken, borrow());
  const auto& by = taken;
  const one_transaction once(*by->on);
  auto out = counted(*by->on);
  if (!out) return tl::unexpected(told(std::move(out.error())));
  if (is_in_memory_) {
    HONDANA_TRY(auto pages, by->on->number("SELECT page_count*page_size FROM pragma_page_count(), pragma_page_size()"));
    out->bytes = static_cast<std::uint64_t>(pages);
  } else {
    out->bytes = sqlite::bytes_on_disk(options_.path);
  }
  return out;
}

result<index_standing> embedded_store::stands() const {
  HONDANA_TRY(auto taken, borrow());
  const auto& by = taken;
  auto asked = by->on->prepare("SELECT name, value FROM facts");
  if (!asked) return tl::unexpected(told(std::move(asked.error())));
  index_standing out;
  for (;;) {
    const auto more = asked->step();
    if (!more) return tl::unexpected(told(more.error()));
    if (!*more) return out;
    const auto name = asked->bytes(0);
    if (name == "commits") out.commits = static_cast<std::uint64_t>(asked->number(1));
    if (name == "model") out.model = asked->bytes(1);
    if (name == "progress") out.how = progress_from(asked->bytes(1));
  }
}

result<std::optional<kept_index>> look_at_embedded(const std::string& path) {
  // Errors read as if the writer had opened the file.
  HONDANA_TRY(const auto looked, sqlite::version_at(path, kind_of_index));
  if (!looked) return std::nullopt;
  // Without write permission, read without the lock.
  const auto names = sqlite::hold_names(path, kind_of_index);
  HONDANA_TRY(auto on, sqlite::connection::open(path, std::string(what_an_index_is)));
  // Disable the checkpoint on close. Otherwise the last connection that closes would write to the file and delete its log.
  on.only_reads();
  HONDANA_TRY(const auto application, on.number("PRAGMA application_id"));
  HONDANA_TRY(const auto version, on.number("PRAGMA user_version"));
  // An unfinished or older index is created again when a server opens it.
  if (application == 0 && version == 0) return std::nullopt;
  if (application == our_application && version < schema_version) return std::nullopt;
  if (application != our_application || version != schema_version)
    return fail(errc::source_unavailable, path + " is not a search index of this version of hondana");
  HONDANA_TRY(on.run("PRAGMA query_only=1"));
  // All counts are of one state, even during writes.
  const one_transaction once(on);
  kept_index out;
  HONDANA_TRY(auto counts, counted(on));
  out.counts = counts;
  out.counts.bytes = sqlite::bytes_on_disk(path);
  HONDANA_TRY(const auto how, on.text("SELECT coalesce((SELECT value FROM facts WHERE name='progress'),'')"));
  out.how = progress_from(how);
  return out;
}

}  // namespace hondana::search
