/// Drawing words, texts and queries.
#include "drawn.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <hondana/capabilities.hpp>
#include <hondana/uri.hpp>

namespace search_bench {
namespace {

constexpr std::size_t vocabulary = 40'000;
constexpr std::string_view consonants[]{"b", "d", "f", "g", "k",  "l",  "m",  "n", "p",
                                        "r", "s", "t", "v", "br", "st", "tr", "pl"};
constexpr std::string_view vowels[]{"a", "e", "i", "o", "u", "ai", "ou", "ea"};
/// Parts of real compounds, so that MeCab meets what it knows.
constexpr std::string_view parts[]{
    "情報", "管理",     "設定",         "更新",       "復旧",         "手順",       "確認",   "監視",     "記録",   "保存",
    "通信", "認証",     "予約",         "会議",       "装置",         "測定",       "校正",   "倉庫",     "車両",   "費用",
    "契約", "書類",     "検索",         "文書",       "画面",         "電源",       "温度",   "圧力",     "水位",   "障害",
    "原因", "対応",     "連絡",         "担当",       "期限",         "申請",       "承認",   "研修",     "安全",   "避難",
    "救急", "清掃",     "図書",         "写真",       "翻訳",         "用語",       "性能",   "試験",     "データ", "サーバー",
    "ログ", "ファイル", "ネットワーク", "キャッシュ", "バックアップ", "パスワード", "メール", "システム", "テスト", "アプリ"};
constexpr std::string_view katakana[]{"ア", "イ", "ウ", "エ", "オ", "カ", "キ", "ク", "ケ", "コ", "サ", "シ", "ス",
                                      "セ", "ソ", "タ", "チ", "ツ", "テ", "ト", "ナ", "ニ", "ネ", "ノ", "ハ", "ヒ",
                                      "フ", "ヘ", "マ", "ミ", "ム", "メ", "ラ", "リ", "ル", "レ", "ロ"};
constexpr std::string_view endings[]{"を", "が", "に", "で", "の", "は", "と", "も"};

}  // namespace

drawn::drawn() {
  std::mt19937_64 by(7);
  english_.reserve(vocabulary);
  japanese_.reserve(vocabulary);
  for (std::size_t i = 0; i < vocabulary; ++i) {
    std::string word;
    for (std::size_t syllables = 1 + by() % 3 + (i > 500 ? 1 : 0); syllables > 0; --syllables) {
      word += consonants[by() % std::size(consonants)];
      word += vowels[by() % std::size(vowels)];
    }
    english_.push_back(std::move(word));
    std::string compound(parts[by() % std::size(parts)]);
    if (i > 60) compound += parts[by() % std::size(parts)];
    if (i > 3000) compound += parts[by() % std::size(parts)];
    // Most words are no compounds of a few; MeCab takes what it does not know in katakana for one.
    if (i % 10 >= 3) {
      compound.clear();
      for (std::size_t morae = 3 + by() % 4; morae > 0; --morae) compound += katakana[by() % std::size(katakana)];
    }
    japanese_.push_back(std::move(compound));
  }
  double sum = 0;
  sums_.reserve(vocabulary);
  for (std::size_t i = 0; i < vocabulary; ++i) {
    sum += 1 / std::pow(static_cast<double>(i) + 2.7, 1.07);
    sums_.push_back(sum);
  }
}

const std::string& drawn::word(std::mt19937_64& by, bool is_japanese) const {
  const double at = std::uniform_real_distribution<double>(0, sums_.back())(by);
  const auto which = static_cast<std::size_t>(std::lower_bound(sums_.begin(), sums_.end(), at) - sums_.begin());
  const auto& words = is_japanese ? japanese_ : english_;
  return words[std::min(which, words.size() - 1)];
}

std::string drawn::text(std::uint64_t number, std::size_t passages) const {
  std::mt19937_64 by(number * 2654435761u + 1);
  const bool is_japanese = number % 2 == 0;
  std::string out = "# " + word(by, is_japanese) + ' ' + std::to_string(number) + "\n";
  for (std::size_t part = 0; part < passages; ++part) {
    out += "\n## " + word(by, is_japanese) + (is_japanese ? "" : " ") + word(by, is_japanese) + "\n\n";
    for (std::size_t sentence = 0; sentence < 12; ++sentence) {
      for (std::size_t i = 0; i < (is_japanese ? 5u : 12u); ++i) {
        out += word(by, is_japanese);
        out += is_japanese ? endings[by() % std::size(endings)] : " ";
      }
      out += is_japanese ? "する。" : "end. ";
    }
    out += '\n';
  }
  return out;
}

std::string drawn::query(std::uint64_t number) const {
  std::mt19937_64 by(number * 40503u + 99);
  const bool is_japanese = number % 2 == 0;
  std::string out;
  for (std::size_t count = 1 + by() % 4; count > 0; --count) out += (out.empty() ? "" : " ") + word(by, is_japanese);
  return out;
}

namespace {

/// Draws each text when it is read, so that it costs no memory.
class source final : public hondana::provider, public hondana::entry_source {
 public:
  source(const drawn& by, std::size_t count, std::size_t passages, std::uint64_t version)
      : by_(by), count_(count), passages_(passages), version_(version) {}
  [[nodiscard]] std::string name() const override { return "drawn"; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {"drawn:///"}; }
  [[nodiscard]] hondana::scheme_documentation documentation() const override {
    return {"drawn", "Drawn texts.", {{"text", "One"}}, {{"drawn:///{n}.md", "One"}}};
  }
  [[nodiscard]] hondana::provider_traits traits() const noexcept override { return {.never_blocks = true}; }
  [[nodiscard]] hondana::result<hondana::list_result> list(const hondana::list_request& request) override {
    hondana::list_result out;
    for (std::size_t i = 0; i < count_; ++i) {
      auto uri = uri_of(i);
      if (hondana::compare_by_segment(uri, request.after_key) <= 0) continue;
      if (out.entries.size() == request.limit) {
        out.next_key = out.entries.back().uri;
        break;
      }
      out.entries.push_back(entry_of(std::move(uri)));
    }
    return out;
  }
  [[nodiscard]] hondana::result<hondana::read_result> read(const hondana::read_request& request) override {
    const auto number = std::stoull(request.uri.substr(10));
    auto out =
        hondana::text_read_result(by_.text(number, passages_) + "\nversion" + std::to_string(version_) + '\n', "text/markdown");
    out.version = std::to_string(version_);
    return out;
  }
  [[nodiscard]] hondana::result<hondana::resource> describe(const hondana::describe_request& request) override {
    return entry_of(request.uri);
  }

 private:
  /// Seven digits, so that the order of numbers is that of URIs.
  static std::string uri_of(std::size_t number) {
    auto digits = std::to_string(number);
    return "drawn:///" + std::string(7 - digits.size(), '0') + digits + ".md";
  }
  [[nodiscard]] hondana::resource entry_of(std::string uri) const {
    hondana::resource out;
    out.name = uri.substr(9);
    out.uri = std::move(uri);
    out.mime_type = "text/markdown";
    out.version = std::to_string(version_);
    return out;
  }
  const drawn& by_;
  const std::size_t count_;
  const std::size_t passages_;
  const std::uint64_t version_;
};

}  // namespace

std::shared_ptr<hondana::provider> source_of(const drawn& by, std::size_t count, std::size_t passages, std::uint64_t version) {
  return std::make_shared<source>(by, count, passages, version);
}

}  // namespace search_bench
