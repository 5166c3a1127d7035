// One coroutine: ask, follow, append, verify, rename. What an answer means is decided in app/model_source.cpp.
// Next file: app/model_source.cpp, then app/model_file.cpp.
#include <cli/models_pull.hpp>

#include <app/model_file.hpp>
#include <app/models.hpp>
#include <app/settings.hpp>
#include <cli/commands.hpp>
#include <cli/transfer_line.hpp>
#include <net/one_call.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/signal_set.hpp>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <limits>

namespace hearonce::cli {
namespace {

namespace asio = boost::asio;
using verdict = app::answer_verdict;

constexpr unsigned redirects_max = 5;
constexpr std::uint64_t model_bytes_max = 16 * app::gibibyte;  // The largest that is published has 3.
constexpr std::string_view magic = "lmgg";

// How one try ended.
struct try_end {
    enum class kind : std::uint8_t { whole, again, refused, failed, cancelled };
    kind is = kind::again;
    std::string why;
};

class download {
public:
    explicit download(const pull_options& wanted) : wanted_(wanted), part_(wanted.folder, wanted.name), line_(wanted.name) {}

    asio::awaitable<exit_code> run() {
        co_await asio::this_coro::throw_if_cancelled(false);
        if (!part_.problem().empty()) co_return complain(part_.problem());
        unsigned fruitless = 0;
        for (;;) {
            const auto before = part_.state().bytes;
            auto end = co_await one_try();
            line_.clear();
            if (end.is == try_end::kind::whole) co_return settle();
            if (end.is == try_end::kind::cancelled) co_return interrupted();
            if (end.is == try_end::kind::failed) co_return complain(end.why);
            if (end.is == try_end::kind::refused) co_return refuse(end.why);
            fruitless = part_.state().bytes > before ? 1 : fruitless + 1;
            if (fruitless >= wanted_.attempts) co_return give_up(end.why);
            std::cerr << "hearonce: " << wanted_.name << ": " << end.why << "; trying again\n";
            const bool go_on = co_await pause(fruitless);
            if (!go_on) co_return interrupted();
        }
    }

private:
    asio::awaitable<try_end> one_try() {
        std::string url = wanted_.url;
        for (unsigned hops = 0; hops <= redirects_max; ++hops) {
            complaint_.clear();
            judged_.reset();
            if (hops == 0) sha256_.clear();  // Each try asks anew what the file is: it may have changed.
            line_.begin(part_.state().bytes);
            net::call_request request;
            if (auto ready = prepare(request, url); !ready.empty()) co_return try_end{try_end::kind::failed, ready};
            net::call_limits limits;
            limits.silence = wanted_.stall;
            limits.answer_bytes_max = std::numeric_limits<std::uint64_t>::max();  // take() knows what may come.
            auto answered = co_await net::call(std::move(request), limits);
            if (!complaint_.empty()) co_return try_end{failed_for_good_ ? try_end::kind::failed : try_end::kind::refused, complaint_};
            if (!answered && !(answered.error().sink_stopped && judged_)) {
                const auto& why = answered.error();
                if (why.cancelled) co_return try_end{try_end::kind::cancelled, {}};
                co_return try_end{why.distrusted ? try_end::kind::refused : try_end::kind::again, why.message};
            }
            if (!judged_) judged_ = app::judge_answer(*answered, part_.state());
            if (answered && sha256_.empty()) sha256_ = app::sha256_of_answer(*answered);
            if (judged_->is != verdict::kind::redirect) co_return end_of(*judged_);
            auto next = app::redirect_of(url, judged_->text);
            if (!next.refusal.empty()) co_return try_end{try_end::kind::refused, next.refusal};
            url = std::move(next.url);
        }
        co_return try_end{try_end::kind::refused, "the server redirects without end"};
    }

    std::string prepare(net::call_request& request, const std::string& url) {
        const auto parsed = net::parse_url(url);
        if (!parsed) return url + " is no http or https URL";
        request.url = *parsed;
        request.headers = app::resume_headers(part_.state());
        if (request.url.tls && !tls_) {
            const auto made = net::make_tls_context(wanted_.ca_file);
            if (!made) return made.error();
            tls_ = *made;
        }
        request.tls = tls_;
        request.on_piece = [this](const net::http_answer& head, std::string_view piece) { return take(head, piece); };
        return {};
    }

    // False ends the call; complaint_ then says why, unless it is an error's page, of which nobody needs more.
    bool take(const net::http_answer& head, std::string_view piece) {
        if (!judged_) {
            judged_ = app::judge_answer(head, part_.state());
            if (sha256_.empty()) sha256_ = app::sha256_of_answer(head);
            if (judged_->is == verdict::kind::restart || judged_->is == verdict::kind::append) complaint_ = begin_body(*judged_);
            if (!complaint_.empty()) return false;
        }
        if (judged_->is != verdict::kind::restart && judged_->is != verdict::kind::append) return false;
        const auto most = judged_->whole_bytes.value_or(model_bytes_max);
        if (piece.size() > most - part_.state().bytes) {
            complaint_ = "the server sends more than it announced";
            part_.discard();
            return false;
        }
        if (part_.state().bytes < magic.size()) {
            const auto expected = magic.substr(part_.state().bytes, piece.size());
            if (piece.substr(0, expected.size()) != expected) {
                complaint_ = "what the server sends is no ggml model";
                return false;
            }
        }
        complaint_ = part_.append(piece);
        failed_for_good_ = !complaint_.empty();
        line_.show(part_.state().bytes, judged_->whole_bytes);
        return complaint_.empty();
    }

    std::string begin_body(const verdict& judged) {
        failed_for_good_ = true;
        if (judged.is == verdict::kind::restart) {
            if (auto failed = part_.begin_again(judged.etag); !failed.empty()) return failed;
            line_.begin(0);
        }
        std::error_code unknown;
        const auto room = std::filesystem::space(wanted_.folder, unknown).available;
        const auto left = judged.whole_bytes.value_or(0) - std::min(judged.whole_bytes.value_or(0), part_.state().bytes);
        if (!unknown && left > room)
            return wanted_.folder.string() + ": there is no room for " + std::to_string(left / app::mebibyte + 1) + " MiB, only for " +
                   std::to_string(room / app::mebibyte);
        failed_for_good_ = false;
        if (judged.whole_bytes.value_or(0) > model_bytes_max) return "the server announces more than any model has";
        return {};
    }

    try_end end_of(const verdict& judged) {
        switch (judged.is) {
            case verdict::kind::restart:
            case verdict::kind::append:
                if (part_.state().bytes < magic.size()) return {try_end::kind::refused, "what the server sends is no ggml model"};
                return {try_end::kind::whole, {}};
            case verdict::kind::complete: return {try_end::kind::whole, {}};
            case verdict::kind::discard: {
                auto failed = part_.begin_again({});
                if (!failed.empty()) return {try_end::kind::failed, failed};
                return {try_end::kind::again, "the file on the server has changed"};
            }
            case verdict::kind::again: return {try_end::kind::again, judged.text};
            case verdict::kind::redirect:
            case verdict::kind::refuse: break;
        }
        return {try_end::kind::refused, judged.text};
    }

    // False: the user wants no more.
    asio::awaitable<bool> pause(unsigned fruitless) {
        auto executor = co_await asio::this_coro::executor;
        asio::steady_timer timer(executor, wanted_.pauses[std::min<std::size_t>(fruitless, wanted_.pauses.size()) - 1]);
        constexpr auto use_result = asio::as_tuple(asio::use_awaitable);
        auto [interrupted] = co_await timer.async_wait(use_result);
        co_return !interrupted;
    }

    // Compares with the published hash, else with what the hub says of its own file.
    exit_code settle() {
        const bool by_name = wanted_.known != nullptr && !wanted_.known->sha1.empty();
        const std::string expected(by_name ? wanted_.known->sha1 : std::string_view(sha256_));
        if (!expected.empty()) {
            line_.note(wanted_.name + ": checking");
            const auto got = app::file_digest(part_.part(), by_name ? "SHA1" : "SHA256", [](std::uint64_t) { return true; });
            line_.clear();
            if (got.empty()) return complain(part_.part().string() + ": cannot be read");
            if (got != expected) {
                part_.discard();
                return refuse("the hash of what came is wrong (" + got + " instead of " + expected + "); it was deleted");
            }
        }
        if (auto failed = part_.finish(); !failed.empty()) return complain(failed);
        if (expected.empty()) std::cerr << "hearonce: " << wanted_.name << ": no hash of it is published, so it was not checked\n";
        std::cout << part_.file().string() << '\n';
        return done;
    }

    exit_code refuse(const std::string& why) const {
        std::cerr << "hearonce: " << wanted_.name << ": " << why << '\n';
        return refused;
    }
    exit_code give_up(const std::string& why) const {
        std::cerr << "hearonce: " << wanted_.name << ": " << why << "; given up" << kept() << '\n';
        return broken;
    }
    exit_code interrupted() {
        line_.clear();
        std::cerr << "hearonce: " << wanted_.name << ": cancelled" << kept() << '\n';
        return cancelled;
    }
    std::string kept() const { return part_.state().can_resume() ? "; the next pull goes on where this one ended" : ""; }

    const pull_options& wanted_;
    app::model_part part_;
    transfer_line line_;
    net::tls_context tls_;
    std::string sha256_;  // Of the first answer of a try that names one: behind a redirect speaks another server.
    std::optional<verdict> judged_;
    std::string complaint_;
    bool failed_for_good_ = false;  // The complaint is about this machine, not the server.
};

}  // namespace

exit_code pull(const pull_options& options) {
    asio::io_context loop(1);
    asio::cancellation_signal cancel;
    asio::signal_set signals(loop, SIGINT, SIGTERM);
    signals.async_wait([&cancel](const boost::system::error_code& ec, int) {
        if (!ec) cancel.emit(asio::cancellation_type::terminal);
    });
    download run(options);
    exit_code code = broken;
    auto ended = [&](std::exception_ptr thrown, exit_code value) {
        signals.cancel();
        if (thrown) std::rethrow_exception(thrown);
        code = value;
    };
    asio::co_spawn(loop, run.run(), asio::bind_cancellation_slot(cancel.slot(), std::move(ended)));
    loop.run();
    return code;
}

}  // namespace hearonce::cli
