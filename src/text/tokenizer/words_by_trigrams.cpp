/// Words without a dictionary.
#include "text/tokenizer/grams.hpp"
#include "text/tokenizer/pool.hpp"
#include "text/tokenizer/runs.hpp"
#include "text/tokenizer/tokens.hpp"

namespace hondana::tokenizer {
namespace {

class trigram_cutter final : public japanese_cutter {
 public:
  void cut(found& into, std::size_t begin, std::size_t end) override { add_trigrams(into, begin, end); }
};

class by_trigrams final : public tokenizer {
 public:
  [[nodiscard]] std::vector<token> tokens_of(std::string_view text, purpose what_for) const override {
    const auto stems = stemmers_.take([] { return std::make_unique<stemmer>(); });
    trigram_cutter japanese;
    return cut_text(text, what_for, japanese, *stems);
  }
  [[nodiscard]] const std::string& id() const noexcept override { return id_; }
  [[nodiscard]] const std::string& description() const noexcept override { return description_; }

 private:
  mutable pool<stemmer> stemmers_{};
  std::string id_ = "trigrams-1";
  std::string description_ = "runs of three characters, without a dictionary";
};

}  // namespace

std::shared_ptr<const tokenizer> words_by_trigrams() { return std::make_shared<by_trigrams>(); }

}  // namespace hondana::tokenizer
