/// Drawn texts: documents of an index that is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <hondana/provider.hpp>

namespace search_bench {

/// Words as often as in real texts (Zipf), half of the documents in Japanese. The same number draws the same.
class drawn {
 public:
  drawn();
  /// Markdown of about `passages` sections of some 150 words or 400 characters.
  [[nodiscard]] std::string text(std::uint64_t number, std::size_t passages) const;
  /// One to four words, as people type them.
  [[nodiscard]] std::string query(std::uint64_t number) const;

 private:
  [[nodiscard]] const std::string& word(std::mt19937_64& by, bool is_japanese) const;
  std::vector<std::string> english_;
  std::vector<std::string> japanese_;
  std::vector<double> sums_;
};

/// `count` documents `drawn:///N.md` of version `version`, whose texts tell it.
[[nodiscard]] std::shared_ptr<hondana::provider> source_of(const drawn& by, std::size_t count, std::size_t passages,
                                                           std::uint64_t version);

}  // namespace search_bench
