/// Reading tokens from files.
#include "app/cli/target/token_in_file.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "base/bytes/token68.hpp"
#include "os/disk/private_file.hpp"

namespace hondana::cli {
namespace {

constexpr std::size_t most_token_bytes = 16u << 10;
constexpr std::string_view place_of_standard_input = "-";

result<std::string> read_input() {
  std::string out;
  std::array<char, 4096> piece{};
  while (out.size() <= most_token_bytes) {
    const auto count = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(errc::source_unavailable, std::string("cannot read standard input: ") + std::strerror(errno));
    if (count == 0) return out;
    out.append(piece.data(), static_cast<std::size_t>(count));
  }
  return fail(errc::response_too_large, "standard input contains more than one token");
}

/// What it holds is never repeated, whatever it is.
result<std::string> read_token(const std::string& path) {
  const bool is_input = path == place_of_standard_input;
  auto text = is_input ? read_input() : [&path]() -> result<std::string> {
    HONDANA_TRY(auto read, disk::read_private(path, most_token_bytes));
    return std::move(read.bytes);
  }();
  if (!text) return text;
  constexpr std::string_view blanks = " \t\r\n";
  const auto begin = text->find_first_not_of(blanks);
  std::string token =
      begin == std::string::npos ? std::string() : text->substr(begin, text->find_last_not_of(blanks) + 1 - begin);
  if (bytes::is_token68(token)) return token;
  return fail(errc::invalid_argument, (is_input ? "standard input" : path) + (token.empty() ? " is empty" : " is not a token") +
                                          "; it must contain one token and nothing else");
}

class file_tokens final : public token_source {
 public:
  file_tokens(std::string path, std::string first) : path_(std::move(path)), now_(std::move(first)) {}

  std::optional<std::string> token() override {
    const std::lock_guard lock(mutex_);
    return now_;
  }

  result<void> obtain(const refused_token& why, const std::stop_token&) override {
    const bool is_input = path_ == place_of_standard_input;
    if (!is_input) {
      HONDANA_TRY(auto fresh, read_token(path_));
      const std::lock_guard lock(mutex_);
      now_ = std::move(fresh);
      if (now_ != why.token) return {};
    }
    return fail(errc::unauthorized,
                "the server rejects the token " + (is_input ? "of standard input" : "in " + path_ + "; replace it"));
  }

 private:
  const std::string path_;
  std::mutex mutex_;
  std::string now_;
};

}  // namespace

result<std::shared_ptr<token_source>> token_in_file(const std::string& path) {
  HONDANA_TRY(auto first, read_token(path));
  return std::make_shared<file_tokens>(path, std::move(first));
}

}  // namespace hondana::cli
