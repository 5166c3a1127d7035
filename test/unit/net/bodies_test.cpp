// Recordings as bodies: in memory without a copy, from a file without stopping the loop, with a frame around them.
#define BOOST_TEST_MODULE bodies
#include <boost/test/unit_test.hpp>

#include <net/framed_recording_body.hpp>
#include <net/stored_reader.hpp>
#include <test/unit/net/calling.hpp>

#include <cstdlib>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace {

std::string bytes_of(std::size_t size) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + i / 256);
    return bytes;
}

class in_memory final : public hearonce::stored_bytes {
public:
    in_memory(std::string bytes, std::size_t piece) : bytes_(std::move(bytes)) {
        for (std::size_t at = 0; at < bytes_.size(); at += piece)
            pieces_.push_back(std::as_bytes(std::span(bytes_)).subspan(at, std::min(piece, bytes_.size() - at)));
    }
    std::uint64_t size_bytes() const noexcept override { return bytes_.size(); }
    std::span<const std::span<const std::byte>> pieces() const noexcept override { return pieces_; }
    int file_descriptor() const noexcept override { return -1; }
    bool holds(const void* at) const { return at >= bytes_.data() && at < bytes_.data() + bytes_.size(); }

private:
    std::string bytes_;
    std::vector<std::span<const std::byte>> pieces_;
};

class in_file final : public hearonce::stored_bytes {
public:
    // May say another size than it has.
    explicit in_file(const std::string& bytes, std::uint64_t more = 0) : size_(bytes.size() + more) {
        char name[] = "/tmp/hearonce-body-XXXXXX";
        descriptor_ = ::mkstemp(name);
        ::unlink(name);
        BOOST_TEST_REQUIRE(::write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    }
    ~in_file() override {
        closed_on = std::this_thread::get_id();
        ::close(descriptor_);
    }
    std::uint64_t size_bytes() const noexcept override { return size_; }
    std::span<const std::span<const std::byte>> pieces() const noexcept override { return {}; }
    int file_descriptor() const noexcept override { return unreadable ? 100'000'000 : descriptor_; }
    bool unreadable = false;
    static inline std::thread::id closed_on;

private:
    int descriptor_ = -1;
    std::uint64_t size_;
};

// Everything a source gives, awaited where it says so.
struct read_whole {
    std::string text;
    std::string failure;
    int waits = 0;
    std::size_t batches = 0;
    std::size_t buffers_most = 0;
};

template <class Source>
asio::awaitable<void> read_all(Source& source, read_whole& got) {
    for (;;) {
        const body_batch batch = source.next();
        if (batch.step == body_step::wait) {
            ++got.waits;
            co_await source.read_more();
            continue;
        }
        if (batch.step == body_step::failed) got.failure = source.failure();
        if (batch.step == body_step::failed || batch.buffers.empty()) co_return;
        ++got.batches;
        got.buffers_most = std::max(got.buffers_most, batch.buffers.size());
        for (const auto& one : batch.buffers) {
            BOOST_TEST(one.size() > 0U);
            got.text.append(static_cast<const char*>(one.data()), one.size());
        }
    }
}

template <class Source>
read_whole read(Source& source) {
    asio::io_context loop(1);
    read_whole got;
    bool ended = false;
    asio::co_spawn(loop, read_all(source, got), [&](std::exception_ptr thrown) {
        if (thrown) std::rethrow_exception(thrown);
        ended = true;
    });
    loop.run_for(std::chrono::seconds(30));
    BOOST_TEST_REQUIRE(ended);
    BOOST_TEST(loop.stopped());
    return got;
}

constexpr std::size_t chunk = stored_reader::chunk_bytes;

}  // namespace

BOOST_AUTO_TEST_SUITE(readers)

BOOST_AUTO_TEST_CASE(give_memory_where_it_is) {
    for (const std::size_t pieces : {0U, 1U, 62U, 63U, 64U, 200U}) {
        const auto bytes = bytes_of(pieces * 1000);
        const auto stored = std::make_shared<in_memory>(bytes, 1000);
        stored_reader reader(stored);
        BOOST_TEST(reader.size_bytes() == bytes.size());
        std::size_t seen = 0;
        for (auto batch = reader.next(); !batch.buffers.empty(); batch = reader.next()) {
            BOOST_TEST((batch.step == body_step::given));
            BOOST_TEST(batch.buffers.size() <= batch_buffers_max);
            for (const auto& one : batch.buffers) BOOST_TEST(stored->holds(one.data()));
            seen += batch.buffers.size();
        }
        BOOST_TEST(seen == pieces);
        BOOST_TEST(reader.next().buffers.empty());
        reader.rewind();
        const auto again = read(reader);
        BOOST_TEST((again.text == bytes));
        BOOST_TEST(again.waits == 0);
        BOOST_TEST(again.batches == (pieces + 62) / 63);
    }
}

BOOST_AUTO_TEST_CASE(read_files_in_chunks_and_again) {
    for (const std::size_t size : {std::size_t(0), std::size_t(1), chunk - 1, chunk, chunk + 1, 5 * chunk / 2}) {
        const auto bytes = bytes_of(size);
        stored_reader reader(std::make_shared<in_file>(bytes));
        for (int round = 0; round < 2; ++round) {
            const auto got = read(reader);
            BOOST_TEST((got.text == bytes));
            BOOST_TEST(got.failure == "");
            BOOST_TEST(got.waits == static_cast<int>((size + chunk - 1) / chunk));
            reader.rewind();
        }
    }
}

BOOST_AUTO_TEST_CASE(say_what_is_wrong_with_a_file_and_go_on_saying_it) {
    stored_reader shrunk(std::make_shared<in_file>("abc", 1));
    BOOST_TEST(read(shrunk).failure == "the recording became shorter while it was read");
    BOOST_TEST((shrunk.next().step == body_step::failed));
    shrunk.rewind();
    BOOST_TEST((shrunk.next().step == body_step::wait));
    const auto closed = std::make_shared<in_file>("abc");
    closed->unreadable = true;
    stored_reader unreadable(closed);
    BOOST_TEST(read(unreadable).failure == "the recording cannot be read: Bad file descriptor");
}

BOOST_AUTO_TEST_CASE(let_the_loop_run_while_the_disk_is_read_and_give_the_file_back_on_it) {
    asio::io_context loop(1);
    auto stored = std::make_shared<in_file>(bytes_of(10));
    auto reader = std::make_shared<stored_reader>(std::move(stored));
    read_whole got;
    asio::co_spawn(loop, read_all(*reader, got), [&](std::exception_ptr thrown) {
        reader.reset();
        if (thrown) std::rethrow_exception(thrown);
    });
    loop.run_for(std::chrono::seconds(30));
    BOOST_TEST(got.text.size() == 10U);
    BOOST_TEST((in_file::closed_on == std::this_thread::get_id()));
}

BOOST_AUTO_TEST_CASE(cancelled_or_destroyed_within_a_read_leave_nothing) {
    for (const bool destroyed : {false, true}) {
        const auto stored = std::make_shared<in_file>(bytes_of(3 * chunk));
        {
            std::optional<asio::io_context> loop(std::in_place, 1);
            stored_reader reader(stored);
            BOOST_TEST((reader.next().step == body_step::wait));
            asio::cancellation_signal cancel;
            asio::co_spawn(*loop, reader.read_more(), asio::bind_cancellation_slot(cancel.slot(), [](std::exception_ptr) {}));
            loop->poll_one();
            if (destroyed) {
                loop.reset();
            } else {
                cancel.emit(asio::cancellation_type::terminal);
                loop->restart();
                loop->run_for(std::chrono::seconds(30));
                BOOST_TEST(loop->stopped());
                loop.reset();
            }
        }
        BOOST_TEST(stored.use_count() == 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(frames)

BOOST_AUTO_TEST_CASE(stand_before_and_after_whatever_is_stored) {
    for (const std::size_t size :
         {std::size_t(0), std::size_t(1), std::size_t(62'000), std::size_t(63'000), std::size_t(64'000), 3 * chunk + 1}) {
        const auto bytes = bytes_of(size);
        for (const bool file : {false, true}) {
            for (const auto& [prefix, suffix] :
                 {std::pair("head", "tail"), std::pair("", "tail"), std::pair("head", ""), std::pair("", "")}) {
                std::shared_ptr<const hearonce::stored_bytes> stored = std::make_shared<in_memory>(bytes, 1000);
                if (file) stored = std::make_shared<in_file>(bytes);
                framed_recording_body body(prefix, stored, suffix);
                BOOST_TEST(body.size_bytes() == size + std::strlen(prefix) + std::strlen(suffix));
                for (int round = 0; round < 2; ++round) {
                    const auto got = read(body);
                    BOOST_TEST((got.text == prefix + bytes + suffix));
                    BOOST_TEST(got.buffers_most <= batch_buffers_max + 1);
                    BOOST_TEST(body.next().buffers.empty());
                    body.rewind();
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(leave_with_a_small_recording_in_one_batch) {
    framed_recording_body body("head", std::make_shared<in_memory>(bytes_of(60'000), 1000), "tail");
    BOOST_TEST(body.next().buffers.size() == 62U);
    BOOST_TEST(body.next().buffers.empty());
}

BOOST_AUTO_TEST_CASE(pass_a_failure_on) {
    framed_recording_body body("head", std::make_shared<in_file>("abc", 1), "tail");
    const auto got = read(body);
    BOOST_TEST(got.text == "head");
    BOOST_TEST(got.failure == "the recording became shorter while it was read");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(calls)

BOOST_AUTO_TEST_CASE(send_them_whole) {
    const auto bytes = bytes_of(5 * chunk + 17);
    for (const bool file : {false, true}) {
        std::shared_ptr<const hearonce::stored_bytes> stored = std::make_shared<in_memory>(bytes, 64 * 1024);
        if (file) stored = std::make_shared<in_file>(bytes);
        scripted_server server({answering(http_text(200, "text/plain", "ok"))});
        good(run(post(server.url(), std::make_shared<framed_recording_body>("head", stored, "tail"))));
        BOOST_TEST(stored.use_count() == 1);
        const std::string sent = server.request(0);
        BOOST_TEST((sent.substr(sent.find("\r\n\r\n") + 4) == "head" + bytes + "tail"));
    }
}

BOOST_AUTO_TEST_CASE(send_them_again_where_a_kept_connection_was_dead) {
    const auto bytes = bytes_of(40 * chunk);
    for (const bool file : {false, true}) {
        std::shared_ptr<const hearonce::stored_bytes> stored = std::make_shared<in_memory>(bytes, 64 * 1024);
        if (file) stored = std::make_shared<in_file>(bytes);
        scripted_reply first = answering(http_text(200, "text/plain", "x"));
        first.then = scripted_reply::end::keep;
        scripted_reply gone;
        gone.body_bytes = chunk;
        gone.then = scripted_reply::end::reset;
        scripted_server server({first, gone, answering(http_text(200, "text/plain", "again"))});
        caller one;
        good(one.run(kept(get(server.url()))));
        BOOST_TEST(good(one.run(kept(post(server.url(), std::make_shared<framed_recording_body>("head", stored, "tail"))))).body ==
                   "again");
        BOOST_TEST(stored.use_count() == 1);
        const std::string sent = server.request(2);
        BOOST_TEST((sent.substr(sent.find("\r\n\r\n") + 4) == "head" + bytes + "tail"));
    }
}

BOOST_AUTO_TEST_CASE(fail_with_them) {
    scripted_server server({answering(http_text(200, "text/plain", "x"))});
    const auto why =
        bad(run(post(server.url(), std::make_shared<framed_recording_body>("head", std::make_shared<in_file>("abc", 1), "tail"))));
    BOOST_TEST(why.body_failed);
    BOOST_TEST(why.message == "the recording became shorter while it was read");
}

BOOST_AUTO_TEST_SUITE_END()
