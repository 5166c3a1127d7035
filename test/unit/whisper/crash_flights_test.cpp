// A recording that crashes the helper costs its own flight and no other: the engine is restarted, not left alone.
#define BOOST_TEST_MODULE crash_flights
#include "support.hpp"

#include <work/dispatcher.hpp>

#include <boost/asio/executor_work_guard.hpp>

#include <thread>

namespace {

using namespace hearonce;
using namespace hearonce::whisper;
using namespace hearonce::whisper::test;

// The engine lives on one loop and the flights on another, as in the gateway.
struct fixture {
    fixture() {
        write_file(files / "script", "ready job crash");
        whisper_settings s;
        s.model = files / "script";
        s.helper = HEARONCE_SCRIPTED_HELPER;
        s.back_off_first = 1ms;
        s.back_off_max = 1ms;
        engine = create_whisper_backend(home.get_executor(), s);
        asked.emplace(std::vector<std::shared_ptr<backend>>{engine}, std::vector<work::route_rule>{}, "", counted);
        thread = std::thread([this] { home.run(); });
    }
    ~fixture() {
        // On its own loop, while that runs: the dispatcher holds a share that ends later.
        asio::post(home, [this] {
            asked.reset();
            engine.reset();
            guard.reset();
        });
        thread.join();
    }

    work::attempts_end fly() {
        std::optional<work::attempts_end> end;
        auto work = asked->run({{engine}, "m", {"local"}}, recording_of("RIFF"), {}, deadline::after(60s));
        asio::co_spawn(flights, deadline_detail::optional_of(std::move(work)),
                       [&end](std::exception_ptr e, std::optional<work::attempts_end> made) {
                           if (e) std::rethrow_exception(e);
                           end = std::move(made);
                       });
        run_until(flights, [&end] { return end.has_value(); });
        return std::move(*end);
    }

    folder files;
    observe::metrics counted{1, {"local"}};
    asio::io_context home{1};
    asio::io_context flights{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard{home.get_executor()};
    std::shared_ptr<whisper_backend> engine;
    std::optional<work::dispatcher> asked;
    std::thread thread;
};

BOOST_FIXTURE_TEST_CASE(however_often_the_helper_crashes_the_next_flight_is_tried, fixture) {
    constexpr unsigned crashes = 4 * work::circuit::failures_max;
    for (unsigned i = 0; i < crashes; ++i) {
        const auto end = fly();
        BOOST_REQUIRE(end.heard.has_error());
        BOOST_TEST((end.heard.error().code() == errc::upstream_error), end.heard.error().message());
        BOOST_TEST(end.calls == 1u);
        BOOST_TEST(!asked->state_of(*engine).reason.starts_with("work failed"));
    }
    // The recording that comes next is heard.
    write_file(files / "script", "ready job done job done");
    auto last = fly();
    for (int i = 0; i < 2 && !last.heard; ++i) last = fly();
    BOOST_TEST(last.heard.has_value());
}

}  // namespace
