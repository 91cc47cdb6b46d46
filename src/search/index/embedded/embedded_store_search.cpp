/// The index in SQLite: searches in one state of it.

#include <algorithm>
#include <utility>

#include <hondana/clock.hpp>

#include "search/index/bm25.hpp"
#include "search/index/embedded/embedded_store_impl.hpp"

namespace hondana::search {
namespace {

constexpr std::size_t most_frequencies = 50'000;
constexpr std::chrono::seconds remembered{60};
constexpr const char* remark_of_damage = "the index is damaged and is created again";

/// The first parameter of the alternative spellings of the prefix. There are two for each, after all other parameters.
constexpr int first_of_more_prefixes = 14;

int place_of_more(std::size_t i) { return first_of_more_prefixes + 2 * static_cast<int>(i); }

std::string prefix_condition(const document_filter& which) {
  std::string out = "(uri>=?2 AND uri<?3";
  for (std::size_t i = 0; i < which.more_prefixes.size(); ++i) {
    const auto at = place_of_more(i);
    out += " OR uri>=?" + std::to_string(at) + " AND uri<?" + std::to_string(at + 1);
  }
  return out + ')';
}

/// Upper bounds for each prefix, greater than every URI that begins with it; the first one is for `uri_prefix`.
std::vector<std::string> ends_of_prefixes(const document_filter& which) {
  std::vector<std::string> out{which.uri_prefix + "\xFF"};
  for (const auto& one : which.more_prefixes) out.push_back(one + "\xFF");
  return out;
}

/// The SQL of a `document_filter`, to follow `WHERE`, with parameters from ?2; empty if the filter is open.
std::string condition_of(const document_filter& which) {
  std::string out;
  const auto add = [&out](std::string_view one) {
    if (!out.empty()) out += " AND ";
    out += one;
  };
  if (!which.uri_prefix.empty()) add(prefix_condition(which));
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
  // After the parameters of the whole statement: the words and the limit.
  if (!which.owner.empty()) add("instr(', '||owners||', ', ', '||?13||', ')>0");
  return out;
}

/// `ends`: the result of `ends_of_prefixes`; it must outlive the steps of the statement.
void bind_filter(sqlite::statement& to, const document_filter& which, const std::vector<std::string>& ends) {
  if (!which.uri_prefix.empty()) {
    to.bind_text(2, which.uri_prefix).bind_text(3, ends.front());
    for (std::size_t i = 0; i < which.more_prefixes.size(); ++i)
      to.bind_text(place_of_more(i), which.more_prefixes[i]).bind_text(place_of_more(i) + 1, ends[i + 1]);
  }
  if (!which.scheme.empty()) to.bind_text(4, which.scheme);
  if (!which.language.empty() && which.language != "*") to.bind_text(5, which.language);
  if (!which.mime_type.empty()) to.bind_text(6, which.mime_type);
  if (!which.kind.empty()) to.bind_text(7, which.kind);
  if (which.audience) to.bind(8, bit_of(*which.audience));
  if (which.min_priority) to.bind_real(9, *which.min_priority);
  if (which.modified_since) to.bind(10, which.modified_since->time_since_epoch().count());
  if (!which.owner.empty()) to.bind_text(13, which.owner);
}

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
  out.made = text(13);
  out.owners = text(14);
  return out;
}

std::uint64_t apart(std::uint64_t one, std::uint64_t other) noexcept { return one > other ? one - other : other - one; }

/// Used if there is nothing to search now.
class nothing_there final : public state_of_index {
 public:
  explicit nothing_there(std::string why) : why_(std::move(why)) {}
  result<matches> find(std::span<const wanted_word>, const document_filter&, std::size_t) override {
    matches out;
    out.is_complete = false;
    out.remark = why_;
    return out;
  }
  result<std::vector<shown_passage>> show(std::span<const passage_id>) override { return std::vector<shown_passage>(); }
  result<std::vector<passage_id>> made_so(std::span<const passage_id>, std::span<const std::string>) override {
    return std::vector<passage_id>();
  }

 private:
  const std::string why_;
};

}  // namespace

/// A transaction of a reader.
class embedded_state_of_index final : public state_of_index {
 public:
  embedded_state_of_index(const embedded_store& from, embedded_store::borrowed by) : from_(from), by_(std::move(by)) {}
  ~embedded_state_of_index() override {
    if (!has_begun_) return;
    const auto ended = by_->on->run("COMMIT");
    static_cast<void>(ended);  // nothing was written
  }

  std::uint64_t life() const noexcept override { return by_->knows->life; }

  /// The first read in the transaction fixes the state.
  [[nodiscard]] result<void> begin() {
    HONDANA_TRY(by_->on->run("BEGIN"));
    has_begun_ = true;
    auto& asked = by_->count_changes;
    HONDANA_TRY(asked.step());
    changed_ = static_cast<std::uint64_t>(asked.number(0));
    const auto rewritten = static_cast<std::uint64_t>(asked.number(1));
    asked.reset();
    auto& knows = *by_->knows;
    if (auto known = knows.rewritten.load(); known < rewritten && knows.rewritten.compare_exchange_strong(known, rewritten))
      knows.lengths.clear();
    return {};
  }

  result<matches> find(std::span<const wanted_word> words, const document_filter& which, std::size_t most) override {
    if (words.size() > most_words) return fail(errc::invalid_argument, "a search can have at most 64 words");
    matches out;
    auto done = find(words, which, most, out);
    if (done) return out;
    if (!sqlite::says_damaged(done.error())) return tl::unexpected(std::move(done.error()));
    from_.note_damage();
    out.is_complete = false;
    out.remark = remark_of_damage;
    return out;
  }

  result<std::vector<shown_passage>> show(std::span<const passage_id> which) override {
    std::vector<shown_passage> out;
    out.reserve(which.size());
    auto& row = by_->show;
    for (const auto& id : which) {
      row.bind(1, id.number);
      const auto more = row.step();
      if (!more) {
        if (!sqlite::says_damaged(more.error())) return tl::unexpected(more.error());
        from_.note_damage();
        continue;
      }
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

  result<std::vector<passage_id>> made_so(std::span<const passage_id> which, std::span<const std::string> ways) override {
    const auto stale = made_otherwise(ways);
    if (stale && stale->empty()) return std::vector<passage_id>(which.begin(), which.end());
    std::vector<passage_id> out;
    const auto unreadable = [&](const failure& why) -> result<std::vector<passage_id>> {
      if (!sqlite::says_damaged(why)) return tl::unexpected(why);
      from_.note_damage();
      return out;
    };
    if (!stale) return unreadable(stale.error());
    auto asked = by_->on->prepare(("SELECT 1 FROM documents WHERE id=?1 AND way IN (" + *stale + ')').c_str());
    if (!asked) return unreadable(asked.error());
    for (const auto& one : which) {
      asked->bind(1, one.document());
      const auto is_stale = asked->step();
      if (!is_stale) return unreadable(is_stale.error());
      if (!*is_stale) out.push_back(one);
      asked->reset();
    }
    return out;
  }

 private:
  /// The ids of `ways` that documents have but that are not in the argument: "3,5".
  [[nodiscard]] result<std::string> made_otherwise(std::span<const std::string> ways) const {
    HONDANA_TRY(auto asked,
                by_->on->prepare("SELECT id, way FROM ways WHERE EXISTS(SELECT 1 FROM documents d WHERE d.way=ways.id)"));
    std::string out;
    for (;;) {
      HONDANA_TRY(const auto more, asked.step());
      if (!more) return out;
      if (std::find(ways.begin(), ways.end(), asked.bytes(1)) != ways.end()) continue;
      if (!out.empty()) out += ',';
      out += std::to_string(asked.number(0));
    }
  }

  [[nodiscard]] result<std::uint64_t> having(const wanted_word& word) const {
    auto& knows = *by_->knows;
    const auto now = monotonic_clock::now();
    const std::pair key(word.text, word.is_prefix);
    {
      const std::lock_guard lock(knows.mutex);
      const auto found = knows.frequencies.find(key);
      // The cached number is good enough if its error is at most 1 %. For a word without passages, this means counting again
      // after each change.
      if (found != knows.frequencies.end() && now - found->second.counted < remembered &&
          apart(changed_, found->second.changed) * 100 <= found->second.having)
        return found->second.having;
    }
    const auto text = as_indexed(word.text);
    const auto beyond = text + "\xFF";
    auto& asked = word.is_prefix ? by_->count_prefix : by_->count_word;
    asked.bind_text(1, text);
    if (word.is_prefix) asked.bind_text(2, beyond).bind(3, most_beginning_so);
    HONDANA_TRY(const auto more, asked.step());
    const auto having = more ? static_cast<std::uint64_t>(asked.number(0)) : 0;
    asked.reset();
    const std::lock_guard lock(knows.mutex);
    if (knows.frequencies.size() >= most_frequencies) knows.frequencies.clear();
    knows.frequencies.insert_or_assign(key, embedded_store::frequency{having, changed_, now});
    return having;
  }

  [[nodiscard]] result<void> find(std::span<const wanted_word> words, const document_filter& which, std::size_t most,
                                  matches& out) const {
    std::vector<std::uint64_t> frequencies;
    frequencies.reserve(words.size());
    for (const auto& one : words) {
      HONDANA_TRY(auto found, having(one));
      frequencies.push_back(found);
    }
    const auto decides = deciding(frequencies, most);
    if (std::find(decides.begin(), decides.end(), true) == decides.end()) return {};
    HONDANA_TRY(auto all, by_->on->number("SELECT count(*) FROM words_docsize"));
    std::vector<double> idfs;
    idfs.reserve(words.size());
    for (const auto one : frequencies) idfs.push_back(idf(static_cast<std::uint64_t>(all), one));
    weighing weights(words, decides, std::move(idfs), by_->knows->lengths);
    const auto condition = condition_of(which);
    HONDANA_TRY(const auto stale, which.made ? made_otherwise(*which.made) : result<std::string>());
    std::string sql = "SELECT weigh(words, ?11) FROM words WHERE words MATCH ?1";
    if (!condition.empty()) sql += " AND (rowid>>16) IN (SELECT id FROM documents WHERE " + condition + ')';
    if (!stale.empty()) sql += " AND (rowid>>16) NOT IN (SELECT id FROM documents WHERE way IN (" + stale + "))";
    sql += " ORDER BY rowid DESC LIMIT ?12";
    HONDANA_TRY(auto asked, by_->on->prepare(sql.c_str()));
    const auto expression = expression_of(words, decides);
    const auto ends = ends_of_prefixes(which);
    asked.bind_text(1, expression);
    bind_filter(asked, which, ends);
    asked.bind_pointer(11, &weights, weighing::type_name);
    asked.bind(12, static_cast<std::int64_t>(most) + 1);
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < words.size(); ++i) expected += decides[i] ? frequencies[i] : 0;
    out.all.reserve(std::min<std::uint64_t>(expected, most));
    for (;;) {
      HONDANA_TRY(const auto more, asked.step());
      if (!more) break;
      if (out.all.size() == most) {
        out.is_complete = false;
        break;
      }
      static_cast<void>(asked.real(0));
      out.all.push_back(weights.last());
    }
    return {};
  }

  const embedded_store& from_;
  embedded_store::borrowed by_;
  bool has_begun_ = false;
  std::uint64_t changed_ = 0;  // passages changed since the index was created
};

/// In memory, each call reads the current state. Otherwise the writer would have to wait for a whole search.
class embedded_state_in_memory final : public state_of_index {
 public:
  explicit embedded_state_in_memory(const embedded_store& from) : from_(from) {}
  result<matches> find(std::span<const wanted_word> words, const document_filter& which, std::size_t most) override {
    return asked<matches>([&](state_of_index& now) { return now.find(words, which, most); });
  }
  result<std::vector<shown_passage>> show(std::span<const passage_id> which) override {
    return asked<std::vector<shown_passage>>([&](state_of_index& now) { return now.show(which); });
  }
  result<std::vector<passage_id>> made_so(std::span<const passage_id> which, std::span<const std::string> ways) override {
    return asked<std::vector<passage_id>>([&](state_of_index& now) { return now.made_so(which, ways); });
  }

 private:
  template <class T, class Ask>
  [[nodiscard]] result<T> asked(const Ask& ask) const {
    HONDANA_TRY(const auto now, from_.state_now());
    return ask(*now);
  }

  const embedded_store& from_;
};

result<std::unique_ptr<state_of_index>> embedded_store::at_once() const {
  if (is_in_memory_) return std::unique_ptr<state_of_index>(std::make_unique<embedded_state_in_memory>(*this));
  return state_now();
}

result<std::unique_ptr<state_of_index>> embedded_store::state_now() const {
  auto taken = take_reader();
  result<void> begun{};
  if (taken) {
    auto made = std::make_unique<embedded_state_of_index>(*this, borrowed(*this, std::move(*taken)));
    begun = made->begin();
    if (begun) return std::unique_ptr<state_of_index>(std::move(made));
  }
  const auto& why = taken ? begun.error() : taken.error();
  if (why.code == errc::resource_not_found)
    return std::unique_ptr<state_of_index>(std::make_unique<nothing_there>(why.public_text));
  if (!sqlite::says_damaged(why)) return tl::unexpected(why);
  note_damage();
  return std::unique_ptr<state_of_index>(std::make_unique<nothing_there>(remark_of_damage));
}

}  // namespace hondana::search
