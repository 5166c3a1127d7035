// What is kept of finished work: order, bounds, lives, and a model that does the same slowly.
#define BOOST_TEST_MODULE kept_results
#include <hearonce/kept_results.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <optional>
#include <random>
#include <string>

namespace {

using cache = hearonce::kept_results<int, std::string, long>;

std::shared_ptr<const std::string> text(const std::string& value) {
    return std::make_shared<const std::string>(value);
}

bool has(cache& kept, int key, long now = 0) {
    return kept.find(key, now).outcome != nullptr;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_empty_one_knows_nothing) {
    cache kept(10, 10);
    cache::waste out;
    BOOST_TEST(!has(kept, 1));
    kept.forget(1, out);
    kept.sweep(1000, 10, out);
    kept.clear(out);
    BOOST_TEST(out.empty());
    BOOST_TEST(kept.bytes() == 0u);
    BOOST_TEST(kept.entries() == 0u);
}

BOOST_AUTO_TEST_CASE(finds_what_it_keeps_and_says_until_when) {
    cache kept(10, 10);
    cache::waste out;
    const auto value = text("hello");
    BOOST_TEST(kept.keep(1, value, 5, 100, out));
    const auto found = kept.find(1, 0);
    BOOST_TEST(found.outcome == value);  // The same object, not a copy.
    BOOST_TEST(found.gone_at == 100);
    BOOST_TEST(!has(kept, 2));
    BOOST_TEST(kept.bytes() == 5u);
    BOOST_TEST(kept.entries() == 1u);
}

BOOST_AUTO_TEST_CASE(a_life_ends_exactly_at_its_time) {
    cache kept(10, 10);
    cache::waste out;
    kept.keep(1, text("a"), 1, 100, out);
    BOOST_TEST(has(kept, 1, 99));
    BOOST_TEST(!has(kept, 1, 100));
    BOOST_TEST(!has(kept, 1, 101));
    kept.sweep(99, 10, out);
    BOOST_TEST(out.empty());
    kept.sweep(100, 10, out);
    BOOST_TEST(out.size() == 1u);
    BOOST_TEST(kept.entries() == 0u);
    BOOST_TEST(kept.bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(a_sweep_drops_no_more_than_asked_and_the_oldest_first) {
    cache kept(100, 100);
    cache::waste out;
    for (int key = 0; key != 5; ++key) kept.keep(key, text(std::to_string(key)), 1, 10 + key, out);
    has(kept, 0);  // A use does not lengthen a life.
    kept.sweep(1000, 2, out);
    BOOST_REQUIRE(out.size() == 2u);
    BOOST_TEST(*out[0] == "0");
    BOOST_TEST(*out[1] == "1");
    BOOST_TEST(has(kept, 2, 11));
    kept.sweep(1000, 0, out);
    BOOST_TEST(kept.entries() == 3u);
}

BOOST_AUTO_TEST_CASE(the_least_recently_used_goes_first) {
    cache kept(3, 10);
    cache::waste out;
    for (int key = 1; key <= 3; ++key) kept.keep(key, text(std::to_string(key)), 1, 100, out);
    BOOST_TEST(has(kept, 1));  // Now 2 is the least recently used.
    kept.keep(4, text("4"), 1, 100, out);
    BOOST_REQUIRE(out.size() == 1u);
    BOOST_TEST(*out[0] == "2");
    kept.keep(5, text("5"), 2, 100, out);  // Two bytes: 3 goes, then 1.
    BOOST_REQUIRE(out.size() == 3u);
    BOOST_TEST(*out[1] == "3");
    BOOST_TEST(*out[2] == "1");
    BOOST_TEST(has(kept, 4));
    BOOST_TEST(has(kept, 5));
    BOOST_TEST(kept.bytes() == 3u);
}

BOOST_AUTO_TEST_CASE(bytes_at_the_bound_one_below_and_one_above) {
    for (const std::size_t size : {9u, 10u, 11u}) {
        cache kept(10, 10);
        cache::waste out;
        BOOST_TEST(kept.keep(1, text("x"), size, 100, out) == (size <= 10));
        BOOST_TEST(kept.bytes() == (size <= 10 ? size : 0));
        BOOST_TEST(has(kept, 1) == (size <= 10));
    }
}

BOOST_AUTO_TEST_CASE(what_is_too_large_drives_out_nothing_but_its_own_predecessor) {
    cache kept(10, 10);
    cache::waste out;
    kept.keep(1, text("one"), 5, 100, out);
    kept.keep(2, text("two"), 5, 100, out);
    BOOST_TEST(!kept.keep(2, text("huge"), 11, 100, out));
    BOOST_TEST(has(kept, 1));
    BOOST_TEST(!has(kept, 2));
    BOOST_TEST(kept.bytes() == 5u);
    BOOST_TEST(!kept.keep(3, text("huge"), static_cast<std::size_t>(-1), 100, out));
    BOOST_TEST(kept.bytes() == 5u);
}

BOOST_AUTO_TEST_CASE(entries_at_the_bound_one_below_and_one_above) {
    cache kept(1000, 3);
    cache::waste out;
    for (int key = 1; key <= 3; ++key) {
        kept.keep(key, text("x"), 0, 100, out);  // Entries without size are bounded all the same.
        BOOST_TEST(kept.entries() == static_cast<std::size_t>(key));
    }
    BOOST_TEST(out.empty());
    kept.keep(4, text("x"), 0, 100, out);
    BOOST_TEST(kept.entries() == 3u);
    BOOST_TEST(!has(kept, 1));
    cache none(1000, 0);
    BOOST_TEST(!none.keep(1, text("x"), 0, 100, out));
}

BOOST_AUTO_TEST_CASE(a_second_success_takes_the_place_of_the_first) {
    cache kept(10, 10);
    cache::waste out;
    kept.keep(1, text("old"), 4, 100, out);
    kept.keep(1, text("new"), 6, 200, out);
    BOOST_TEST(*kept.find(1, 150).outcome == "new");
    BOOST_TEST(kept.bytes() == 6u);
    BOOST_TEST(kept.entries() == 1u);
    BOOST_TEST(out.size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_goes_out_is_handed_over_alive) {
    cache kept(10, 10);
    std::weak_ptr<const std::string> watched;
    {
        cache::waste out;
        auto value = text("x");
        watched = value;
        kept.keep(1, std::move(value), 1, 100, out);
        kept.clear(out);
        BOOST_TEST(!watched.expired());
    }
    BOOST_TEST(watched.expired());
}

namespace {

// The same in a vector that is walked: most recently used last.
struct slow_cache {
    struct item {
        int key;
        std::size_t bytes;
        long gone_at;
        long order;
    };
    std::vector<item> items;
    std::size_t bytes_max, entries_max;
    long count = 0;

    std::size_t bytes() const {
        std::size_t sum = 0;
        for (auto& each : items) sum += each.bytes;
        return sum;
    }
    void forget(int key) {
        std::erase_if(items, [&](auto& each) { return each.key == key; });
    }
    bool find(int key, long now) {
        for (auto at = items.begin(); at != items.end(); ++at) {
            if (at->key != key || at->gone_at <= now) continue;
            std::rotate(at, at + 1, items.end());
            return true;
        }
        return false;
    }
    bool keep(int key, std::size_t size, long gone_at) {
        forget(key);
        if (size > bytes_max) return false;
        while (bytes() + size > bytes_max || items.size() >= entries_max) items.erase(items.begin());
        items.push_back({key, size, gone_at, ++count});
        return true;
    }
    void sweep(long now, std::size_t at_most) {
        while (at_most-- != 0) {
            auto oldest = std::min_element(items.begin(), items.end(), [](auto& a, auto& b) { return a.order < b.order; });
            if (oldest == items.end() || oldest->gone_at > now) return;
            items.erase(oldest);
        }
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(does_what_the_slow_model_does) {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed) {
            std::mt19937 random(seed);
            const auto pick = [&](unsigned below) { return static_cast<int>(random() % below); };
            const auto bytes_max = static_cast<std::size_t>(pick(60));
            const auto entries_max = static_cast<std::size_t>(1 + pick(8));
            cache kept(bytes_max, entries_max);
            slow_cache model{{}, bytes_max, entries_max};
            cache::waste out;
            long now = 0;
            for (int step = 0; step != 400; ++step) {
                const int key = pick(12);
                const auto size = static_cast<std::size_t>(pick(20));
                const auto many = static_cast<std::size_t>(pick(4));
                bool same = true;
                switch (pick(8)) {
                    case 0: now += pick(10); break;
                    case 1: kept.sweep(now, many, out), model.sweep(now, many); break;
                    case 2: kept.forget(key, out), model.forget(key); break;
                    case 3:
                    case 4: same = has(kept, key, now) == model.find(key, now); break;
                    default: same = kept.keep(key, text("x"), size, now + 20, out) == model.keep(key, size, now + 20);
                }
                BOOST_REQUIRE(same);
                BOOST_REQUIRE(kept.bytes() == model.bytes());
                BOOST_REQUIRE(kept.entries() == model.items.size());
            }
        }
    }
}
