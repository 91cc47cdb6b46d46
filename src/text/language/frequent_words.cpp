/// Short lists of frequent words and telling characters.
#include "text/language/frequent_words.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "base/ascii/utf8.hpp"

namespace hondana::language {
namespace {

constexpr std::string_view in_english =
    "the of and to in is that it for was on are as with be at this by have from or an not but which you we can will if all has "
    "when what use used how they their been more one would these your should may must into than then only also about its any";
constexpr std::string_view in_german =
    "der die das und ist in den von zu mit sich auf für nicht ein eine als auch es an werden aus er hat dass sie nach wird bei "
    "einer um am sind noch wie einem über so zum kann oder wenn nur durch zur dem des im einen ihr wir man mehr diese dieser "
    "wurde muss können";
constexpr std::string_view in_french =
    "le la les de des et un une est en que qui dans pour pas sur au plus par ce avec il ne se du sont ou mais comme vous nous "
    "elle son sa ses cette aux être fait été peut tout leur si même ces sans votre aussi deux";
constexpr std::string_view in_spanish =
    "el la los las de que y en un una es por con no para del se lo al como más su sus o pero este esta son entre cuando muy "
    "sin "
    "sobre también ser hay fue todo desde está puede nos donde porque si ya esto qué han";
constexpr std::string_view in_italian =
    "il lo la i gli le di e che un una è in per non con del della dei delle da si al alla sono come più anche ma nel nella se "
    "questo questa ha essere o suo tra quando può degli dal dalla cui ai stato su loro ogni";
constexpr std::string_view in_portuguese =
    "o a os as de que e do da em um uma é para com não por no na dos das se ao mais como mas foi à seu sua ou ser quando muito "
    "há nos já está também pelo pela até isso ele entre são você pode este esta seus depois";
constexpr std::string_view in_dutch =
    "de het een en van in is dat op te zijn voor met die niet aan er om ook als dan maar bij nog uit naar door over ze hij "
    "wordt "
    "kan of heeft deze dit worden wij hebben geen moet meer wat je u tot zich werd";
constexpr std::string_view in_swedish =
    "och att det i en som på är av för med den till inte om ett han har de jag var från vid kan så men sig ska eller när man "
    "under också nu efter vi hade alla detta denna blir mycket där skulle mer finns";
constexpr std::string_view words[count_of_told] = {in_english, in_german,     in_french, in_spanish,
                                                   in_italian, in_portuguese, in_dutch,  in_swedish};

constexpr std::string_view letters_of[count_of_told] = {
    "", "äöüß", "éèêàçùûîôœëï", "ñáéíóú¿¡", "àèéìòù", "ãõçáéíóúâêô", "ëïé", "åäö",
};

// 々〆〇 and kokuji, and characters that only Japan simplified so.
constexpr std::string_view japanese =
    "々〆込働畑峠匂枠辻榊凪凧笹籾匁塀搾腺糀気円図駅売読験広県権対応変単価発経済検録様帰歩毎渋渇涙黒徳徴恵拝拠拡挙挟掲"
    "揺摂撃斎斉暁桜栄楽歓歯殴沢浜焼獣瑠畳畔稲穂穏窓竜粛粧絵続総縄繊聴臓荘薬蔵覚観訳説識譲豊転軽辺遅郷鉄銭録鋳関闘陥険"
    "隠雑霊頼顔飲館駆騒髪鶏麦黙齢戻戸両並亀仏仮伝佐児処剰剣剤労勧巻巣帯庁廃弾従悩悪";
// Simplified as in China only, and words of Chinese that Japanese does without.
constexpr std::string_view chinese =
    "这们说吗呢吧没让给还个时为从么怎哪谁很她你您它们啊嘛把被着过对发经济检录图书馆东车马鸟鱼见贝话语请读写买卖钱银铁门"
    "问间闻开关进远运连选过达边动务劳势协单卫历县变号叶听员响园团围国际圆场坏块坚报处备复头夹奋妇实审宽宾导层岁币师带"
    "帮并广庆库应庙废异张弹当彻径态总恶恼惊战户扩扫扬抢护担择损换据断无旧显术机杀权条来极构标样档桥检楼岂汇没泽洁测济"
    "热爱点炼烧电画疗监盖盘码确礼离种积称稳竞笔简类系红约级纪纯纸线组细织终给络绝统继绩续维综绿缓编缩网罗职联聪胜脑艺"
    "节范药获虑虽补装规视览觉训议讯记讲许论设访证评识诉词译试诗话该详误谢课调谈贵费资赛赶跃践轮软较输辑边适遗邮释针钟"
    "链销锁错键镇长閱须项顺顾预领频题额颜风飞饭饮馆驱验骤龙這個們說嗎為從麼誰沒讓給還嘅咗";

struct entry {
  std::string_view word{};
  std::uint8_t where = 0;
};

std::vector<entry> sorted_words() {
  std::vector<entry> out;
  out.reserve(600);
  for (std::size_t i = 0; i < count_of_told; ++i)
    for (auto rest = words[i]; !rest.empty();) {
      const auto end = std::min(rest.find(' '), rest.size());
      out.push_back({rest.substr(0, end), static_cast<std::uint8_t>(1u << i)});
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  std::sort(out.begin(), out.end(), [](const entry& a, const entry& b) { return a.word < b.word; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (kept > 0 && out[kept - 1].word == out[i].word)
      out[kept - 1].where = static_cast<std::uint8_t>(out[kept - 1].where | out[i].where);
    else
      out[kept++] = out[i];
  }
  out.resize(kept);
  return out;
}

bool has(std::string_view list, char32_t which) {
  std::string one;
  ascii::append(one, which);
  // Lists hold whole characters, and no character is within another.
  return list.find(one) != std::string_view::npos;
}

std::vector<char32_t> sorted_characters(std::string_view list) {
  std::vector<char32_t> out;
  out.reserve(list.size() / 3);
  while (!list.empty()) {
    const auto c = ascii::first_character(list);
    out.push_back(c.code);
    list.remove_prefix(c.bytes);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::uint8_t where_frequent(std::string_view word) noexcept {
  // Never destroyed: threads that are left behind at the end of the program may still be in here.
  static const auto& all = *std::make_unique<const std::vector<entry>>(sorted_words()).release();
  const auto at =
      std::lower_bound(all.begin(), all.end(), word, [](const entry& one, std::string_view what) { return one.word < what; });
  return at != all.end() && at->word == word ? at->where : 0;
}

std::uint8_t where_usual(char32_t letter) noexcept {
  std::uint8_t out = 0;
  for (std::size_t i = 0; i < count_of_told; ++i)
    if (has(letters_of[i], letter)) out = static_cast<std::uint8_t>(out | 1u << i);
  return out;
}

int japanese_or_chinese(char32_t han) noexcept {
  static const auto& of_japanese = *std::make_unique<const std::vector<char32_t>>(sorted_characters(japanese)).release();
  static const auto& of_chinese = *std::make_unique<const std::vector<char32_t>>(sorted_characters(chinese)).release();
  return static_cast<int>(std::binary_search(of_japanese.begin(), of_japanese.end(), han)) -
         static_cast<int>(std::binary_search(of_chinese.begin(), of_chinese.end(), han));
}

}  // namespace hondana::language
