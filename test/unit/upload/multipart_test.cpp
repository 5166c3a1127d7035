// The multipart parser: every split, every shape the RFCs allow, and what is refused.
#define BOOST_TEST_MODULE multipart
#include <boost/test/unit_test.hpp>

#include "form_body.hpp"

#include <random>

using namespace hearonce;
using namespace hearonce::test;
using http::multipart_limits;

namespace {

const std::string boundary = "xYz-1";

std::string repeated(std::string_view text, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += text;
    return out;
}

// What looks like a boundary and is none.
std::string tricky_body() {
    return "\r\n--xYz-\r\n--xYz-2\r\r\n\r\n--x\r\n-\r\n--xYz\r\n\n--xYz-1\r--xYz-1\r\n-\r" + std::string(3, '\0') + "\r\n--xYz-\r";
}

bool is_multipart_error(const parsed& out) {
    return out.failure && out.failure->code() == errc::invalid_multipart;
}

void check_two_parts(const parsed& out, std::string_view first, std::string_view second) {
    BOOST_TEST(!out.failure.has_value());
    BOOST_REQUIRE_EQUAL(out.parts.size(), 2u);
    BOOST_TEST(out.parts[0].body == first);
    BOOST_TEST(out.parts[1].body == second);
    BOOST_TEST(out.parts[0].complete);
    BOOST_TEST(out.parts[1].complete);
}

}  // namespace

BOOST_AUTO_TEST_CASE(reads_parts_in_order) {
    const auto out =
        parse(boundary, form_body(boundary).field("model", "whisper-1").file("file", "tone.wav", "audio/x-wav", "RIFF").closed());
    check_two_parts(out, "whisper-1", "RIFF");
    BOOST_TEST(out.parts[0].head.name == "model");
    BOOST_TEST(!out.parts[0].head.file_name.has_value());
    BOOST_TEST(out.parts[1].head.name == "file");
    BOOST_TEST(out.parts[1].head.file_name.value() == "tone.wav");
    BOOST_TEST(out.parts[1].head.content_type == "audio/x-wav");
}

BOOST_AUTO_TEST_CASE(data_is_not_copied) {
    const std::string body = form_body(boundary).file("file", "a", "b", std::string(100'000, 'a')).closed();
    const auto out = parse(boundary, body);
    BOOST_REQUIRE_EQUAL(out.data_events, 1u);
    const auto* begin = reinterpret_cast<const std::byte*>(body.data());
    BOOST_TEST((out.data_at[0] > begin && out.data_at[0] < begin + body.size()));
}

BOOST_AUTO_TEST_CASE(a_body_may_be_cut_anywhere_once) {
    const std::string body = form_body(boundary).file("file", "f", "audio/wav", tricky_body()).field("a", "\r").closed();
    for (std::size_t cut = 0; cut <= body.size(); ++cut) {
        const std::string_view whole = body;
        check_two_parts(parse_pieces(boundary, {whole.substr(0, cut), whole.substr(cut)}), tricky_body(), "\r");
    }
}

BOOST_AUTO_TEST_CASE(a_body_may_be_cut_anywhere_twice) {
    const std::string body = form_body(boundary).file("file", "f", "audio/wav", tricky_body()).field("a", "").closed();
    const std::string_view whole = body;
    for (std::size_t first = 0; first <= body.size(); ++first) {
        for (std::size_t second = first; second <= body.size(); ++second) {
            const auto out = parse_pieces(boundary, {whole.substr(0, first), whole.substr(first, second - first), whole.substr(second)});
            if (out.failure || out.parts.size() != 2 || out.parts[0].body != tricky_body() || !out.parts[1].body.empty() ||
                !out.parts[1].complete) {
                BOOST_REQUIRE_MESSAGE(false, "cut at " << first << " and " << second);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_body_may_come_in_pieces_of_any_size) {
    const std::string body =
        form_body(boundary).field("a", tricky_body()).file("file", "f", "audio/wav", tricky_body() + tricky_body()).closed();
    for (std::size_t size = 1; size < 64; ++size) {
        std::vector<std::string_view> pieces;
        for (std::size_t at = 0; at < body.size(); at += size) pieces.push_back(std::string_view(body).substr(at, size));
        check_two_parts(parse_pieces(boundary, pieces), tricky_body(), tricky_body() + tricky_body());
    }
}

BOOST_AUTO_TEST_CASE(random_bodies_come_out_as_they_went_in) {
    std::mt19937 random(20260101);
    // Mostly bytes of a delimiter, so that false beginnings are frequent.
    const std::string alphabet = "\r\n--xYz-1ab";
    for (int round = 0; round < 3000; ++round) {
        std::string value;
        for (std::size_t i = random() % 80; i > 0; --i) value.push_back(alphabet[random() % alphabet.size()]);
        if (("\r\n" + value).find("\r\n--" + boundary) != std::string::npos) continue;
        const std::string body = form_body(boundary).field("a", value).field("b", value).closed();
        std::vector<std::string_view> pieces;
        for (std::size_t at = 0; at < body.size();) {
            const std::size_t size = 1 + random() % 12;
            pieces.push_back(std::string_view(body).substr(at, size));
            at += size;
        }
        check_two_parts(parse_pieces(boundary, pieces), value, value);
    }
}

BOOST_AUTO_TEST_CASE(preamble_and_epilogue_are_skipped) {
    const std::string form = form_body(boundary).field("a", "1").field("b", "2").closed();
    check_two_parts(parse(boundary, "for old readers\r\n--xYz\r\n" + form), "1", "2");
    check_two_parts(parse(boundary, "\r\n" + form), "1", "2");
    check_two_parts(parse(boundary, form + "\r\n--xYz-1\r\nnot a part"), "1", "2");
    check_two_parts(parse(boundary, form.substr(0, form.size() - 2)), "1", "2");
}

BOOST_AUTO_TEST_CASE(preamble_and_epilogue_are_bounded) {
    const std::string form = form_body(boundary).field("a", "1").field("b", "2").closed();
    const multipart_limits limits{.outside_bytes_max = 100};
    // The epilogue of this form begins with a line break.
    check_two_parts(parse(boundary, form + std::string(97, 'e'), limits), "1", "2");
    check_two_parts(parse(boundary, form + std::string(98, 'e'), limits), "1", "2");
    BOOST_TEST(is_multipart_error(parse(boundary, form + std::string(99, 'e'), limits)));
    const std::string shut = form.substr(0, form.size() - 2);
    check_two_parts(parse(boundary, std::string(99, 'p') + "\r\n" + shut, limits), "1", "2");
    check_two_parts(parse(boundary, std::string(100, 'p') + "\r\n" + shut, limits), "1", "2");
    BOOST_TEST(is_multipart_error(parse(boundary, std::string(101, 'p') + "\r\n" + shut, limits)));
    // Whatever the size of the pieces.
    std::vector<std::string_view> bytes;
    const std::string noise(200, 'p');
    for (std::size_t i = 0; i < noise.size(); ++i) bytes.push_back(std::string_view(noise).substr(i, 1));
    BOOST_TEST(is_multipart_error(parse_pieces(boundary, bytes, limits)));
}

BOOST_AUTO_TEST_CASE(blanks_after_a_boundary_are_padding) {
    const auto out = parse(boundary,
                           "--xYz-1 \t \r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--xYz-1\t\r\nContent-Disposition: form-data; "
                           "name=b\r\n\r\n2\r\n--xYz-1-- \r\n");
    check_two_parts(out, "1", "2");
}

BOOST_AUTO_TEST_CASE(padding_is_bounded) {
    const multipart_limits limits{.part_head_bytes_max = 64};
    const auto padded = [&](std::size_t blanks) {
        return parse(boundary,
                     "--xYz-1" + std::string(blanks, ' ') + "\r\nContent-Disposition: form-data; name=abcdefgh\r\n\r\n1\r\n--xYz-1--",
                     limits);
    };
    // The head has 49 bytes with its empty line.
    BOOST_TEST(!padded(14).failure.has_value());
    BOOST_TEST(!padded(15).failure.has_value());
    BOOST_TEST(is_multipart_error(padded(16)));
    BOOST_TEST(is_multipart_error(padded(65)));
}

BOOST_AUTO_TEST_CASE(a_part_may_be_empty_with_or_without_its_own_line_break) {
    check_two_parts(parse(boundary, form_body(boundary).field("a", "").field("b", "2").closed()), "", "2");
    const std::string head = "--xYz-1\r\nContent-Disposition: form-data; name=a\r\n\r\n";
    check_two_parts(parse(boundary, head + "--xYz-1\r\nContent-Disposition: form-data; name=b\r\n\r\n2\r\n--xYz-1--"), "", "2");
}

BOOST_AUTO_TEST_CASE(data_may_begin_like_a_delimiter_without_its_line_break) {
    for (const std::string value : {"--", "--xYz-", "--xYz-2", "-", "--xYz", "\r\n--xYz-", "\r\n"}) {
        check_two_parts(parse(boundary, form_body(boundary).field("a", value).field("b", value).closed()), value, value);
    }
}

BOOST_AUTO_TEST_CASE(boundaries_of_one_and_of_seventy_bytes) {
    for (const std::string& each : {std::string("x"), std::string(70, 'b'), std::string(70, '-'), std::string("a=b/c:d e")}) {
        check_two_parts(parse(each, form_body(each).field("a", "1").field("b", "x-bb").closed()), "1", "x-bb");
    }
}

BOOST_AUTO_TEST_CASE(a_boundary_of_dashes_is_found) {
    // "--" + boundary is all dashes: padding, end and delimiter look alike.
    const std::string dashes = "----";
    check_two_parts(parse(dashes, form_body(dashes).field("a", "--").field("b", "-\r\n---").closed()), "--", "-\r\n---");
}

BOOST_AUTO_TEST_CASE(without_the_final_boundary_it_is_no_form) {
    const std::string body = form_body(boundary).field("a", "1").field("b", "2").closed();
    // Up to the last dash of the final boundary nothing is complete.
    for (std::size_t size = 0; size + 2 < body.size(); ++size)
        BOOST_TEST(is_multipart_error(parse(boundary, std::string_view(body).substr(0, size))));
    BOOST_TEST(!parse(boundary, std::string_view(body).substr(0, body.size() - 2)).failure.has_value());
    BOOST_TEST(parse(boundary, "").failure->message() == "The body is empty.");
    BOOST_TEST(parse(boundary, "--").failure->message() != "The body is empty.");
}

BOOST_AUTO_TEST_CASE(a_form_may_have_no_parts) {
    const auto out = parse(boundary, "--xYz-1--\r\n");
    BOOST_TEST(!out.failure.has_value());
    BOOST_TEST(out.parts.empty());
}

BOOST_AUTO_TEST_CASE(refuses_what_is_no_form) {
    const std::string head = "--xYz-1\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n";
    BOOST_TEST(is_multipart_error(parse(boundary, "{\"model\":\"whisper-1\"}")));
    BOOST_TEST(is_multipart_error(parse(boundary, head + "--xYz-1x\r\n")));            // Goes on after the boundary.
    BOOST_TEST(is_multipart_error(parse(boundary, head + "--xYz-1-\r\n")));            // One dash.
    BOOST_TEST(is_multipart_error(parse(boundary, head + "--xYz-1 --")));              // Dashes after padding.
    BOOST_TEST(is_multipart_error(parse(boundary, head + "--xYz-1\rX")));              // CR alone.
    BOOST_TEST(is_multipart_error(parse(boundary, "--xYz-1\r\n\r\n1\r\n--xYz-1--")));  // No head at all.
}

BOOST_AUTO_TEST_CASE(refuses_lines_that_end_with_lf_alone) {
    BOOST_TEST(is_multipart_error(parse(boundary, "--xYz-1\nContent-Disposition: form-data; name=a\n\n1\n--xYz-1--\n")));
    BOOST_TEST(is_multipart_error(parse(boundary, "--xYz-1\r\nContent-Disposition: form-data; name=a\n\r\n1\r\n--xYz-1--\r\n")));
    BOOST_TEST(is_multipart_error(parse(boundary, "--xYz-1\r\nContent-Disposition: form-data; name=a\r\n\n1\r\n--xYz-1--\r\n")));
    // In data it is data.
    const auto out = parse(boundary, form_body(boundary).field("a", "1\n--xYz-1\n").field("b", "2").closed());
    check_two_parts(out, "1\n--xYz-1\n", "2");
}

BOOST_AUTO_TEST_CASE(counts_parts) {
    for (const std::size_t parts : {2u, 3u, 4u}) {
        form_body body(boundary);
        for (std::size_t i = 0; i < parts; ++i) body.field("a", "1");
        BOOST_TEST(is_multipart_error(parse(boundary, body.closed(), {.parts_max = 3})) == (parts > 3));
    }
}

BOOST_AUTO_TEST_CASE(bounds_the_head_of_a_part) {
    for (const std::size_t size : {199u, 200u, 201u, 5000u}) {
        const std::string first = "Content-Disposition: form-data; name=a\r\nX-Fill: ";
        const std::string fill(size - first.size() - 4, 'x');
        const std::string body = "--xYz-1\r\n" + first + fill + "\r\n\r\n1\r\n--xYz-1--";
        const multipart_limits limits{.part_head_bytes_max = 200};
        BOOST_TEST(is_multipart_error(parse(boundary, body, limits)) == (size > 200));
        std::vector<std::string_view> pieces;
        for (std::size_t at = 0; at < body.size(); at += 7) pieces.push_back(std::string_view(body).substr(at, 7));
        BOOST_TEST(is_multipart_error(parse_pieces(boundary, pieces, limits)) == (size > 200));
    }
}

BOOST_AUTO_TEST_CASE(an_endless_head_line_is_refused_before_it_ends) {
    http::multipart_parser parser(boundary, {.part_head_bytes_max = 1000});
    const std::string begin = "--xYz-1\r\n" + repeated("a", 900);
    auto input = bytes_of(begin);
    BOOST_REQUIRE(parser.next(input));
    const std::string more(101, 'a');
    input = bytes_of(more);
    BOOST_TEST(!parser.next(input));
}

BOOST_AUTO_TEST_CASE(after_an_error_everything_is_an_error) {
    http::multipart_parser parser(boundary);
    auto input = bytes_of("--xYz-1!");
    BOOST_TEST(!parser.next(input));
    const std::string good = form_body(boundary).field("a", "1").closed();
    input = bytes_of(good);
    BOOST_TEST(!parser.next(input));
    BOOST_TEST(!parser.finish());
}
