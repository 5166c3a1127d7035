// The body: base64 at every length and over every border of pieces, batches and chunks, held against OpenSSL's.
#define BOOST_TEST_MODULE gemini_body
#include <boost/test/unit_test.hpp>

#include <backends/gemini/base64_body.hpp>
#include <hearonce/deadline.hpp>
#include <test/unit/openai/recordings.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <openssl/evp.h>

#include <algorithm>
#include <cstdint>
#include <random>

using namespace hearonce;
using namespace hearonce::gemini;
using namespace hearonce::test;
namespace asio = boost::asio;

namespace {

std::string noise(std::size_t bytes) {
    std::mt19937 random(static_cast<unsigned>(bytes));
    std::string made(bytes, '\0');
    for (char& each : made) each = static_cast<char>(random());
    return made;
}

std::string by_openssl(const std::string& bytes) {
    std::string out(base64_size(bytes.size()) + 1, '\0');
    const int size = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(bytes.data()),
                                       static_cast<int>(bytes.size()));
    out.resize(static_cast<std::size_t>(size));
    return out;
}

struct reading {
    std::string text;
    std::string failure;
    std::size_t batches = 0;
    std::size_t largest = 0;  // Of the batches, prefix and suffix left out.
};

asio::awaitable<reading> read_all(net::body_source& body, std::size_t frame_bytes, std::size_t batches_max) {
    reading got;
    while (got.batches < batches_max) {
        const net::body_batch batch = body.next();
        if (batch.step == net::body_step::failed) {
            got.failure = body.failure();
            co_return got;
        }
        if (batch.step == net::body_step::wait) {
            co_await body.read_more();
            continue;
        }
        std::size_t bytes = 0;
        for (const auto& one : batch.buffers) {
            got.text.append(static_cast<const char*>(one.data()), one.size());
            bytes += one.size();
        }
        if (bytes == 0) co_return got;
        ++got.batches;
        got.largest = std::max(got.largest, bytes - std::min(bytes, frame_bytes));
    }
    co_return got;
}

reading read(net::body_source& body, std::size_t frame_bytes = 0, std::size_t batches_max = SIZE_MAX) {
    asio::io_context loop(1);
    reading got;
    asio::co_spawn(loop, read_all(body, frame_bytes, batches_max), [&](std::exception_ptr thrown, reading all) {
        if (thrown) std::rethrow_exception(thrown);
        got = std::move(all);
    });
    loop.run();
    return got;
}

std::shared_ptr<const stored_bytes> in_memory(const std::string& bytes, std::size_t piece) {
    return std::make_shared<text_bytes>(bytes, piece);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(encoding)

BOOST_AUTO_TEST_CASE(every_byte_at_every_place) {
    for (std::size_t place = 0; place < 6; ++place) {
        for (int value = 0; value < 256; ++value) {
            std::string bytes(6, 'x');
            bytes[place] = static_cast<char>(value);
            for (std::size_t size = place + 1; size <= bytes.size(); ++size) {
                const std::string part = bytes.substr(0, size);
                std::string out(base64_size(size), '?');
                const char* const last = base64_of(std::as_bytes(std::span(part)), out.data());
                BOOST_REQUIRE(last == out.data() + out.size());
                BOOST_REQUIRE_EQUAL(out, by_openssl(part));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(sizes) {
    BOOST_TEST(base64_size(0) == 0U);
    BOOST_TEST(base64_size(1) == 4U);
    BOOST_TEST(base64_size(3) == 4U);
    BOOST_TEST(base64_size(4) == 8U);
    BOOST_TEST(base64_size(75'000'000) == 100'000'000U);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(bodies)

BOOST_AUTO_TEST_CASE(every_length_in_pieces_of_every_length) {
    for (std::size_t size = 0; size < 40; ++size) {
        const std::string bytes = noise(size);
        for (std::size_t piece = 1; piece < 12; ++piece) {
            base64_body body("<", in_memory(bytes, piece), ">");
            BOOST_REQUIRE_EQUAL(body.size_bytes(), base64_size(size) + 2);
            const reading got = read(body, 2);
            BOOST_REQUIRE_EQUAL(got.text, "<" + by_openssl(bytes) + ">");
            BOOST_REQUIRE_EQUAL(got.batches, 1U);
        }
    }
}

BOOST_AUTO_TEST_CASE(lengths_around_the_borders_of_batches_and_chunks) {
    const std::size_t batch = base64_body::batch_bytes;
    const std::size_t chunk = net::stored_reader::chunk_bytes;
    for (const std::size_t border : {batch, 2 * batch, chunk, 2 * chunk, chunk + batch}) {
        for (std::size_t size = border - 4; size <= border + 4; ++size) {
            BOOST_TEST_INFO_SCOPE(size);
            const std::string bytes = noise(size);
            const std::string wanted = "head" + by_openssl(bytes) + "tail";
            for (const auto& stored : {in_memory(bytes, 8192), in_memory(bytes, 1021), in_memory(bytes, size),
                                       std::shared_ptr<const stored_bytes>(std::make_shared<file_bytes>(bytes, size))}) {
                base64_body body("head", stored, "tail");
                const reading got = read(body, 8);
                BOOST_REQUIRE(got.text == wanted);
                BOOST_REQUIRE(got.failure.empty());
                // Never the whole encoding at a time.
                BOOST_TEST(got.largest <= base64_size(batch) + 8);
                // From the start again, as for a second connection.
                body.rewind();
                BOOST_REQUIRE(read(body, 8).text == wanted);
            }
        }
    }
}

// Also behind a chunk of a file, where a group of three is half read.
BOOST_AUTO_TEST_CASE(rewound_in_the_middle_it_begins_anew) {
    const std::string bytes = noise(2 * net::stored_reader::chunk_bytes + 1);
    for (const auto& stored :
         {in_memory(bytes, 4096), std::shared_ptr<const stored_bytes>(std::make_shared<file_bytes>(bytes, bytes.size()))}) {
        base64_body body("a", stored, "b");
        for (std::size_t batches = 0; batches < 13; ++batches) {
            BOOST_TEST_INFO_SCOPE(batches);
            BOOST_REQUIRE(read(body, 0, batches).batches <= batches);
            body.rewind();
            BOOST_REQUIRE(read(body).text == "a" + by_openssl(bytes) + "b");
            body.rewind();
        }
    }
}

BOOST_AUTO_TEST_CASE(random_pieces) {
    std::mt19937 random(5);
    for (int round = 0; round < 200; ++round) {
        const std::string bytes = noise(random() % 200'000);
        base64_body body(std::string(random() % 3, 'p'), in_memory(bytes, 1 + random() % 70'000), std::string(random() % 3, 's'));
        const auto announced = body.size_bytes();
        const std::string text = read(body).text;
        BOOST_REQUIRE_EQUAL(text.size(), announced);
        BOOST_REQUIRE(text.find(by_openssl(bytes)) != std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_read_to_its_end_fails) {
    const std::string bytes = noise(1000);
    base64_body body("head", std::make_shared<file_bytes>(bytes, 2000), "tail");
    const reading got = read(body);
    BOOST_TEST(got.text == "head");
    BOOST_TEST(got.failure.find("shorter") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
