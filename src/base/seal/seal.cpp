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
constexpr std::size_t mac_bytes = 32;
constexpr std::size_t header_bytes = 1 + 8;
constexpr std::size_t min_key_bytes = 32;

void append_number(std::string& out, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>((number >> shift) & 0xFF));
}

std::uint64_t read_number(std::string_view input) {
  std::uint64_t number = 0;
  for (const char c : input.substr(0, 8)) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

void append_part(std::string& out, std::string_view part) {
  append_number(out, part.size());  // length prefixes make the concatenation unambiguous
  out += part;
}

std::uint64_t seconds_of(clock::time_point time) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
}

const std::uint8_t* as_octets(std::string_view text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

/// HMAC over all bound data. Uses Nettle, because libcrypto would add 3.3 MB of memory to every process.
std::string compute_mac(const std::string& key, std::string_view header, std::string_view text, const binding& context) {
  std::string message;
  append_part(message, header);
  append_part(message, context.caller);
  append_part(message, context.method);
  append_part(message, context.parameters);
  append_part(message, text);
  hmac_sha256_ctx hmac;
  hmac_sha256_set_key(&hmac, key.size(), as_octets(key));
  hmac_sha256_update(&hmac, message.size(), as_octets(message));
  std::array<std::uint8_t, mac_bytes> mac;
  hmac_sha256_digest(&hmac, mac.size(), mac.data());
  return {reinterpret_cast<const char*>(mac.data()), mac.size()};
}

/// Deterministic authenticated encryption (SIV), which needs no unique nonce. Source: RFC 5297.
class siv_cipher {
 public:
  explicit siv_cipher(const std::string& key) {
    std::array<std::uint8_t, SIV_CMAC_AES256_KEY_SIZE> derived;
    static_assert(derived.size() == 2 * mac_bytes);
    for (std::size_t half = 0; half < 2; ++half) {
      const auto mac = compute_mac(key, "hide", half == 0 ? "1" : "2", {});
      std::memcpy(derived.data() + half * mac_bytes, mac.data(), mac_bytes);
    }
    siv_cmac_aes256_set_key(&context_, derived.data());
  }

  std::string encrypt(std::string_view text, std::string_view associated_data) const {
    std::string encrypted(text.size() + SIV_DIGEST_SIZE, '\0');
    siv_cmac_aes256_encrypt_message(&context_, nonce.size(), nonce.data(), associated_data.size(), as_octets(associated_data),
                                    encrypted.size(), reinterpret_cast<std::uint8_t*>(encrypted.data()), as_octets(text));
    return encrypted;
  }

  std::optional<std::string> decrypt(std::string_view encrypted, std::string_view associated_data) const {
    if (encrypted.size() < SIV_DIGEST_SIZE) return {};
    std::string text(encrypted.size() - SIV_DIGEST_SIZE, '\0');
    const int is_authentic = siv_cmac_aes256_decrypt_message(
        &context_, nonce.size(), nonce.data(), associated_data.size(), as_octets(associated_data), text.size(),
        reinterpret_cast<std::uint8_t*>(text.data()), as_octets(encrypted));
    return is_authentic == 1 ? std::optional(std::move(text)) : std::nullopt;
  }

 private:
  static constexpr std::array<std::uint8_t, 1> nonce{0};
  siv_cmac_aes256_ctx context_;
};

tl::unexpected<failure> reject(const char* reason) {
  return fail(errc::invalid_argument, std::string("requestState: ") + reason + ". Start again without requestState.");
}

}  // namespace

result<std::shared_ptr<const sealer>> sealer::with_key(std::string key) {
  if (key.size() < min_key_bytes) {
    return fail(errc::invalid_argument, "The key for request states has " + std::to_string(key.size()) +
                                            " bytes; at least 32 random bytes are required.");
  }
  return std::shared_ptr<const sealer>(new sealer(std::move(key)));
}

result<std::shared_ptr<const sealer>> sealer::with_random_key() {
  auto key = bytes::random_bytes(min_key_bytes);
  if (!key) return fail(errc::internal, "No random key for request states could be generated.", key.error().private_text);
  return std::shared_ptr<const sealer>(new sealer(std::move(*key)));
}

result<std::string> sealer::seal(const value& content, const binding& context, clock::time_point expires_at) const {
  const auto text = content.to_text();
  if (text.size() > max_bytes) {
    return fail(errc::invalid_argument, "The state of a request may have at most " + std::to_string(max_bytes) +
                                            " bytes as JSON; this one has " + std::to_string(text.size()) + ".");
  }
  std::string sealed(1, version);
  append_number(sealed, seconds_of(expires_at));
  const auto mac = compute_mac(key_, sealed, text, context);
  return json::encode_base64url(sealed + mac + text);
}

result<value> sealer::unseal(std::string_view sealed, const binding& context, clock::time_point now) const {
  constexpr std::size_t max_encoded_bytes = (header_bytes + mac_bytes + max_bytes + 2) / 3 * 4;
  const auto decoded = sealed.size() <= max_encoded_bytes ? json::decode_base64url(sealed) : std::nullopt;
  if (!decoded || decoded->size() < header_bytes + mac_bytes || decoded->front() != version)
    return reject("not issued by this server");
  const std::string_view content(*decoded);
  const auto header = content.substr(0, header_bytes);
  const auto mac = content.substr(header_bytes, mac_bytes);
  const auto text = content.substr(header_bytes + mac_bytes);
  const auto expected = compute_mac(key_, header, text, context);
  if (memeql_sec(expected.data(), mac.data(), mac_bytes) == 0) {
    return reject("not issued for this request");
  }
  if (read_number(header.substr(1)) <= seconds_of(now)) return reject("expired");
  return value::parse(text);
}

std::string sealer::encrypt(std::string_view text, std::string_view associated_data) const {
  constexpr std::size_t block = 64;
  std::string padded;
  append_part(padded, text);
  padded.resize((padded.size() + block - 1) / block * block, '\0');
  return siv_cipher(key_).encrypt(padded, associated_data);
}

std::optional<std::string> sealer::decrypt(std::string_view encrypted, std::string_view associated_data) const {
  auto padded = siv_cipher(key_).decrypt(encrypted, associated_data);
  if (!padded || padded->size() < sizeof(std::uint64_t)) return {};
  const auto size = read_number(*padded);
  if (size > padded->size() - sizeof(std::uint64_t)) return {};
  return padded->substr(sizeof(std::uint64_t), static_cast<std::size_t>(size));
}

}  // namespace hondana::seal
