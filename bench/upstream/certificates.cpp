// Next file: double_server.cpp.
#include <bench/upstream/certificates.hpp>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace hearonce::upstream {

namespace {

template <auto Free>
struct freed {
    template <class T>
    void operator()(T* one) const noexcept {
        Free(one);
    }
};
using key_pair = std::unique_ptr<EVP_PKEY, freed<EVP_PKEY_free>>;
using certificate = std::unique_ptr<X509, freed<X509_free>>;

struct signer {
    key_pair key;
    certificate shown;
};

constexpr long day_seconds = 24L * 3600;

void name_subject(X509* of, const char* common_name) {
    X509_NAME_add_entry_by_txt(X509_get_subject_name(of), "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(common_name), -1, -1,
                               0);
}

// Good from a day before `until_seconds` (from now) on. Signs itself without an issuer.
signer make(const char* common_name, const std::vector<std::pair<int, std::string>>& extensions, long until_seconds, const signer* issuer) {
    signer made{key_pair(EVP_EC_gen("P-256")), certificate(X509_new())};
    if (!made.key || !made.shown) throw std::runtime_error("OpenSSL makes no key");
    X509* to = made.shown.get();
    X509_set_version(to, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(to), issuer == nullptr ? 1 : 2);
    X509_gmtime_adj(X509_getm_notBefore(to), until_seconds - 2 * day_seconds);
    X509_gmtime_adj(X509_getm_notAfter(to), until_seconds);
    X509_set_pubkey(to, made.key.get());
    name_subject(to, common_name);
    X509_set_issuer_name(to, X509_get_subject_name(issuer == nullptr ? to : issuer->shown.get()));
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer == nullptr ? to : issuer->shown.get(), to, nullptr, nullptr, 0);
    for (const auto& [kind, text] : extensions) {
        const std::unique_ptr<X509_EXTENSION, freed<X509_EXTENSION_free>> one(X509V3_EXT_conf_nid(nullptr, &context, kind, text.c_str()));
        if (!one || X509_add_ext(to, one.get(), -1) != 1) throw std::runtime_error("OpenSSL refuses an extension");
    }
    if (X509_sign(to, issuer == nullptr ? made.key.get() : issuer->key.get(), EVP_sha256()) == 0)
        throw std::runtime_error("OpenSSL does not sign");
    return made;
}

template <class Write>
std::string pem_of(Write write) {
    const std::unique_ptr<BIO, freed<BIO_free>> memory(BIO_new(BIO_s_mem()));
    if (!memory || write(memory.get()) != 1) throw std::runtime_error("OpenSSL writes no PEM");
    char* data = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

signer authority(const char* name) {
    return make(name,
                {{NID_basic_constraints, "critical,CA:TRUE"},
                 {NID_key_usage, "critical,keyCertSign,cRLSign"},
                 {NID_subject_key_identifier, "hash"}},
                day_seconds, nullptr);
}

}  // namespace

tls_material make_tls_material(tls_kind kind) {
    const auto shown = authority("upstream double CA");
    const auto other = authority("another CA");
    const std::string names = kind == tls_kind::wrong_host ? "DNS:elsewhere.invalid" : "DNS:localhost,IP:127.0.0.1,IP:::1";
    const auto server = make(
        "upstream double", {{NID_basic_constraints, "critical,CA:FALSE"}, {NID_subject_alt_name, names}, {NID_ext_key_usage, "serverAuth"}},
        kind == tls_kind::expired ? -60 : day_seconds, kind == tls_kind::other_ca ? &other : &shown);
    return {pem_of([&](BIO* to) { return PEM_write_bio_X509(to, shown.shown.get()); }),
            pem_of([&](BIO* to) { return PEM_write_bio_X509(to, server.shown.get()); }),
            pem_of([&](BIO* to) { return PEM_write_bio_PrivateKey(to, server.key.get(), nullptr, nullptr, 0, nullptr, nullptr); })};
}

}  // namespace hearonce::upstream
