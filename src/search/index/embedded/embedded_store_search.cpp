/// The index in SQLite: searches in one state of it.

#include <algorithm>
#include <utility>

#include <hondana/clock.hpp>

#include "search/index/bm25.hpp"
#include "search/index/embedded/embedded_store_impl.hpp"

namespace hondana::search {
namespace {

constexpr std::size_t max_frequencies = 50'000;
constexpr std::chrono::seconds frequency_ttl{60};
constexpr const char* damage_problem = "the index is damaged and is created again";

/// The first parameter of the alternative spellings of the prefix. There are two for each, after all other parameters.
constexpr int first_alternative_parameter = 14;

int alternative_parameter(std::size_t i) { return first_alternative_parameter + 2 * static_cast<int>(i); }

std::string prefix_condition(const document_filter& filter) {
  std::string out = "(uri>=?2 AND uri<?3";
  for (std::size_t i = 0; i < filter.alternative_prefixes.size(); ++i) {
    const auto parameter = alternative_parameter(i);
    out += " OR uri>=?" + std::to_string(parameter) + " AND uri<?" + std::to_string(parameter + 1);
  }
  return out + ')';
}

/// Upper bounds for each prefix, greater than every URI that begins with it; the first one is for `uri_prefix`.
std::vector<std::string> prefix_bounds(const document_filter& filter) {
  std::vector<std::string> out{filter.uri_prefix + "\xFF"};
  for (const auto& prefix : filter.alternative_prefixes) out.push_back(prefix + "\xFF");
  return out;
}

/// The SQL of a `document_filter`, to follow `WHERE`, with parameters from ?2; empty if the filter is open.
std::string sql_condition(const document_filter& filter) {
  std::string out;
  const auto add = [&out](std::string_view condition) {
    if (!out.empty()) out += " AND ";
    out += condition;
  };
  if (!filter.uri_prefix.empty()) add(prefix_condition(filter));
  if (!filter.scheme.empty()) add("substr(uri,1,length(?4)+1)=?4||':'");
  if (!filter.language.empty() && filter.language != "*")
    add("(lower(language)=lower(?5) OR lower(substr(language,1,length(?5)+1))=lower(?5)||'-')");
  if (!filter.mime_type.empty())
    add(filter.mime_type.back() == '/' ? "substr(mime_type,1,length(?6))=?6"
                                       : "substr(mime_type,1,instr(mime_type||';',';')-1)=?6");
  if (!filter.kind.empty()) add("kind=?7");
  if (filter.audience) add("(audience&?8)!=0");
  if (filter.min_priority) add("priority>=?9");
  if (filter.modified_since) add("modified>=?10");
  // After the parameters of the whole statement: the words and the limit.
  if (!filter.owner.empty()) add("instr(', '||owners||', ', ', '||?13||', ')>0");
  return out;
}

/// `bounds`: the result of `prefix_bounds`; it must outlive the steps of the statement.
void bind_filter(sqlite::statement& statement, const document_filter& filter, const std::vector<std::string>& bounds) {
  if (!filter.uri_prefix.empty()) {
    statement.bind_text(2, filter.uri_prefix).bind_text(3, bounds.front());
    for (std::size_t i = 0; i < filter.alternative_prefixes.size(); ++i)
      statement.bind_text(alternative_parameter(i), filter.alternative_prefixes[i])
          .bind_text(alternative_parameter(i) + 1, bounds[i + 1]);
  }
  if (!filter.scheme.empty()) statement.bind_text(4, filter.scheme);
  if (!filter.language.empty() && filter.language != "*") statement.bind_text(5, filter.language);
  if (!filter.mime_type.empty()) statement.bind_text(6, filter.mime_type);
  if (!filter.kind.empty()) statement.bind_text(7, filter.kind);
  if (filter.audience) statement.bind(8, bit_of(*filter.audience));
  if (filter.min_priority) statement.bind_real(9, *filter.min_priority);
  if (filter.modified_since) statement.bind(10, filter.modified_since->time_since_epoch().count());
  if (!filter.owner.empty()) statement.bind_text(13, filter.owner);
}

document document_from_row(const sqlite::statement& row, int first) {
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
  for (const auto recipient : {chat_role::user, chat_role::assistant}) {
    if ((row.number(first + 10) & bit_of(recipient)) != 0) out.audience.push_back(recipient);
  }
  if (!row.is_null(first + 11)) out.modified = milliseconds(std::chrono::milliseconds(row.number(first + 11)));
  if (!row.is_null(first + 12)) out.size = static_cast<std::uint64_t>(row.number(first + 12));
  out.processing = text(13);
  out.owners = text(14);
  return out;
}

std::uint64_t difference(std::uint64_t left, std::uint64_t right) noexcept {
  return left > right ? left - right : right - left;
}

/// Used if there is nothing to search now.
class empty_snapshot final : public index_snapshot {
 public:
  explicit empty_snapshot(std::string reason) : reason_(std::move(reason)) {}
  result<word_matches> find(std::span<const query_word>, const document_filter&, std::size_t) override {
    word_matches out;
    out.is_complete = false;
    out.problem = reason_;
    return out;
  }
  result<std::vector<document_passage>> load(std::span<const passage_id>) override { return std::vector<document_passage>(); }
  result<std::vector<passage_id>> filter_by_processing(std::span<const passage_id>, std::span<const std::string>) override {
    return std::vector<passage_id>();
  }

 private:
  const std::string reason_;
};

}  // namespace

/// A transaction of a reader.
class embedded_snapshot final : public index_snapshot {
 public:
  embedded_snapshot(const embedded_store& store, embedded_store::reader_lease reader)
      : store_(store), reader_(std::move(reader)) {}
  ~embedded_snapshot() override {
    if (!has_begun_) return;
    const auto status = reader_->connection->execute("COMMIT");
    static_cast<void>(status);  // nothing was written
  }

  std::uint64_t generation() const noexcept override { return reader_->cache->generation; }

  /// The first read in the transaction fixes the state.
  [[nodiscard]] result<void> begin() {
    HONDANA_TRY(reader_->connection->execute("BEGIN"));
    has_begun_ = true;
    auto& statement = reader_->count_changes;
    HONDANA_TRY(statement.step());
    changed_ = static_cast<std::uint64_t>(statement.number(0));
    const auto rewritten = static_cast<std::uint64_t>(statement.number(1));
    statement.reset();
    auto& cache = *reader_->cache;
    if (auto cached = cache.rewritten.load(); cached < rewritten && cache.rewritten.compare_exchange_strong(cached, rewritten))
      cache.lengths.clear();
    return {};
  }

  result<word_matches> find(std::span<const query_word> words, const document_filter& filter,
                            std::size_t max_passages) override {
    if (words.size() > max_words) return fail(errc::invalid_argument, "a search can have at most 64 words");
    word_matches out;
    auto status = find(words, filter, max_passages, out);
    if (status) return out;
    if (!sqlite::is_corruption(status.error())) return tl::unexpected(std::move(status.error()));
    store_.record_damage();
    out.is_complete = false;
    out.problem = damage_problem;
    return out;
  }

  result<std::vector<document_passage>> load(std::span<const passage_id> ids) override {
    std::vector<document_passage> out;
    out.reserve(ids.size());
    auto& row = reader_->select_passage;
    for (const auto& id : ids) {
      row.bind(1, id.number);
      const auto has_row = row.step();
      if (!has_row) {
        if (!sqlite::is_corruption(has_row.error())) return tl::unexpected(has_row.error());
        store_.record_damage();
        continue;
      }
      if (*has_row) {
        document_passage loaded{id, {}, document_from_row(row, 5)};
        loaded.passage.heading = row.bytes(0);
        loaded.passage.text = row.bytes(1);
        loaded.passage.first_line = static_cast<std::uint64_t>(row.number(2));
        loaded.passage.last_line = static_cast<std::uint64_t>(row.number(3));
        loaded.passage.page = static_cast<std::uint64_t>(row.number(4));
        out.push_back(std::move(loaded));
      }
      row.reset();
    }
    return out;
  }

  result<std::vector<passage_id>> filter_by_processing(std::span<const passage_id> ids,
                                                       std::span<const std::string> allowed) override {
    const auto stale = stale_processings(allowed);
    if (stale && stale->empty()) return std::vector<passage_id>(ids.begin(), ids.end());
    std::vector<passage_id> out;
    const auto on_error = [&](const failure& error) -> result<std::vector<passage_id>> {
      if (!sqlite::is_corruption(error)) return tl::unexpected(error);
      store_.record_damage();
      return out;
    };
    if (!stale) return on_error(stale.error());
    auto statement = reader_->connection->prepare(("SELECT 1 FROM documents WHERE id=?1 AND way IN (" + *stale + ')').c_str());
    if (!statement) return on_error(statement.error());
    for (const auto& id : ids) {
      statement->bind(1, id.document());
      const auto is_stale = statement->step();
      if (!is_stale) return on_error(is_stale.error());
      if (!*is_stale) out.push_back(id);
      statement->reset();
    }
    return out;
  }

 private:
  /// The ids in `ways` of values that documents have but that are not in `allowed`: "3,5".
  [[nodiscard]] result<std::string> stale_processings(std::span<const std::string> allowed) const {
    HONDANA_TRY(auto statement, reader_->connection->prepare(
                                    "SELECT id, way FROM ways WHERE EXISTS(SELECT 1 FROM documents d WHERE d.way=ways.id)"));
    std::string out;
    for (;;) {
      HONDANA_TRY(const auto has_row, statement.step());
      if (!has_row) return out;
      if (std::find(allowed.begin(), allowed.end(), statement.bytes(1)) != allowed.end()) continue;
      if (!out.empty()) out += ',';
      out += std::to_string(statement.number(0));
    }
  }

  [[nodiscard]] result<std::uint64_t> passage_count(const query_word& word) const {
    auto& cache = *reader_->cache;
    const auto now = monotonic_clock::now();
    const std::pair key(word.text, word.is_prefix);
    {
      const std::lock_guard lock(cache.mutex);
      const auto cached = cache.frequencies.find(key);
      // The cached number is good enough if its error is at most 1 %. For a word without passages, this means counting again
      // after each change.
      if (cached != cache.frequencies.end() && now - cached->second.counted_at < frequency_ttl &&
          difference(changed_, cached->second.changed) * 100 <= cached->second.passages)
        return cached->second.passages;
    }
    const auto text = encode_word(word.text);
    const auto upper_bound = text + "\xFF";
    auto& statement = word.is_prefix ? reader_->count_prefix : reader_->count_word;
    statement.bind_text(1, text);
    if (word.is_prefix) statement.bind_text(2, upper_bound).bind(3, max_prefix_words);
    HONDANA_TRY(const auto has_row, statement.step());
    const auto count = has_row ? static_cast<std::uint64_t>(statement.number(0)) : 0;
    statement.reset();
    const std::lock_guard lock(cache.mutex);
    if (cache.frequencies.size() >= max_frequencies) cache.frequencies.clear();
    cache.frequencies.insert_or_assign(key, embedded_store::frequency{count, changed_, now});
    return count;
  }

  [[nodiscard]] result<void> find(std::span<const query_word> words, const document_filter& filter, std::size_t max_passages,
                                  word_matches& out) const {
    std::vector<std::uint64_t> frequencies;
    frequencies.reserve(words.size());
    for (const auto& word : words) {
      HONDANA_TRY(auto count, passage_count(word));
      frequencies.push_back(count);
    }
    const auto required = select_required(frequencies, max_passages);
    if (std::find(required.begin(), required.end(), true) == required.end()) return {};
    HONDANA_TRY(auto total, reader_->connection->number("SELECT count(*) FROM words_docsize"));
    std::vector<double> idfs;
    idfs.reserve(words.size());
    for (const auto frequency : frequencies) idfs.push_back(idf(static_cast<std::uint64_t>(total), frequency));
    row_scorer scorer(words, required, std::move(idfs), reader_->cache->lengths);
    const auto condition = sql_condition(filter);
    HONDANA_TRY(const auto stale, filter.processing ? stale_processings(*filter.processing) : result<std::string>());
    std::string sql = "SELECT weigh(words, ?11) FROM words WHERE words MATCH ?1";
    if (!condition.empty()) sql += " AND (rowid>>16) IN (SELECT id FROM documents WHERE " + condition + ')';
    if (!stale.empty()) sql += " AND (rowid>>16) NOT IN (SELECT id FROM documents WHERE way IN (" + stale + "))";
    sql += " ORDER BY rowid DESC LIMIT ?12";
    HONDANA_TRY(auto statement, reader_->connection->prepare(sql.c_str()));
    const auto expression = match_expression(words, required);
    const auto bounds = prefix_bounds(filter);
    statement.bind_text(1, expression);
    bind_filter(statement, filter, bounds);
    statement.bind_pointer(11, &scorer, row_scorer::type_name);
    statement.bind(12, static_cast<std::int64_t>(max_passages) + 1);
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < words.size(); ++i) expected += required[i] ? frequencies[i] : 0;
    out.passages.reserve(std::min<std::uint64_t>(expected, max_passages));
    for (;;) {
      HONDANA_TRY(const auto has_row, statement.step());
      if (!has_row) break;
      if (out.passages.size() == max_passages) {
        out.is_complete = false;
        break;
      }
      static_cast<void>(statement.real(0));
      out.passages.push_back(scorer.last());
    }
    return {};
  }

  const embedded_store& store_;
  embedded_store::reader_lease reader_;
  bool has_begun_ = false;
  std::uint64_t changed_ = 0;  // passages changed since the index was created
};

/// In memory, each call reads the current state. Otherwise the writer would have to wait for a whole search.
class memory_snapshot final : public index_snapshot {
 public:
  explicit memory_snapshot(const embedded_store& store) : store_(store) {}
  result<word_matches> find(std::span<const query_word> words, const document_filter& filter,
                            std::size_t max_passages) override {
    return with_current<word_matches>([&](index_snapshot& current) { return current.find(words, filter, max_passages); });
  }
  result<std::vector<document_passage>> load(std::span<const passage_id> ids) override {
    return with_current<std::vector<document_passage>>([&](index_snapshot& current) { return current.load(ids); });
  }
  result<std::vector<passage_id>> filter_by_processing(std::span<const passage_id> ids,
                                                       std::span<const std::string> allowed) override {
    return with_current<std::vector<passage_id>>(
        [&](index_snapshot& current) { return current.filter_by_processing(ids, allowed); });
  }

 private:
  template <class T, class Read>
  [[nodiscard]] result<T> with_current(const Read& read) const {
    HONDANA_TRY(const auto current, store_.current_snapshot());
    return read(*current);
  }

  const embedded_store& store_;
};

result<std::unique_ptr<index_snapshot>> embedded_store::snapshot() const {
  if (is_in_memory_) return std::unique_ptr<index_snapshot>(std::make_unique<memory_snapshot>(*this));
  return current_snapshot();
}

result<std::unique_ptr<index_snapshot>> embedded_store::current_snapshot() const {
  auto acquired = acquire_reader();
  result<void> status{};
  if (acquired) {
    auto opened = std::make_unique<embedded_snapshot>(*this, reader_lease(*this, std::move(*acquired)));
    status = opened->begin();
    if (status) return std::unique_ptr<index_snapshot>(std::move(opened));
  }
  const auto& error = acquired ? status.error() : acquired.error();
  if (error.code == errc::resource_not_found)
    return std::unique_ptr<index_snapshot>(std::make_unique<empty_snapshot>(error.public_text));
  if (!sqlite::is_corruption(error)) return tl::unexpected(error);
  record_damage();
  return std::unique_ptr<index_snapshot>(std::make_unique<empty_snapshot>(damage_problem));
}

}  // namespace hondana::search
