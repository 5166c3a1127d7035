// Next file: session.cpp.
#include <bench/upstream/double_server.hpp>

#include <bench/upstream/certificates.hpp>
#include <bench/upstream/loop.hpp>
#include <bench/upstream/session.hpp>

#include <server/tls.hpp>

#include <boost/asio/ssl/context.hpp>

#include <stdexcept>
#include <utility>

namespace hearonce::upstream {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

class double_server::inside {
public:
    explicit inside(settings wanted) : home(std::move(wanted)) {
        if (home.how.tls) make_tls(*home.how.tls);
        for (unsigned index = 0; index < std::max(1U, home.how.threads); ++index) loops.push_back(std::make_unique<loop>(home));
        port = loops.front()->listen(home.how.listen, loops, context ? context->native_handle() : nullptr);
        for (auto& one : loops) one->start();
    }
    ~inside() {
        for (auto& one : loops) one->stop();
        for (auto& one : loops) one->join();
    }
    inside(const inside&) = delete;
    inside& operator=(const inside&) = delete;

    void make_tls(tls_kind kind) {
        const auto made = make_tls_material(kind);
        ca_pem = made.ca_pem;
        context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
        context->use_certificate_chain(asio::buffer(made.pem));
        context->use_private_key(asio::buffer(made.key_pem), asio::ssl::context::pem);
    }

    house home;
    std::string ca_pem;
    std::unique_ptr<asio::ssl::context> context;
    std::vector<std::unique_ptr<loop>> loops;
    std::uint16_t port = 0;
};

namespace {

void expect(const result<void>& done) {
    if (!done) throw std::invalid_argument(std::string(done.error().message()));
}

}  // namespace

double_server::double_server(settings how) : inside_(std::make_unique<inside>(std::move(how))) {}
double_server::~double_server() = default;

std::uint16_t double_server::port() const noexcept {
    return inside_->port;
}

std::string double_server::url(std::string_view path, std::string_view host) const {
    std::string made = inside_->context ? "https://" : "http://";
    return made.append(host).append(":").append(std::to_string(inside_->port)).append(path);
}

const std::string& double_server::ca_pem() const noexcept {
    return inside_->ca_pem;
}

counts double_server::seen() const {
    return inside_->home.seen.snapshot();
}

bool double_server::wait_until(const std::function<bool(const counts&)>& enough, std::chrono::milliseconds limit) const {
    return inside_->home.seen.wait_until(enough, limit);
}

void double_server::reset() {
    inside_->home.seen.reset();
}

void double_server::script(const std::vector<std::string>& faults) {
    expect(inside_->home.plot.script(faults));
}

void double_server::others(std::string_view fault) {
    expect(inside_->home.plot.others(fault));
}

void double_server::always(std::string_view fault) {
    expect(inside_->home.plot.always(fault));
}

}  // namespace hearonce::upstream
