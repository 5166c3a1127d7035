// Boundaries and part heads: what clients write, what is refused.
#define BOOST_TEST_MODULE part_head
#include <boost/test/unit_test.hpp>

#include <http/part_head.hpp>
#include <http/utf8.hpp>

#include <string>
#include <vector>

using namespace hearonce;
using namespace hearonce::http;

namespace {

std::string boundary(std::string_view content_type) {
    const auto found = boundary_of(content_type);
    if (!found) BOOST_TEST((found.error().code() == errc::unsupported_media_type));
    return found ? *found : "refused";
}

part_head head(const std::string& disposition) {
    auto read = part_head_of("Content-Disposition: " + disposition + "\r\n");
    BOOST_REQUIRE_MESSAGE(read.has_value(), disposition);
    return std::move(*read);
}

bool refused(std::string_view block) {
    const auto read = part_head_of(block);
    return !read && read.error().code() == errc::invalid_multipart;
}

}  // namespace

BOOST_AUTO_TEST_CASE(boundaries_as_clients_send_them) {
    BOOST_TEST(boundary("multipart/form-data; boundary=----formdata-undici-064824851295") == "----formdata-undici-064824851295");
    BOOST_TEST(boundary("multipart/form-data; boundary=openai-byn7fgbw0z4") == "openai-byn7fgbw0z4");
    BOOST_TEST(boundary("multipart/form-data; boundary=c3bd97c14fbf845bd33fcefa33e3a07f") == "c3bd97c14fbf845bd33fcefa33e3a07f");
    BOOST_TEST(boundary("multipart/form-data; boundary=form-data-boundary-78ltjuoh34siqxye") == "form-data-boundary-78ltjuoh34siqxye");
    BOOST_TEST(boundary("multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW") == "----WebKitFormBoundary7MA4YWxkTrZu0gW");
    BOOST_TEST(boundary("multipart/form-data;boundary=\"b 1\"") == "b 1");
    BOOST_TEST(boundary("Multipart/Form-Data ; charset=utf-8; BOUNDARY=\"x\" ") == "x");
    BOOST_TEST(boundary("multipart/form-data; boundary=x; charset=utf-8") == "x");
    BOOST_TEST(boundary("multipart/form-data; boundary====123==") == "===123==");
    BOOST_TEST(boundary("multipart/form-data;;; boundary=x;") == "x");
    BOOST_TEST(boundary("multipart/form-data; boundary=\"a;b\"") == "a;b");
    BOOST_TEST(boundary("multipart/form-data; Boundary='a'") == "'a'");
}

BOOST_AUTO_TEST_CASE(boundaries_that_are_none) {
    for (const std::string_view each : {"",
                                        "application/json",
                                        "multipart/form-data",
                                        "multipart/form-data; boundary=",
                                        "multipart/form-data; boundary=\"\"",
                                        "multipart/form-data; boundary=\"x",
                                        "multipart/form-data; boundary=\"x \"",
                                        "multipart/form-data; boundary=x; boundary=y",
                                        "multipart/form-data; boundary=x; boundary=x",
                                        "multipart/form-data; boundary",
                                        "multipart/form-data boundary=x",
                                        "multipart/mixed; boundary=x",
                                        "multipart/form-datax; boundary=x",
                                        "multipart/form-data; boundary=a\tb\x01",
                                        "multipart/form-data; boundary=\xc3\xa4",
                                        "multipart/form-data; =x",
                                        "multipart/form-data; boundary=\"x\"y",
                                        "application/x-www-form-urlencoded",
                                        "multipart/form-data; notboundary=x",
                                        "multipart/form-data; boundary=\"\\\"\""}) {
        BOOST_TEST(boundary(each) == "refused", each);
    }
}

BOOST_AUTO_TEST_CASE(boundary_lengths) {
    BOOST_TEST(boundary("multipart/form-data; boundary=" + std::string(1, 'b')) == "b");
    BOOST_TEST(boundary("multipart/form-data; boundary=" + std::string(69, 'b')) == std::string(69, 'b'));
    BOOST_TEST(boundary("multipart/form-data; boundary=" + std::string(70, 'b')) == std::string(70, 'b'));
    BOOST_TEST(boundary("multipart/form-data; boundary=" + std::string(71, 'b')) == "refused");
}

BOOST_AUTO_TEST_CASE(names_and_file_names) {
    BOOST_TEST(head("form-data; name=\"model\"").name == "model");
    BOOST_TEST(!head("form-data; name=\"model\"").file_name.has_value());
    BOOST_TEST(head("form-data; name=model").name == "model");
    BOOST_TEST(head("FORM-DATA;NAME=\"model\"").name == "model");
    BOOST_TEST(head("form-data; name=\"timestamp_granularities[]\"").name == "timestamp_granularities[]");
    BOOST_TEST(head("form-data; filename=\"a.wav\"; name=\"file\"").name == "file");
    BOOST_TEST(head("form-data; name=\"file\"; filename=\"@audio.m4a\"").file_name.value() == "@audio.m4a");
    BOOST_TEST(head("form-data; name=\"file\"; filename=\"\"").file_name.value() == "");
    BOOST_TEST(head("form-data; name=\"file\"; filename=\"audio/wav\"").file_name.value() == "audio/wav");
    BOOST_TEST(head("form-data; name=\"file\"; filename=\"a;b=c.wav\"").file_name.value() == "a;b=c.wav");
    BOOST_TEST(head("form-data; name=\"file\"; filename=a b.wav").file_name.value() == "a b.wav");
    BOOST_TEST(head("form-data; name=\"file\"; filename=\"Gr\xc3\xbc\xc3\x9f"
                    "e.wav\"")
                   .file_name.value() ==
               "Gr\xc3\xbc\xc3\x9f"
               "e.wav");
}

BOOST_AUTO_TEST_CASE(quotes_in_names) {
    BOOST_TEST(head("form-data; name=\"file\"; filename=\"a\\\"b.wav\"").file_name.value() == "a\"b.wav");
    BOOST_TEST(head("form-data; name=\"file\"; filename=\"a%22b.wav\"").file_name.value() == "a\"b.wav");
    BOOST_TEST(head("form-data; name=\"file\"; filename=\"a\\\\b.wav\"").file_name.value() == "a\\b.wav");
    BOOST_TEST(head("form-data; name=\"file\"; filename=\"C:\\fakepath\\b.wav\"").file_name.value() == "C:\\fakepath\\b.wav");
    // Other escapes of browsers stay: a line break in a name would only do harm.
    BOOST_TEST(head("form-data; name=\"file\"; filename=\"a%0D%0Ab%25.wav\"").file_name.value() == "a%0D%0Ab%25.wav");
}

BOOST_AUTO_TEST_CASE(extended_file_names) {
    BOOST_TEST(head("form-data; name=file; filename*=UTF-8''na%C3%AFve%20file.wav").file_name.value() == "na\xc3\xafve file.wav");
    BOOST_TEST(head("form-data; name=file; filename*=utf-8'en'a.wav").file_name.value() == "a.wav");
    BOOST_TEST(head("form-data; name=file; filename=\"plain.wav\"; filename*=UTF-8''ext.wav").file_name.value() == "ext.wav");
    BOOST_TEST(head("form-data; name=file; filename*=UTF-8''ext.wav; filename=\"plain.wav\"").file_name.value() == "ext.wav");
}

BOOST_AUTO_TEST_CASE(a_bad_extended_file_name_gives_way_to_the_plain_one) {
    for (const std::string bad : {"UTF-8''%C3", "UTF-8''%zz", "UTF-8''%4", "latin1''a", "UTF-8'a", "UTF-8''%ed%a0%80", "a"}) {
        BOOST_TEST(head("form-data; name=file; filename=\"plain.wav\"; filename*=" + bad).file_name.value() == "plain.wav", bad);
        BOOST_TEST(head("form-data; name=file; filename*=" + bad + "; filename=\"plain.wav\"").file_name.value() == "plain.wav", bad);
        // Alone it still says that the part is a file.
        BOOST_TEST(head("form-data; name=file; filename*=" + bad).file_name.value() == "", bad);
    }
}

BOOST_AUTO_TEST_CASE(other_headers_of_a_part) {
    const auto read = part_head_of(
        "content-type:audio/mp4\r\nCONTENT-DISPOSITION:form-data; name=file\r\nContent-Length: 12\r\nContent-Transfer-Encoding: "
        "binary\r\n");
    BOOST_REQUIRE(read.has_value());
    BOOST_TEST(read->name == "file");
    BOOST_TEST(read->content_type == "audio/mp4");
    const auto folded = part_head_of("Content-Disposition: form-data;\r\n name=file;\r\n\tfilename=\"a.wav\"\r\n");
    BOOST_REQUIRE(folded.has_value());
    BOOST_TEST(folded->file_name.value() == "a.wav");
}

BOOST_AUTO_TEST_CASE(heads_that_are_refused) {
    BOOST_TEST(refused(""));
    BOOST_TEST(refused("Content-Type: audio/wav\r\n"));
    BOOST_TEST(refused("Content-Disposition: attachment; name=file\r\n"));
    BOOST_TEST(refused("Content-Disposition: form-data\r\n"));
    BOOST_TEST(refused("Content-Disposition: form-data; name=\r\n"));
    BOOST_TEST(refused("Content-Disposition: form-data; name=\"\"\r\n"));
    BOOST_TEST(refused("Content-Disposition: form-data; name=\"a\r\n"));
    BOOST_TEST(refused("Content-Disposition: form-data; name=\"a\"; name=\"b\"\r\n"));
    BOOST_TEST(refused("Content-Disposition: form-data; name=a; filename=b; filename=c\r\n"));
    BOOST_TEST(refused("Content-Disposition: form-data; name=\"a\"b\r\n"));
    BOOST_TEST(refused("Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b\r\n"));
    BOOST_TEST(refused("Content-Disposition: form-data; name=a\r\nno colon\r\n"));
    BOOST_TEST(refused(": form-data; name=a\r\n"));
    BOOST_TEST(refused("Content-Disposition: form-data; name=\"a\x01\"\r\n"));
    BOOST_TEST(refused(std::string("Content-Disposition: form-data; name=\"a") + '\0' + "\"\r\n"));
    BOOST_TEST(refused("Content-Disposition: form-data; name=\"a\rb\"\r\n"));
    BOOST_TEST(refused("Content-Disposition: form-data; name=\"\xff\"\r\n"));
    BOOST_TEST(refused("Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64\r\n"));
}

BOOST_AUTO_TEST_CASE(utf8_by_the_table) {
    for (const std::string_view good : {"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                                        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
        BOOST_TEST(valid_utf8(good));
    }
    for (const std::string_view bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe2\x82",
                                       "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "a\xf0\x9f\x98"}) {
        BOOST_TEST(!valid_utf8(bad));
    }
    BOOST_TEST(
        printable_utf8("Gr\xc3\xbc\xc3\x9f"
                       "e"));
    BOOST_TEST(!printable_utf8("a\nb"));
    BOOST_TEST(!printable_utf8("\x7f"));
}
