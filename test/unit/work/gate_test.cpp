// The gate tells when the last one has left, and no sooner.
#define BOOST_TEST_MODULE gate
#include <work/gate.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace {

using hearonce::work::gate;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(nobody_inside_needs_no_wait) {
    gate at;
    BOOST_TEST(at.wait_empty(0s));
}

BOOST_AUTO_TEST_CASE(somebody_inside_is_waited_for_only_so_long) {
    gate at;
    const gate::pass inside(at);
    BOOST_TEST(!at.wait_empty(0s));
    BOOST_TEST(!at.wait_empty(1ms));
}

BOOST_AUTO_TEST_CASE(a_moved_pass_counts_once) {
    gate at;
    {
        gate::pass first(at);
        const gate::pass second(std::move(first));
        BOOST_TEST(!at.wait_empty(0s));
    }
    BOOST_TEST(at.wait_empty(0s));
}

BOOST_AUTO_TEST_CASE(the_last_one_of_many_threads_ends_the_wait) {
    for (int round = 0; round < 50; ++round) {
        std::atomic<int> gone = 0;
        std::vector<std::thread> threads;
        {
            auto at = std::make_optional<gate>();
            for (int i = 0; i < 8; ++i) {
                threads.emplace_back([inside = std::make_unique<gate::pass>(*at), &gone]() mutable {
                    ++gone;
                    inside.reset();
                });
            }
            BOOST_TEST(at->wait_empty(20s));
            BOOST_TEST(gone == 8);
            at.reset();
        }
        for (auto& thread : threads) thread.join();
    }
}

}  // namespace
