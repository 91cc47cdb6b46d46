/// The store in SQLite: reading.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "search/bm25.hpp"
#include "search/embedded/embedded_state.hpp"
#include "search/embedded/schema.hpp"

namespace hondana::search {
namespace {

constexpr std::size_t most_idle = 8;
constexpr std::size_t most_frequencies = 50'000;
constexpr std::chrono::seconds remembered{60};

/// What `document_filter` says, after `WHERE`, with parameters from ?2; empty when it is open.
std::string condition_of(const document_filter& which) {
  std::string out;
  const auto add = [&out](std::string_view one) {
    if (!out.empty()) out += " AND ";
    out += one;
  };
  if (!which.uri_prefix.empty()) add("uri>=?2 AND uri<?3");
  if (!which.scheme.empty()) add("substr(uri,1,length(?4)+1)=?4||':'");
  if (!which.language.empty() && which.language != "*")
    add("(lower(language)=lower(?5) OR lower(substr(language,1,length(?5)+1))=lower(?5)||'-')");
  if (!which.mime_type.empty())
    add(which.mime_type.back() == '/' ? "substr(mime_type,1,length(?6))=?6"
                                      : "substr(mime_type,1,instr(mime_type||';',';')-1)=?6");
  if (!which.kind.empty()) add("kind=?7");
  if (which.audience) add("(audience&?8)!=0");
  if (which.min_priority) add("priority>=?9");
  if (which.modified_since) add("modified>=?10");
  return out;
}

void bind_filter(sqlite::statement& to, const document_filter& which, const std::string& after_prefix) {
  if (!which.uri_prefix.empty()) to.bind_text(2, which.uri_prefix).bind_text(3, after_prefix);
  if (!which.scheme.empty()) to.bind_text(4, which.scheme);
  if (!which.language.empty() && which.language != "*") to.bind_text(5, which.language);
  if (!which.mime_type.empty()) to.bind_text(6, which.mime_type);
  if (!which.kind.empty()) to.bind_text(7, which.kind);
  if (which.audience) to.bind(8, bit_of(*which.audience));
  if (which.min_priority) to.bind_real(9, *which.min_priority);
  if (which.modified_since) to.bind(10, which.modified_since->time_since_epoch().count());
}

constexpr const char* columns_of_document =
    "d.uri, d.version, d.name, d.title, d.description, d.mime_type, d.kind, d.language, d.problem, d.priority, d.audience, "
    "d.modified, d.size";

document document_at(const sqlite::statement& row, int first) {
  const auto text = [&](int column) { return std::string(row.bytes(first + column)); };
  document out;
  out.uri = text(0);
  out.version = text(1);
  out.name = text(2);
  out.title = text(3);
  out.description = text(4);
  out.mime_type = text(5);
  out.kind = text(6);
  out.language = text(7);
  out.problem = text(8);
  if (!row.is_null(first + 9)) out.priority = row.real(first + 9);
  for (const auto one : {role::user, role::assistant}) {
    if ((row.number(first + 10) & bit_of(one)) != 0) out.audience.push_back(one);
  }
  if (!row.is_null(first + 11)) out.modified = milliseconds(std::chrono::milliseconds(row.number(first + 11)));
  if (!row.is_null(first + 12)) out.size = static_cast<std::uint64_t>(row.number(first + 12));
  return out;
}

/// The numbers of a vector; they may lie anywhere.
void numbers_in(std::string_view bytes, std::vector<float>& into) {
  into.resize(bytes.size() / sizeof(float));
  std::memcpy(into.data(), bytes.data(), into.size() * sizeof(float));
}

/// Statements while it lives read in one transaction, which costs its locks once. Where none can begin each has its own.
class reading_at_once {
 public:
  explicit reading_at_once(sqlite::connection& on) : on_(on), has_begun_(!on.is_in_transaction() && on.run("BEGIN")) {}
  reading_at_once(const reading_at_once&) = delete;
  reading_at_once& operator=(const reading_at_once&) = delete;
  ~reading_at_once() {
    if (!has_begun_) return;
    const auto ended = on_.run("COMMIT");
    static_cast<void>(ended);  // nothing was written
  }

 private:
  sqlite::connection& on_;
  const bool has_begun_;
};

/// All but bytes.
result<store_counts> counted(sqlite::connection& on) {
  store_counts out;
  const std::pair<std::uint64_t*, const char*> all[]{
      {&out.documents, "SELECT count(*) FROM documents"},
      {&out.without_text, "SELECT count(*) FROM documents WHERE problem<>''"},
      {&out.passages, "SELECT count(*) FROM words_docsize"},
      {&out.vectors, "SELECT count(*) FROM passages p WHERE EXISTS(SELECT 1 FROM vectors v WHERE v.digest=p.digest)"}};
  for (const auto& [into, sql] : all) {
    auto number = on.number(sql);
    if (!number) return tl::unexpected(std::move(number.error()));
    *into = static_cast<std::uint64_t>(*number);
  }
  return out;
}

}  // namespace

class embedded_store::borrowed {
 public:
  borrowed(const embedded_store& from, std::unique_ptr<reader> one) : from_(from), one_(std::move(one)) {}
  borrowed(const borrowed&) = delete;
  borrowed& operator=(const borrowed&) = delete;
  ~borrowed() { from_.give_back(std::move(one_)); }
  reader* operator->() const noexcept { return one_.get(); }
  reader& operator*() const noexcept { return *one_; }

 private:
  const embedded_store& from_;
  std::unique_ptr<reader> one_;
};

result<std::unique_ptr<embedded_store::reader>> embedded_store::take_reader() const {
  std::unique_ptr<reader> one;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      one = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (one) {
    if (is_in_memory_) one->holds = std::unique_lock(in_memory_);
    return one;
  }
  one = std::make_unique<reader>();
  if (is_in_memory_) {
    one->holds = std::unique_lock(in_memory_);
    one->on = &file_.writer;
  } else {
    auto opened = sqlite::connection::open(options_.path, std::string(what_an_index_is));
    if (!opened) return tl::unexpected(std::move(opened.error()));
    one->own = std::move(*opened);
    one->on = &one->own;
    if (auto set = one->own.run("PRAGMA query_only=1; PRAGMA cache_size=-16384"); !set)
      return tl::unexpected(std::move(set.error()));
  }
  if (auto made = weighing::install(*one->on); !made) return tl::unexpected(std::move(made.error()));
  const std::string show = "SELECT p.heading, p.text, p.first_line, p.last_line, p.page, " + std::string(columns_of_document) +
                           " FROM passages p JOIN documents d ON d.id=(p.id>>16) WHERE p.id=?1";
  const std::pair<sqlite::statement*, const char*> all[]{
      {&one->show, show.c_str()},
      {&one->count_word, "SELECT doc FROM word_counts WHERE term=?1"},
      {&one->count_prefix, "SELECT sum(doc) FROM (SELECT doc FROM word_counts WHERE term>=?1 AND term<?2 LIMIT ?3)"}};
  for (const auto& [into, sql] : all) {
    auto made = one->on->prepare(sql);
    if (!made) return tl::unexpected(std::move(made.error()));
    *into = std::move(*made);
  }
  return one;
}

void embedded_store::give_back(std::unique_ptr<reader> one) const {
  if (!one) return;
  if (one->holds.owns_lock()) one->holds.unlock();
  const std::lock_guard lock(mutex_);
  if (idle_.size() < most_idle) idle_.push_back(std::move(one));
}

result<std::uint64_t> embedded_store::having(reader& by, const wanted_word& word) const {
  const auto now = std::chrono::steady_clock::now();
  const auto changed = changed_.load();
  const std::pair key(word.text, word.is_prefix);
  {
    const std::lock_guard lock(mutex_);
    const auto found = frequencies_.find(key);
    // As long as it cannot be wrong by more than a hundredth: a word that nothing had is asked for after each change.
    if (found != frequencies_.end() && now - found->second.counted < remembered &&
        (changed - found->second.changed) * 100 <= found->second.having)
      return found->second.having;
  }
  const auto text = as_indexed(word.text);
  const auto beyond = text + "\xFF";
  auto& asked = word.is_prefix ? by.count_prefix : by.count_word;
  asked.bind_text(1, text);
  if (word.is_prefix) asked.bind_text(2, beyond).bind(3, most_beginning_so);
  const auto more = asked.step();
  if (!more) return tl::unexpected(more.error());
  const auto having = *more ? static_cast<std::uint64_t>(asked.number(0)) : 0;
  asked.reset();
  const std::lock_guard lock(mutex_);
  if (frequencies_.size() >= most_frequencies) frequencies_.clear();
  frequencies_.insert_or_assign(key, frequency{having, changed, now});
  return having;
}

result<matches> embedded_store::find(std::span<const wanted_word> words, const document_filter& which, std::size_t most) const {
  if (words.size() > most_words) return fail(errc::invalid_argument, "a search has at most 64 words");
  auto taken = take_reader();
  if (!taken) return tl::unexpected(std::move(taken.error()));
  const borrowed by(*this, std::move(*taken));
  std::vector<std::uint64_t> frequencies;
  frequencies.reserve(words.size());
  for (const auto& one : words) {
    auto found = having(*by, one);
    if (!found) return tl::unexpected(std::move(found.error()));
    frequencies.push_back(*found);
  }
  const auto decides = deciding(frequencies, most);
  matches out;
  if (std::find(decides.begin(), decides.end(), true) == decides.end()) return out;
  auto all = by->on->number("SELECT count(*) FROM words_docsize");
  if (!all) return tl::unexpected(std::move(all.error()));
  std::vector<double> idfs;
  idfs.reserve(words.size());
  for (const auto one : frequencies) idfs.push_back(idf(static_cast<std::uint64_t>(*all), one));
  weighing weights(words, decides, std::move(idfs), lengths_);
  const auto condition = condition_of(which);
  std::string sql = "SELECT weigh(words, ?11) FROM words WHERE words MATCH ?1";
  if (!condition.empty()) sql += " AND (rowid>>16) IN (SELECT id FROM documents WHERE " + condition + ')';
  sql += " ORDER BY rowid DESC LIMIT ?12";
  auto asked = by->on->prepare(sql.c_str());
  if (!asked) return tl::unexpected(std::move(asked.error()));
  const auto expression = expression_of(words, decides);
  const auto after_prefix = which.uri_prefix + "\xFF";
  asked->bind_text(1, expression);
  bind_filter(*asked, which, after_prefix);
  asked->bind_pointer(11, &weights, weighing::type_name);
  asked->bind(12, static_cast<std::int64_t>(most) + 1);
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < words.size(); ++i) expected += decides[i] ? frequencies[i] : 0;
  out.all.reserve(std::min<std::uint64_t>(expected, most));
  for (;;) {
    const auto more = asked->step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    if (out.all.size() == most) {
      out.is_complete = false;
      break;
    }
    static_cast<void>(asked->real(0));
    out.all.push_back(weights.last());
  }
  return out;
}

result<std::vector<shown_passage>> embedded_store::show(std::span<const passage_id> which) const {
  auto taken = take_reader();
  if (!taken) return tl::unexpected(std::move(taken.error()));
  const borrowed by(*this, std::move(*taken));
  std::vector<shown_passage> out;
  out.reserve(which.size());
  // One transaction and not one for each passage.
  const reading_at_once once(*by->on);
  auto& row = by->show;
  for (const auto& id : which) {
    row.bind(1, id.number);
    const auto more = row.step();
    if (!more) return tl::unexpected(more.error());
    if (*more) {
      shown_passage one{id, {}, document_at(row, 5)};
      one.passage.heading = row.bytes(0);
      one.passage.text = row.bytes(1);
      one.passage.first_line = static_cast<std::uint64_t>(row.number(2));
      one.passage.last_line = static_cast<std::uint64_t>(row.number(3));
      one.passage.page = static_cast<std::uint64_t>(row.number(4));
      out.push_back(std::move(one));
    }
    row.reset();
  }
  return out;
}

result<void> embedded_store::each_document(const std::function<void(known)>& each) const {
  auto taken = take_reader();
  if (!taken) return tl::unexpected(std::move(taken.error()));
  const borrowed by(*this, std::move(*taken));
  auto asked = by->on->prepare("SELECT uri, version, described, problem FROM documents");
  if (!asked) return tl::unexpected(std::move(asked.error()));
  for (;;) {
    const auto more = asked->step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
    each({std::string(asked->bytes(0)), std::string(asked->bytes(1)), static_cast<std::uint64_t>(asked->number(2)),
          !asked->bytes(3).empty()});
  }
}

result<void> embedded_store::each_vector(const vector_hearer& each) const {
  auto taken = take_reader();
  if (!taken) return tl::unexpected(std::move(taken.error()));
  const borrowed by(*this, std::move(*taken));
  auto asked = by->on->prepare("SELECT p.id, v.numbers FROM passages p JOIN vectors v ON v.digest=p.digest");
  if (!asked) return tl::unexpected(std::move(asked.error()));
  std::vector<float> numbers;
  for (;;) {
    const auto more = asked->step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
    numbers_in(asked->bytes(1), numbers);
    each({asked->number(0)}, numbers);
  }
}

result<void> embedded_store::vectors_of(std::span<const std::string> digests, const vector_hearer& each) const {
  auto taken = take_reader();
  if (!taken) return tl::unexpected(std::move(taken.error()));
  const borrowed by(*this, std::move(*taken));
  auto asked = by->on->prepare("SELECT p.id, v.numbers FROM vectors v JOIN passages p ON p.digest=v.digest WHERE v.digest=?1");
  if (!asked) return tl::unexpected(std::move(asked.error()));
  std::vector<float> numbers;
  for (const auto& one : digests) {
    asked->bind(1, one);
    for (;;) {
      const auto more = asked->step();
      if (!more) return tl::unexpected(more.error());
      if (!*more) break;
      numbers_in(asked->bytes(1), numbers);
      each({asked->number(0)}, numbers);
    }
    asked->reset();
  }
  return {};
}

result<store_counts> embedded_store::counts() const {
  auto taken = take_reader();
  if (!taken) return tl::unexpected(std::move(taken.error()));
  const borrowed by(*this, std::move(*taken));
  auto out = counted(*by->on);
  if (!out) return out;
  if (is_in_memory_) {
    auto pages = by->on->number("SELECT page_count*page_size FROM pragma_page_count(), pragma_page_size()");
    if (!pages) return tl::unexpected(std::move(pages.error()));
    out->bytes = static_cast<std::uint64_t>(*pages);
  } else {
    out->bytes = sqlite::bytes_on_disk(options_.path);
  }
  return out;
}

result<std::optional<kept_index>> look_at_embedded(const std::string& path) {
  std::error_code problem;
  if (!std::filesystem::exists(path, problem)) return std::nullopt;
  auto on = sqlite::connection::open(path, std::string(what_an_index_is));
  if (!on) return tl::unexpected(std::move(on.error()));
  const auto application = on->number("PRAGMA application_id");
  if (!application) return tl::unexpected(application.error());
  const auto version = on->number("PRAGMA user_version");
  if (!version) return tl::unexpected(version.error());
  if (*application != our_application || *version != schema_version)
    return fail(errc::source_unavailable, path + " is no search index that this program knows");
  if (auto set = on->run("PRAGMA query_only=1"); !set) return tl::unexpected(std::move(set.error()));
  // All of one state, whatever is being written.
  const reading_at_once once(*on);
  kept_index out;
  auto counts = counted(*on);
  if (!counts) return tl::unexpected(std::move(counts.error()));
  out.counts = *counts;
  out.counts.bytes = sqlite::bytes_on_disk(path);
  const auto how = on->text("SELECT coalesce((SELECT value FROM facts WHERE name='progress'),'')");
  if (!how) return tl::unexpected(how.error());
  out.how = progress_from(*how);
  return out;
}

}  // namespace hondana::search
