// Files only their owner reads, and the token lines in one of them.
#define BOOST_TEST_MODULE private_files
#include <boost/test/unit_test.hpp>

#include <app/private_file.hpp>
#include <app/tokens_file.hpp>
#include <test/support/scratch.hpp>

#include <openssl/evp.h>

#include <atomic>
#include <set>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

using namespace hearonce::app;
using hearonce::test::scratch;
namespace fs = std::filesystem;

namespace {

unsigned mode_of(const fs::path& file) {
    struct stat info{};
    BOOST_REQUIRE(::stat(file.c_str(), &info) == 0);
    return info.st_mode & 07777;
}

std::size_t entries(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_new_file_and_its_folder_are_the_owners_alone) {
    const scratch place;
    const auto file = place.folder() / "a" / "b" / "f";
    BOOST_REQUIRE(write_private_file(file, "text").has_value());
    BOOST_TEST(scratch::read(file) == "text");
    BOOST_TEST(mode_of(file) == 0600U);
    BOOST_TEST(mode_of(file.parent_path()) == 0700U);
    BOOST_TEST(*read_private_file(file) == "text");
    BOOST_TEST(entries(file.parent_path()) == 1U);
}

BOOST_AUTO_TEST_CASE(a_bare_name_is_a_file_in_this_folder) {
    const scratch place;
    const auto before = fs::current_path();
    fs::current_path(place.folder());
    const auto written = write_private_file("tokens", "text");
    fs::current_path(before);
    BOOST_REQUIRE(written.has_value());
    BOOST_TEST(scratch::read(place.folder() / "tokens") == "text");
}

BOOST_AUTO_TEST_CASE(an_old_file_keeps_its_mode_and_a_link_its_place) {
    const scratch place;
    const auto file = place.write("f", "old");
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
    const auto link = place.folder() / "link";
    fs::create_symlink(file, link);
    BOOST_REQUIRE(write_private_file(link, "new").has_value());
    BOOST_TEST(fs::is_symlink(link));
    BOOST_TEST(scratch::read(file) == "new");
    BOOST_TEST(mode_of(file) == 0640U);
}

BOOST_AUTO_TEST_CASE(failures_name_the_file_and_leave_the_old_one) {
    const scratch place;
    const auto plain = place.write("plain", "old");
    const auto inside = write_private_file(plain / "below", "x");
    BOOST_REQUIRE(!inside.has_value());
    BOOST_TEST(inside.error().text.find("plain") != std::string::npos);
    BOOST_TEST(scratch::read(plain) == "old");
    fs::create_directory(place.folder() / "folder");
    place.write("folder/child", "x");
    const auto onto = write_private_file(place.folder() / "folder", "x");
    BOOST_REQUIRE(!onto.has_value());
    BOOST_TEST(onto.error().text.find("cannot be replaced") != std::string::npos, onto.error().text);
    BOOST_TEST(entries(place.folder()) == 2U);
    BOOST_TEST(!read_private_file(place.folder() / "none").has_value());
    BOOST_TEST(!read_private_file(place.folder()).has_value());
}

BOOST_AUTO_TEST_CASE(the_folders_lock_lets_one_in_at_a_time) {
    const scratch place;
    const auto file = place.write("count", "0");
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int n = 0; n < 25; ++n) {
                const folder_lock lock(place.folder());
                const int count = std::stoi(*read_private_file(file));
                if (!write_private_file(file, std::to_string(count + 1))) std::abort();
            }
        });
    }
    for (auto& one : threads) one.join();
    BOOST_TEST(scratch::read(file) == "100");
}

BOOST_AUTO_TEST_SUITE(tokens)

BOOST_AUTO_TEST_CASE(are_random_and_their_line_is_their_hash) {
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) {
        const auto made = make_token("phone");
        const std::string token(made.token.reveal());
        BOOST_TEST(token.starts_with("hearonce_"));
        BOOST_TEST(token.size() == 9U + 64U);
        BOOST_TEST(seen.insert(token).second);
        unsigned char digest[32];
        BOOST_REQUIRE(EVP_Digest(token.data(), token.size(), digest, nullptr, EVP_sha256(), nullptr) == 1);
        std::string hex;
        for (const unsigned char byte : digest) {
            char two[3];
            std::snprintf(two, sizeof two, "%02x", byte);
            hex += two;
        }
        BOOST_TEST(made.line == "phone:" + hex);
        BOOST_TEST(made.line.find(token) == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(have_plain_names) {
    for (const char* name : {"a", "Phone-2", "me@home", "x y", "", "a:b", "a/b", "é", "#a", "a\n"}) {
        const std::string text = name;
        BOOST_TEST(valid_token_name(text) == (text == "a" || text == "Phone-2"), text);
    }
    BOOST_TEST(valid_token_name(std::string(64, 'a')));
    BOOST_TEST(!valid_token_name(std::string(65, 'a')));
}

BOOST_AUTO_TEST_CASE(lines_are_added_listed_and_taken_out) {
    const std::string before = "# mine\n\na:11\nb:22";
    BOOST_TEST(token_names(before) == (std::vector<std::string>{"a", "b"}), boost::test_tools::per_element());
    const std::string with = with_token(before, "c:33");
    BOOST_TEST(with == "# mine\n\na:11\nb:22\nc:33\n");
    BOOST_TEST(*without_token(with, "b") == "# mine\n\na:11\nc:33\n");
    BOOST_TEST(*without_token("a:1\nb:2\na:3\n", "a") == "b:2\n");
    BOOST_TEST(!without_token(with, "d").has_value());
    BOOST_TEST(!without_token(with, "").has_value());
    BOOST_TEST(!without_token("", "a").has_value());
    BOOST_TEST(with_token("", "a:1") == "a:1\n");
}

BOOST_AUTO_TEST_SUITE_END()
