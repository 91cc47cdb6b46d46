/// Seals small values that pass through a client, so that it cannot change them, share them, or use them after they expire.
#include "base/seal/seal.hpp"

#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/siv-cmac.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/bytes/random_token.hpp"
#include "base/json/base64.hpp"

namespace hondana::seal {
namespace {

constexpr char version = 1;
constexpr std::size_t code_bytes = 32;
constexpr std::size_t head_bytes = 1 + 8;
constexpr std::size_t least_key = 32;

void append_number(std::string& out, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>((number >> shift) & 0xFF));
}

std::uint64_t read_number(std::string_view from) {
  std::uint64_t number = 0;
  for (const char c : from.substr(0, 8)) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

void append_part(std::string& out, std::string_view part) {
  append_number(out, part.size());  // length prefixes make the concatenation unambiguous
  out += part;
}

std::uint64_t seconds_of(clock::time_point when) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(when.time_since_epoch()).count());
}

const std::uint8_t* octets(std::string_view text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

/// HMAC over all bound data. Uses Nettle, because libcrypto would add 3.3 MB of memory to every process.
std::string code_of(const std::string& key, std::string_view head, std::string_view text, const binding& of) {
  std::string all;
  append_part(all, head);
  append_part(all, of.caller);
  append_part(all, of.method);
  append_part(all, of.parameters);
  append_part(all, text);
  hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, key.size(), octets(key));
  hmac_sha256_update(&context, all.size(), octets(all));
  std::array<std::uint8_t, code_bytes> code;
  hmac_sha256_digest(&context, code.size(), code.data());
  return {reinterpret_cast<const char*>(code.data()), code.size()};
}

/// Deterministic authenticated encryption (SIV), which needs no unique nonce. Source: RFC 5297.
class hiding {
 public:
  explicit hiding(const std::string& key) {
    std::array<std::uint8_t, SIV_CMAC_AES256_KEY_SIZE> derived;
    static_assert(derived.size() == 2 * code_bytes);
    for (std::size_t half = 0; half < 2; ++half) {
      const auto code = code_of(key, "hide", half == 0 ? "1" : "2", {});
      std::memcpy(derived.data() + half * code_bytes, code.data(), code_bytes);
    }
    siv_cmac_aes256_set_key(&context_, derived.data());
  }

  std::string close(std::string_view text, std::string_view to) const {
    std::string hidden(text.size() + SIV_DIGEST_SIZE, '\0');
    siv_cmac_aes256_encrypt_message(&context_, nonce.size(), nonce.data(), to.size(), octets(to), hidden.size(),
                                    reinterpret_cast<std::uint8_t*>(hidden.data()), octets(text));
    return hidden;
  }

  std::optional<std::string> open(std::string_view hidden, std::string_view of) const {
    if (hidden.size() < SIV_DIGEST_SIZE) return {};
    std::string text(hidden.size() - SIV_DIGEST_SIZE, '\0');
    const int is_ours =
        siv_cmac_aes256_decrypt_message(&context_, nonce.size(), nonce.data(), of.size(), octets(of), text.size(),
                                        reinterpret_cast<std::uint8_t*>(text.data()), octets(hidden));
    return is_ours == 1 ? std::optional(std::move(text)) : std::nullopt;
  }

 private:
  static constexpr std::array<std::uint8_t, 1> nonce{0};
  siv_cmac_aes256_ctx context_;
};

tl::unexpected<failure> refuse(const char* why) {
  return fail(errc::invalid_argument, std::string("requestState: ") + why + ". Start again without requestState.");
}

}  // namespace

result<std::shared_ptr<const sealer>> sealer::with_key(std::string key) {
  if (key.size() < least_key) {
    return fail(errc::invalid_argument, "The key for request states has " + std::to_string(key.size()) +
                                            " bytes; at least 32 random bytes are required.");
  }
  return std::shared_ptr<const sealer>(new sealer(std::move(key)));
}

result<std::shared_ptr<const sealer>> sealer::with_random_key() {
  auto key = bytes::random_bytes(least_key);
  if (!key) return fail(errc::internal, "No random key for request states could be generated.", key.error().private_text);
  return std::shared_ptr<const sealer>(new sealer(std::move(*key)));
}

result<std::string> sealer::close(const value& what, const binding& to, clock::time_point expires) const {
  const auto text = what.to_text();
  if (text.size() > max_bytes) {
    return fail(errc::invalid_argument, "The state of a request may have at most " + std::to_string(max_bytes) +
                                            " bytes as JSON; this one has " + std::to_string(text.size()) + ".");
  }
  std::string sealed(1, version);
  append_number(sealed, seconds_of(expires));
  const auto code = code_of(key_, sealed, text, to);
  return json::base64url(sealed + code + text);
}

result<value> sealer::open(std::string_view sealed, const binding& of, clock::time_point now) const {
  constexpr std::size_t longest = (head_bytes + code_bytes + max_bytes + 2) / 3 * 4;
  const auto held = sealed.size() <= longest ? json::decode_base64url(sealed) : std::nullopt;
  if (!held || held->size() < head_bytes + code_bytes || held->front() != version) return refuse("not issued by this server");
  const std::string_view all(*held);
  const auto head = all.substr(0, head_bytes);
  const auto code = all.substr(head_bytes, code_bytes);
  const auto text = all.substr(head_bytes + code_bytes);
  const auto expected = code_of(key_, head, text, of);
  if (memeql_sec(expected.data(), code.data(), code_bytes) == 0) {
    return refuse("not issued for this request");
  }
  if (read_number(head.substr(1)) <= seconds_of(now)) return refuse("expired");
  return value::parse(text);
}

std::string sealer::hide(std::string_view text, std::string_view to) const {
  constexpr std::size_t block = 64;
  std::string padded;
  append_part(padded, text);
  padded.resize((padded.size() + block - 1) / block * block, '\0');
  return hiding(key_).close(padded, to);
}

std::optional<std::string> sealer::reveal(std::string_view hidden, std::string_view of) const {
  auto padded = hiding(key_).open(hidden, of);
  if (!padded || padded->size() < sizeof(std::uint64_t)) return {};
  const auto size = read_number(*padded);
  if (size > padded->size() - sizeof(std::uint64_t)) return {};
  return padded->substr(sizeof(std::uint64_t), static_cast<std::size_t>(size));
}

}  // namespace hondana::seal
