// A certificate made for one test: its own authority, good for one host name for an hour.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <stdexcept>
#include <string>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace hearonce::test {

struct certificate {
    std::string pem;
    std::string key_pem;
};

// `host`: "DNS:localhost" or "IP:127.0.0.1". Good until `good_seconds` from now, from an hour before that; negative: expired.
inline certificate make_certificate(const std::string& host, long good_seconds = 3600) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), &X509_free);
    if (!key || !made) throw std::runtime_error("no certificate");
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), good_seconds - 3660);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), good_seconds);
    X509_set_pubkey(made.get(), key.get());
    X509_NAME* name = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
    X509_set_issuer_name(made.get(), name);
    for (const auto& [kind, text] :
         {std::pair(NID_basic_constraints, std::string("critical,CA:TRUE")), std::pair(NID_subject_alt_name, host)}) {
        const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
            X509V3_EXT_conf_nid(nullptr, nullptr, kind, text.c_str()), &X509_EXTENSION_free);
        X509_add_ext(made.get(), extension.get(), -1);
    }
    if (X509_sign(made.get(), key.get(), EVP_sha256()) == 0) throw std::runtime_error("no signature");
    const auto text_of = [](auto write) {
        const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), &BIO_free);
        write(memory.get());
        char* data = nullptr;
        const long size = BIO_get_mem_data(memory.get(), &data);
        return std::string(data, static_cast<std::size_t>(size));
    };
    return {text_of([&](BIO* to) { PEM_write_bio_X509(to, made.get()); }),
            text_of([&](BIO* to) { PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr); })};
}

inline std::unique_ptr<boost::asio::ssl::context> server_context(const certificate& shown) {
    auto context = std::make_unique<boost::asio::ssl::context>(boost::asio::ssl::context::tls_server);
    context->use_certificate_chain(boost::asio::buffer(shown.pem));
    context->use_private_key(boost::asio::buffer(shown.key_pem), boost::asio::ssl::context::pem);
    return context;
}

}  // namespace hearonce::test
