// Next file: connection.cpp.
#include <net/tls.hpp>

namespace hearonce::net {

boost::system::result<tls_context, std::string> make_tls_context(const std::optional<std::filesystem::path>& ca_file) {
    namespace ssl = boost::asio::ssl;
    auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
    boost::system::error_code ec;
    context->set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1, ec);
    if (!ec) context->set_verify_mode(ssl::verify_peer, ec);
    if (ec) return "TLS cannot be set up: " + ec.message();
    if (ca_file) {
        context->load_verify_file(ca_file->string(), ec);
        if (ec) return ca_file->string() + " holds no certificate authority that can be read: " + ec.message();
    } else {
        context->set_default_verify_paths(ec);
        if (ec) return "the system's certificate store cannot be read: " + ec.message();
    }
    return context;
}

}  // namespace hearonce::net
