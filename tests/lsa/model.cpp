/// Weighs words, and finds the directions in which texts differ most.
#include "lsa/model.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <Eigen/Dense>
#include <Eigen/SparseCore>

#include "lsa/words.hpp"

namespace lsa {
namespace {

using dense = Eigen::MatrixXf;
using sparse = Eigen::SparseMatrix<float, Eigen::RowMajor>;

constexpr std::size_t beyond = 12;   // directions that are looked at and not kept
constexpr int rounds = 3;            // that make the strong ones stronger
constexpr std::size_t many = 2'000;  // texts, from which on a word must be in two of them
constexpr std::uint64_t seed = 0x9E3779B97F4A7C15;

/// The same numbers with every compiler (SplitMix64, and the sum of twelve for a bell).
class numbers {
 public:
  explicit numbers(std::uint64_t from) noexcept : state_(from) {}
  float next() noexcept {
    float sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<float>(bits() >> 40) * 0x1p-24F;
    return sum;
  }

 private:
  std::uint64_t bits() noexcept {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  std::uint64_t state_;
};

using counts = std::map<std::string, float>;

counts counts_of(std::string_view text) {
  counts out;
  for (auto& word : words_of(text)) out[std::move(word)] += 1;
  return out;
}

struct weighed_word {
  int column = 0;
  float weight = 0;
};
using vocabulary = std::unordered_map<std::string, weighed_word>;

/// One minus how evenly a word is spread: of one that is everywhere nothing is left.
vocabulary vocabulary_of(const std::vector<counts>& texts) {
  struct spread {
    double all = 0;
    double terms = 0;  // the sum of n log n
    std::size_t texts = 0;
  };
  std::map<std::string, spread> of;
  for (const auto& one : texts) {
    for (const auto& [word, count] : one) {
      auto& its = of[word];
      its.all += count;
      its.terms += count * std::log(count);
      ++its.texts;
    }
  }
  const std::size_t least = texts.size() >= many ? 2 : 1;
  const double most = std::log(static_cast<double>(std::max<std::size_t>(texts.size(), 2)));
  vocabulary out;
  for (const auto& [word, its] : of) {
    if (its.texts < least) continue;
    const double entropy = std::log(its.all) - its.terms / its.all;
    const auto weight = static_cast<float>(1 - entropy / most);
    if (weight > 1e-3F) out.emplace(word, weighed_word{static_cast<int>(out.size()), weight});
  }
  return out;
}

dense orthonormal(const dense& from) {
  const Eigen::HouseholderQR<dense> by(from);
  return by.householderQ() * dense::Identity(from.rows(), std::min(from.rows(), from.cols()));
}

/// The right singular vectors of the strongest values, a word a row.
dense strongest(const sparse& texts, std::size_t k) {
  const auto rank = std::min<Eigen::Index>(static_cast<Eigen::Index>(k + beyond), std::min(texts.rows(), texts.cols()));
  if (rank == 0) return dense::Zero(texts.cols(), static_cast<Eigen::Index>(k));
  dense draw(texts.cols(), rank);
  numbers from(seed);
  for (Eigen::Index i = 0; i < draw.size(); ++i) draw.data()[i] = from.next();
  const sparse turned = texts.transpose();
  dense words = orthonormal(turned * orthonormal(texts * draw));
  for (int i = 0; i < rounds; ++i) words = orthonormal(turned * orthonormal(texts * words));
  const dense small = texts * words;
  const Eigen::SelfAdjointEigenSolver<dense> solved(small.transpose() * small);
  // The weakest come first.
  const auto kept = std::min<Eigen::Index>(static_cast<Eigen::Index>(k), rank);
  dense out = dense::Zero(texts.cols(), static_cast<Eigen::Index>(k));
  out.leftCols(kept) = (words * solved.eigenvectors()).rightCols(kept).rowwise().reverse();
  return out;
}

}  // namespace

struct model::state {
  vocabulary known;
  dense directions;
};

model::model(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
model::~model() = default;

std::shared_ptr<const model> model::of(const std::vector<std::string>& texts, std::size_t k) {
  std::vector<counts> counted;
  counted.reserve(texts.size());
  for (const auto& one : texts) counted.push_back(counts_of(one));
  auto made = std::make_unique<state>();
  made->known = vocabulary_of(counted);
  std::vector<Eigen::Triplet<float>> entries;
  for (std::size_t row = 0; row < counted.size(); ++row) {
    const auto first = entries.size();
    float square = 0;
    for (const auto& [word, count] : counted[row]) {
      const auto found = made->known.find(word);
      if (found == made->known.end()) continue;
      const float value = found->second.weight * std::log1p(count);
      entries.emplace_back(static_cast<int>(row), found->second.column, value);
      square += value * value;
    }
    // A long text says no more than a short one.
    for (auto i = first; i < entries.size(); ++i)
      entries[i] = {entries[i].row(), entries[i].col(), entries[i].value() / std::sqrt(square)};
  }
  sparse all(static_cast<Eigen::Index>(texts.size()), static_cast<Eigen::Index>(made->known.size()));
  all.setFromTriplets(entries.begin(), entries.end());
  made->directions = strongest(all, k);
  return std::shared_ptr<const model>(new model(std::move(made)));
}

std::vector<std::string> sections_of(std::string_view markdown) {
  std::vector<std::string> out;
  std::string section;
  while (!markdown.empty()) {
    const auto line = markdown.substr(0, markdown.find('\n'));
    if (line.starts_with('#') && section.find_first_not_of(" \n\r") != std::string::npos)
      out.push_back(std::exchange(section, {}));
    section.append(line).append(1, '\n');
    markdown.remove_prefix(std::min(line.size() + 1, markdown.size()));
  }
  if (section.find_first_not_of(" \n\r") != std::string::npos) out.push_back(std::move(section));
  return out;
}

std::shared_ptr<const model> model::of_folder(const std::string& folder, std::size_t k) {
  std::vector<std::filesystem::path> files;
  for (const auto& one : std::filesystem::recursive_directory_iterator(folder)) {
    if (one.is_regular_file() && one.path().extension() == ".md") files.push_back(one.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const auto& one : files) {
    std::ifstream in(one, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + one.string());
    for (auto& section : sections_of(std::string(std::istreambuf_iterator<char>(in), {}))) texts.push_back(std::move(section));
  }
  return of(texts, k);
}

vector model::embed(std::string_view text) const {
  Eigen::RowVectorXf sum = Eigen::RowVectorXf::Zero(state_->directions.cols());
  std::uint64_t own = seed;
  for (const auto& [word, count] : counts_of(text)) {
    for (const char c : word) own = (own ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    const auto found = state_->known.find(word);
    if (found == state_->known.end()) continue;
    sum += found->second.weight * std::log1p(count) * state_->directions.row(found->second.column);
  }
  if (!(sum.norm() > 1e-6F)) {
    numbers from(own);
    for (Eigen::Index i = 0; i < sum.size(); ++i) sum[i] = from.next();
  }
  sum.normalize();
  return {sum.data(), sum.data() + sum.size()};
}

std::size_t model::dimension() const noexcept { return static_cast<std::size_t>(state_->directions.cols()); }
std::size_t model::words() const noexcept { return state_->known.size(); }

}  // namespace lsa
