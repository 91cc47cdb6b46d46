/// How the key is made and checks.
#include "drive/stand_in/account_key.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <memory>
#include <stdexcept>

#include "drive/stand_in/web.hpp"

namespace drive_test {

const account_key& account_key::get() {
  static const account_key one;
  return one;
}

account_key::account_key() {
  EVP_PKEY* const key = EVP_RSA_gen(2048);
  if (key == nullptr) throw std::runtime_error("no key can be made");
  key_ = key;
  const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), &BIO_free);
  PEM_write_bio_PrivateKey(out.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  char* text = nullptr;
  const auto size = BIO_get_mem_data(out.get(), &text);
  pem_.assign(text, static_cast<std::size_t>(size));
  id_ = digest("sha1", pem_);
}

bool account_key::verifies(std::string_view text, std::string_view signature) const {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> state(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  return EVP_DigestVerifyInit(state.get(), nullptr, EVP_sha256(), nullptr, static_cast<EVP_PKEY*>(key_)) == 1 &&
         EVP_DigestVerify(state.get(), reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
}

}  // namespace drive_test
