// A folder of a test's own, gone with all that is in it when the test ends.
#pragma once

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace hearonce::test {

class scratch {
public:
    scratch() {
        std::string name = (std::filesystem::temp_directory_path() / "hearonce-test.XXXXXX").string();
        BOOST_REQUIRE(::mkdtemp(name.data()) != nullptr);
        folder_ = name;
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    ~scratch() {
        std::error_code ec;
        std::filesystem::remove_all(folder_, ec);
    }

    const std::filesystem::path& folder() const { return folder_; }
    std::filesystem::path write(const std::string& name, const std::string& text) const {
        const auto file = folder_ / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << text;
        return file;
    }
    static std::string read(const std::filesystem::path& file) {
        std::ostringstream text;
        text << std::ifstream(file, std::ios::binary).rdbuf();
        return text.str();
    }

private:
    std::filesystem::path folder_;
};

}  // namespace hearonce::test
