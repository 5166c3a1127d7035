// The part on disk: what survives a broken download, what never gets the model's name.
#define BOOST_TEST_MODULE model_file
#include <boost/test/unit_test.hpp>

#include <app/model_file.hpp>

#include <test/support/scratch.hpp>

#include <csignal>

#include <sys/resource.h>
#include <sys/stat.h>

using namespace hearonce::app;
using hearonce::test::scratch;
namespace fs = std::filesystem;

namespace {

std::size_t files_in(const fs::path& folder) {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& one : fs::directory_iterator(folder)) ++count;
    return count;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_part_is_found_again_and_becomes_the_model) {
    const scratch place;
    const auto folder = place.folder() / "deep" / "models";
    {
        model_part part(folder, "x");
        BOOST_TEST(part.problem() == "");
        BOOST_TEST(part.state().bytes == 0u);
        BOOST_TEST(!part.state().can_resume());
        BOOST_TEST(part.begin_again("\"v1\"") == "");
        BOOST_TEST(part.append("lmgg") == "");
        BOOST_TEST(part.append("123") == "");
    }
    BOOST_TEST(!fs::exists(folder / "ggml-x.bin"));
    {
        model_part part(folder, "x");
        BOOST_TEST(part.state().bytes == 7u);
        BOOST_TEST(part.state().etag == "\"v1\"");
        BOOST_TEST(part.state().can_resume());
        BOOST_TEST(part.append("4") == "");
        BOOST_TEST(part.finish() == "");
    }
    BOOST_TEST(scratch::read(folder / "ggml-x.bin") == "lmgg1234");
    BOOST_TEST(files_in(folder) == 1u);
}

BOOST_AUTO_TEST_CASE(beginning_again_forgets_what_was_there) {
    const scratch place;
    place.write("ggml-x.bin.part", "old bytes");
    place.write("ggml-x.bin.part.etag", "\"v1\"\n");
    {
        model_part part(place.folder(), "x");
        BOOST_TEST(part.state().bytes == 9u);
        BOOST_TEST(part.begin_again("") == "");
        BOOST_TEST(part.state().bytes == 0u);
        BOOST_TEST(part.append("n") == "");
    }
    {
        model_part part(place.folder(), "x");
        BOOST_TEST(part.state().bytes == 1u);
        BOOST_TEST(!part.state().can_resume());
        part.discard();
    }
    BOOST_TEST(files_in(place.folder()) == 0u);
}

BOOST_AUTO_TEST_CASE(nothing_is_left_of_a_try_that_brought_nothing) {
    const scratch place;
    {
        model_part part(place.folder(), "x");
    }
    BOOST_TEST(files_in(place.folder()) == 0u);
}

BOOST_AUTO_TEST_CASE(one_process_at_a_time) {
    const scratch place;
    model_part first(place.folder(), "x");
    BOOST_TEST(first.append("lmgg") == "");
    {
        model_part second(place.folder(), "x");
        BOOST_TEST(second.problem().find("another process is fetching this model") != std::string::npos);
        model_part other(place.folder(), "y");
        BOOST_TEST(other.problem() == "");
    }
    BOOST_TEST(fs::exists(place.folder() / "ggml-x.bin.part"));
    BOOST_TEST(first.finish() == "");
}

BOOST_AUTO_TEST_CASE(folders_and_files_that_cannot_be_had_are_named) {
    const scratch place;
    place.write("file", "x");
    BOOST_TEST(model_part(place.folder() / "file" / "models", "x").problem().find("cannot be made") != std::string::npos);
    // A symbolic link could lead anywhere.
    fs::create_symlink(place.folder() / "file", place.folder() / "ggml-x.bin.part");
    BOOST_TEST(model_part(place.folder(), "x").problem().find("cannot be opened") != std::string::npos);
    BOOST_TEST(scratch::read(place.folder() / "file") == "x");
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_said_and_keeps_what_fits) {
    const scratch place;
    model_part part(place.folder(), "x");
    BOOST_TEST(part.begin_again("\"v1\"") == "");
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{100, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto failed = part.append(std::string(200, 'x'));
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, ignored);
    BOOST_TEST(failed.find("cannot be written") != std::string::npos);
    BOOST_TEST(part.state().bytes == 100u);
}

BOOST_AUTO_TEST_CASE(digests) {
    const scratch place;
    const auto file = place.write("abc", "abc");
    std::uint64_t seen = 0;
    const auto note = [&seen](std::uint64_t bytes) {
        seen = bytes;
        return true;
    };
    BOOST_TEST(file_digest(file, "SHA1", note) == "a9993e364706816aba3e25717850c26c9cd0d89d");
    BOOST_TEST(file_digest(file, "SHA256", note) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    BOOST_TEST(seen == 3u);
    BOOST_TEST(file_digest(place.write("long", std::string(3'000'001, 'x')), "SHA1", note).size() == 40u);
    BOOST_TEST(seen == 3'000'001u);
    BOOST_TEST(file_digest(place.folder() / "none", "SHA1", note) == "");
    BOOST_TEST(file_digest(file, "SHA1", [](std::uint64_t) { return false; }) == "");
}

BOOST_AUTO_TEST_CASE(removing) {
    const scratch place;
    place.write("ggml-x.bin", "12345");
    place.write("ggml-x.bin.part", "123");
    place.write("ggml-x.bin.part.etag", "1");
    place.write("ggml-y.bin", "1");
    BOOST_TEST(*remove_model(place.folder(), "x") == 9u);
    BOOST_TEST(files_in(place.folder()) == 1u);
    BOOST_TEST(*remove_model(place.folder(), "x") == 0u);
}
