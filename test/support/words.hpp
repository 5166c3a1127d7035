// How many words of a transcript are wrong: edit distance over words.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace hearonce::test {

// Lower case, letters and digits only: punctuation is not what is heard.
inline std::vector<std::string> words_of(const std::string& text) {
    std::string plain;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        plain += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : ' ';
    }
    std::istringstream stream(plain);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

// Substitutions, insertions and deletions over all texts added, and the words that were said.
struct word_errors {
    std::size_t wrong = 0;
    std::size_t said = 0;

    void add(const std::string& truth, const std::string& heard) {
        const auto a = words_of(truth);
        const auto b = words_of(heard);
        std::vector<std::size_t> row(b.size() + 1);
        for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
        for (std::size_t i = 1; i <= a.size(); ++i) {
            std::size_t diagonal = row[0];
            row[0] = i;
            for (std::size_t j = 1; j <= b.size(); ++j) {
                const auto substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
                diagonal = row[j];
                row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
            }
        }
        wrong += row.back();
        said += a.size();
    }
    word_errors& operator+=(const word_errors& other) {
        wrong += other.wrong;
        said += other.said;
        return *this;
    }
    double rate() const { return said == 0 ? static_cast<double>(wrong) : static_cast<double>(wrong) / static_cast<double>(said); }
};

}  // namespace hearonce::test
