// The spool: memory, files, their bounds, and that everything is given back.
#define BOOST_TEST_MODULE spool
#include <boost/test/unit_test.hpp>

#include "uploading.hpp"

#include <http/spool.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include <sys/resource.h>

#include <csignal>
#include <thread>

using namespace hearonce;
using namespace hearonce::http;
using namespace hearonce::test;
namespace asio = boost::asio;

namespace {

constexpr std::size_t chunk = audio_memory::chunk_bytes;

struct fixture {
    spill_folder folder;
    std::vector<std::string> complaints;
    audio_store_settings settings;

    fixture() {
        settings.memory_bytes_max = 64 * chunk;
        settings.spill_above_bytes = 16 * chunk;
        settings.spill_directory = folder.path();
        settings.spill_bytes_max = 200 * chunk;
        settings.threads = 1;
        settings.on_failure = [this](const std::string& why) { complaints.push_back(why); };
    }
    std::shared_ptr<audio_store> store() const { return std::make_shared<audio_store>(settings); }
};

asio::awaitable<result<recording>> spool_all(spool& into, std::string content, std::size_t piece_size) {
    for (std::size_t at = 0; at < content.size(); at += piece_size) {
        std::string piece = content.substr(at, piece_size);
        if (into.append(std::as_bytes(std::span(piece)))) {
            auto flushed = co_await into.flush();
            if (!flushed) co_return flushed.error();
        }
        piece.assign(piece.size(), '!');
    }
    auto audio = co_await into.finish();
    co_return audio;
}

result<recording> spooled(const std::shared_ptr<audio_store>& store, const std::string& content, std::size_t piece_size = 50'000) {
    spool into(store);
    return await(spool_all(into, content, piece_size));
}

void check_content(const recording& audio, const std::string& content) {
    BOOST_TEST(audio.bytes->size_bytes() == content.size());
    BOOST_TEST((content_of(*audio.bytes) == content));
    BOOST_TEST((audio.sha256 == sha256_of(content)));
}

bool is_in_file(const recording& audio) {
    return audio.bytes->file_descriptor() >= 0;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_short_recording_stays_in_memory, fixture) {
    const auto store = this->store();
    for (const std::size_t size : {std::size_t{1}, chunk - 1, chunk, chunk + 1, 3 * chunk, 16 * chunk}) {
        const std::string content = noise(size);
        auto audio = spooled(store, content);
        BOOST_REQUIRE(audio.has_value());
        BOOST_TEST(!is_in_file(*audio));
        check_content(*audio, content);
        BOOST_TEST(store->memory_bytes() == (size + chunk - 1) / chunk * chunk);
        BOOST_TEST(store->spilled_bytes() == 0u);
        audio = error(errc::cancelled);
        BOOST_TEST(store->memory_bytes() == 0u);
    }
}

BOOST_FIXTURE_TEST_CASE(a_long_recording_goes_to_a_file, fixture) {
    const auto store = this->store();
    for (const std::size_t size : {16 * chunk + 1, 17 * chunk, 16 * chunk + 50'000, 100 * chunk + 7}) {
        const std::string content = noise(size);
        auto audio = spooled(store, content);
        BOOST_REQUIRE(audio.has_value());
        BOOST_TEST(is_in_file(*audio));
        BOOST_TEST(audio->bytes->pieces().empty());
        check_content(*audio, content);
        BOOST_TEST(store->memory_bytes() == 0u);
        BOOST_TEST(store->spilled_bytes() == size);
        BOOST_TEST(folder.empty());
        audio = error(errc::cancelled);
        BOOST_TEST(store->spilled_bytes() == 0u);
    }
    BOOST_TEST(complaints.empty());
}

BOOST_FIXTURE_TEST_CASE(pieces_of_any_size_give_the_same_bytes, fixture) {
    const auto store = this->store();
    const std::string content = noise(20 * chunk + 11);
    for (const std::size_t size : {std::size_t{997}, chunk - 1, chunk, chunk + 1, 9 * chunk, 40 * chunk}) {
        const auto audio = spooled(store, content, size);
        BOOST_REQUIRE(audio.has_value());
        check_content(*audio, content);
    }
}

BOOST_FIXTURE_TEST_CASE(without_memory_every_recording_spills_at_once, fixture) {
    settings.memory_bytes_max = 2 * chunk;
    const auto store = this->store();
    const auto holder = spooled(store, noise(chunk + 1));
    BOOST_REQUIRE(holder.has_value());
    BOOST_TEST(store->memory_bytes() == 2 * chunk);
    for (const std::size_t size : {std::size_t{1}, std::size_t{100}, chunk + 1}) {
        const std::string content = noise(size, 7);
        const auto audio = spooled(store, content, 60);
        BOOST_REQUIRE(audio.has_value());
        BOOST_TEST(is_in_file(*audio));
        check_content(*audio, content);
        BOOST_TEST(store->memory_bytes() == 2 * chunk);
    }
    // Memory that comes free is used again.
    BOOST_TEST(store->spilled_bytes() == 0u);
}

BOOST_FIXTURE_TEST_CASE(memory_that_ends_in_the_middle_keeps_the_order, fixture) {
    for (std::size_t chunks = 0; chunks < 12; ++chunks) {
        settings.memory_bytes_max = chunks * chunk + 5;
        const auto store = this->store();
        const std::string content = noise(10 * chunk + 3, static_cast<unsigned>(chunks));
        const auto audio = spooled(store, content, 3 * chunk + 5);
        BOOST_REQUIRE(audio.has_value());
        // Eleven chunks are needed.
        BOOST_TEST(is_in_file(*audio) == (chunks < 11));
        check_content(*audio, content);
    }
}

BOOST_FIXTURE_TEST_CASE(several_appends_before_one_flush, fixture) {
    settings.memory_bytes_max = chunk;
    const auto store = this->store();
    const std::string content = noise(5 * chunk);
    spool into(store);
    bool due = false;
    for (std::size_t at = 0; at < content.size(); at += 1000)
        due = into.append(std::as_bytes(std::span(content)).subspan(at, std::min<std::size_t>(1000, content.size() - at)));
    BOOST_TEST(due);
    BOOST_TEST(store->memory_bytes() == chunk);
    const auto flushed = await(into.flush());
    BOOST_TEST(flushed.has_value());
    BOOST_TEST(store->memory_bytes() == 0u);
    BOOST_TEST(store->spilled_bytes() == content.size());
    const auto again = await(into.flush());
    BOOST_TEST(again.has_value());
    const auto audio = await(into.finish());
    BOOST_REQUIRE(audio.has_value());
    check_content(*audio, content);
}

BOOST_FIXTURE_TEST_CASE(the_bound_of_all_files, fixture) {
    settings.spill_above_bytes = 0;
    settings.spill_bytes_max = 1000;
    const auto store = this->store();
    for (const std::size_t size : {999u, 1000u}) {
        const auto audio = spooled(store, noise(size));
        BOOST_TEST(audio.has_value());
    }
    const auto refused = spooled(store, noise(1001));
    BOOST_REQUIRE(!refused.has_value());
    BOOST_TEST((refused.error().code() == errc::overloaded));
    BOOST_TEST(refused.error().retry_after().has_value());
    BOOST_TEST(store->spilled_bytes() == 0u);
    BOOST_TEST(store->memory_bytes() == 0u);
    // The bound is not the disk's failure: nobody is told.
    BOOST_TEST(complaints.empty());
    {
        const auto first = spooled(store, noise(600));
        BOOST_TEST(first.has_value());
        BOOST_TEST(!spooled(store, noise(401)).has_value());
        BOOST_TEST(spooled(store, noise(400)).has_value());
    }
    BOOST_TEST(spooled(store, noise(1000)).has_value());
}

BOOST_FIXTURE_TEST_CASE(a_folder_that_cannot_be_written, fixture) {
    settings.spill_above_bytes = 10;
    settings.spill_directory = folder.path() / "nowhere";
    const auto store = this->store();
    BOOST_TEST(spooled(store, noise(10)).has_value());
    const auto refused = spooled(store, noise(11));
    BOOST_REQUIRE(!refused.has_value());
    BOOST_TEST((refused.error().code() == errc::overloaded));
    BOOST_TEST(store->spilled_bytes() == 0u);
    BOOST_TEST(store->memory_bytes() == 0u);
    BOOST_REQUIRE_EQUAL(complaints.size(), 1u);
    BOOST_TEST(complaints[0].find("nowhere") != std::string::npos);
    BOOST_TEST(store->complaint().has_value());
}

BOOST_FIXTURE_TEST_CASE(a_disk_that_fills_up, fixture) {
    // The largest file a process may write stands for the disk: write() then writes less, and next fails.
    ::rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto old = std::signal(SIGXFSZ, SIG_IGN);
    const ::rlimit small{40'000, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    settings.spill_above_bytes = 10;
    {
        const auto store = this->store();
        const auto fits = spooled(store, noise(40'000));
        const auto refused = spooled(store, noise(40'001));
        ::setrlimit(RLIMIT_FSIZE, &before);
        std::signal(SIGXFSZ, old);
        BOOST_TEST(fits.has_value());
        BOOST_REQUIRE(!refused.has_value());
        BOOST_TEST((refused.error().code() == errc::overloaded));
        BOOST_TEST(store->spilled_bytes() == 40'000u);
        BOOST_TEST(complaints.size() == 1u);
    }
    BOOST_TEST(folder.empty());
}

BOOST_FIXTURE_TEST_CASE(an_upload_that_ends_early_gives_everything_back, fixture) {
    const auto store = this->store();
    {
        spool memory(store);
        memory.append(std::as_bytes(std::span(std::string_view("abc"))));
        BOOST_TEST(store->memory_bytes() == chunk);
        spool file(store);
        const std::string content = noise(20 * chunk);
        BOOST_TEST(file.append(std::as_bytes(std::span(content))));
        const auto flushed = await(file.flush());
        BOOST_TEST(flushed.has_value());
        file.append(std::as_bytes(std::span(std::string_view("def"))));
        BOOST_TEST(store->spilled_bytes() == content.size());
        BOOST_TEST(store->memory_bytes() == 2 * chunk);
    }
    BOOST_TEST(store->memory_bytes() == 0u);
    BOOST_TEST(store->spilled_bytes() == 0u);
}

// Cancels an upload after so many turns of its loop; true: it had ended on its own.
static bool cancel_after(const std::shared_ptr<audio_store>& store, int turns) {
    asio::io_context loop(1);
    spool into(store);
    asio::cancellation_signal signal;
    bool ended = false;
    bool good = false;
    auto end = [&](std::exception_ptr thrown, const std::optional<result<recording>>& audio) {
        ended = true;
        good = !thrown && audio && audio->has_value();
    };
    asio::co_spawn(loop, optional_result(spool_all(into, noise(43 * chunk), 2 * chunk)), asio::bind_cancellation_slot(signal.slot(), end));
    for (int i = 0; i < turns && !ended; ++i) loop.run_one();
    // From the loop: Boost 1.83 passes a signal on at once, also into a coroutine that has not begun, and then throws out of run().
    if (!ended) asio::post(loop, [&] { signal.emit(asio::cancellation_type::terminal); });
    loop.run();
    BOOST_TEST(ended);
    return good;
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_upload_waits_for_its_write_and_gives_everything_back, fixture) {
    const auto store = this->store();
    int cancelled = 0;
    for (int turns = 0; turns < 30; ++turns) {
        if (!cancel_after(store, turns)) ++cancelled;
        BOOST_TEST(store->memory_bytes() == 0u);
        BOOST_TEST(store->spilled_bytes() == 0u);
    }
    BOOST_TEST(cancelled > 2);
    BOOST_TEST(cancelled < 30);
    BOOST_TEST(complaints.empty());
}

BOOST_FIXTURE_TEST_CASE(looks_at_an_announced_length, fixture) {
    settings.spill_bytes_max = 20 * chunk;
    const auto store = this->store();
    BOOST_TEST(store->check_room(1).has_value());
    BOOST_TEST(store->check_room(16 * chunk).has_value());
    BOOST_TEST(store->check_room(20 * chunk).has_value());
    BOOST_TEST((store->check_room(20 * chunk + 1).error().code() == errc::overloaded));
    // No disk has so much.
    settings.spill_bytes_max = ~0ull;
    BOOST_TEST(!this->store()->check_room(1ull << 62).has_value());
}

BOOST_FIXTURE_TEST_CASE(a_recording_outlives_the_holder_of_the_store, fixture) {
    auto store = this->store();
    auto memory = spooled(store, noise(100));
    auto file = spooled(store, noise(20 * chunk));
    store->stop();
    store.reset();
    BOOST_REQUIRE(memory.has_value());
    BOOST_REQUIRE(file.has_value());
    check_content(*memory, noise(100));
    check_content(*file, noise(20 * chunk));
}

BOOST_AUTO_TEST_CASE(the_free_list_is_bounded_and_reused) {
    audio_memory memory(10 * chunk, 3 * chunk);
    std::vector<audio_chunk> held;
    for (int i = 0; i < 10; ++i) held.push_back(memory.take());
    for (const auto& each : held) BOOST_TEST((each != nullptr));
    BOOST_TEST((memory.take() == nullptr));
    BOOST_TEST(memory.used_bytes() == 10 * chunk);
    const std::byte* last = held.front().get();
    while (!held.empty()) held.pop_back();
    BOOST_TEST(memory.used_bytes() == 0u);
    // Three wait; the third that came back, held[7], is the first to be used again.
    const audio_chunk again = memory.take();
    BOOST_TEST((again.get() != last));
    BOOST_TEST(memory.used_bytes() == chunk);
}

BOOST_AUTO_TEST_CASE(a_budget_that_is_no_multiple_of_a_chunk) {
    audio_memory memory(2 * chunk + chunk - 1);
    const auto first = memory.take();
    const auto second = memory.take();
    BOOST_TEST((first != nullptr && second != nullptr));
    BOOST_TEST((memory.take() == nullptr));
    audio_memory none(0);
    BOOST_TEST((none.take() == nullptr));
}

BOOST_FIXTURE_TEST_CASE(many_loops_share_one_store, fixture) {
    settings.memory_bytes_max = 40 * chunk;
    settings.threads = 2;
    const auto store = this->store();
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (unsigned thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (unsigned round = 0; round < 12; ++round) {
                const std::string content = noise(1 + (thread * 7 + round * 5) % 30 * chunk, thread * 100 + round);
                const auto audio = spooled(store, content);
                if (audio && content_of(*audio->bytes) == content && audio->sha256 == sha256_of(content)) ++good;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    BOOST_TEST(good == 48);
    BOOST_TEST(store->memory_bytes() == 0u);
    BOOST_TEST(store->spilled_bytes() == 0u);
    BOOST_TEST(folder.empty());
}
