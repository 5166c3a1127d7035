// Certificates made on the spot, and a client that speaks TLS and nothing else. Blocking.
//
// Holds: certificate_files, tls_client.
#pragma once

#include <support/raw_client.hpp>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hearonce::test {

// A self-signed certificate for `name` and its key, in a folder of its own that goes with it.
class certificate_files {
public:
    explicit certificate_files(const std::string& name) {
        std::string pattern = (std::filesystem::temp_directory_path() / "hearonce-tls-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
        folder_ = pattern;
        make(name);
    }
    ~certificate_files() { std::filesystem::remove_all(folder_); }
    certificate_files(const certificate_files&) = delete;
    certificate_files& operator=(const certificate_files&) = delete;

    std::string certificate() const { return folder_ / "certificate.pem"; }
    std::string key() const { return folder_ / "key.pem"; }

    // Another certificate and key in the same files.
    void make(const std::string& name) {
        std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> pair(EVP_EC_gen("P-256"), EVP_PKEY_free);
        std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), X509_free);
        ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
        X509_gmtime_adj(X509_getm_notBefore(made.get()), -60);
        X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
        X509_set_pubkey(made.get(), pair.get());
        auto* subject = X509_get_subject_name(made.get());
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
        X509_set_issuer_name(made.get(), subject);
        X509_sign(made.get(), pair.get(), EVP_sha256());
        std::unique_ptr<std::FILE, int (*)(std::FILE*)> one(std::fopen(certificate().c_str(), "w"), std::fclose);
        PEM_write_X509(one.get(), made.get());
        std::unique_ptr<std::FILE, int (*)(std::FILE*)> other(std::fopen(key().c_str(), "w"), std::fclose);
        PEM_write_PrivateKey(other.get(), pair.get(), nullptr, nullptr, 0, nullptr, nullptr);
    }

private:
    std::filesystem::path folder_;
};

// TLS over a raw_client's socket; check connected() first.
class tls_client {
public:
    explicit tls_client(std::uint16_t port, int version_max = 0) : wire_(port), context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
        timeval limit{10, 0};
        ::setsockopt(wire_.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        SSL_CTX_set_options(context_.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
        if (version_max != 0) {
            SSL_CTX_set_min_proto_version(context_.get(), version_max);
            SSL_CTX_set_max_proto_version(context_.get(), version_max);
            SSL_CTX_set_security_level(context_.get(), 0);
        }
        session_.reset(SSL_new(context_.get()));
        SSL_set_fd(session_.get(), wire_.descriptor());
        connected_ = SSL_connect(session_.get()) == 1;
        ERR_clear_error();
    }

    bool connected() const noexcept { return connected_; }
    raw_client& wire() noexcept { return wire_; }
    std::string server_name() const {
        std::unique_ptr<X509, decltype(&X509_free)> shown(SSL_get1_peer_certificate(session_.get()), X509_free);
        char name[64] = {};
        if (shown) X509_NAME_get_text_by_NID(X509_get_subject_name(shown.get()), NID_commonName, name, sizeof name);
        return name;
    }
    bool send(std::string_view bytes) {
        std::size_t sent = 0;
        return bytes.empty() || SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &sent) == 1;
    }
    // Everything up to `size` bytes; less: the server ended.
    std::string receive(std::size_t size) {
        std::string got;
        while (got.size() < size) {
            char buffer[16384];
            std::size_t some = 0;
            if (SSL_read_ex(session_.get(), buffer, std::min(sizeof buffer, size - got.size()), &some) != 1) break;
            got.append(buffer, some);
        }
        return got;
    }
    // Head and body of one answer with Content-Length.
    std::string answer() {
        std::string got;
        while (got.find("\r\n\r\n") == std::string::npos) {
            auto one = receive(1);
            if (one.empty()) return got;
            got += one;
        }
        auto at = got.find("Content-Length: ");
        return at == std::string::npos ? got : got + receive(std::stoul(got.substr(at + 16)));
    }
    // Whether the server said goodbye (close_notify) rather than just going.
    bool ends_politely() {
        char one = 0;
        std::size_t some = 0;
        bool more = SSL_read_ex(session_.get(), &one, 1, &some) == 1;
        return !more && (SSL_get_shutdown(session_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
    }
    void say_goodbye() { SSL_shutdown(session_.get()); }

private:
    raw_client wire_;
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
    struct free_session {
        void operator()(SSL* one) const noexcept { SSL_free(one); }
    };
    std::unique_ptr<SSL, free_session> session_;
    bool connected_ = false;
};

}  // namespace hearonce::test
