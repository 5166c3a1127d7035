// Every kind of failure, and every boundary of time, without a clock.
#define BOOST_TEST_MODULE dispatch_policy
#include <work/dispatch_policy.hpp>

#include <boost/test/unit_test.hpp>

namespace {

using namespace hearonce;
using namespace std::chrono_literals;
using hearonce::work::dispatch_policy;
using hearonce::work::retry_rule;
using time_point = dispatch_policy::time_point;
using step = dispatch_policy::step;

error again(errc code = errc::upstream_error) {
    return error(code).with_remedy(remedy::again);
}
error elsewhere(errc code = errc::upstream_error) {
    return error(code).with_remedy(remedy::elsewhere);
}

struct fixture {
    const time_point start{1000s};
    retry_rule rule;
    deadline far{start + 1h};

    dispatch_policy flight(std::size_t backends = 1, unsigned spent = 0) const {
        return {rule, std::vector<deadline>(backends, far), start, spent};
    }
    void check_call(const step& next, std::size_t backend, time_point at) const {
        BOOST_REQUIRE(next.call.has_value());
        BOOST_TEST(*next.call == backend);
        BOOST_TEST((next.at == at), "called " << (next.at - start) / 1ms << " ms after the start, not " << (at - start) / 1ms);
    }
    static void check_end(const step& next, errc code, std::optional<std::size_t> by) {
        BOOST_REQUIRE(!next.call.has_value());
        BOOST_TEST((next.why.code() == code), "ended with " << entry_of(next.why.code()).code);
        BOOST_TEST((next.by == by));
    }
};

BOOST_FIXTURE_TEST_SUITE(dispatch_policy_, fixture)

BOOST_AUTO_TEST_CASE(it_begins_with_the_first_backend_at_once) {
    auto one = flight(2);
    check_call(one.begin(start), 0, start);
}

BOOST_AUTO_TEST_CASE(a_route_without_backends_or_time_calls_nobody) {
    auto none = flight(0);
    check_end(none.begin(start), errc::upstream_timeout, std::nullopt);
    dispatch_policy late(rule, {deadline(start), deadline(start)}, start, 0);
    check_end(late.begin(start), errc::upstream_timeout, std::nullopt);
    dispatch_policy last_moment(rule, {deadline(start + 1ns)}, start, 0);
    check_call(last_moment.begin(start), 0, start);
}

BOOST_AUTO_TEST_CASE(every_failure_of_every_kind) {
    for (int i = 0; i <= static_cast<int>(errc::cancelled); ++i) {
        const auto code = static_cast<errc>(i);
        BOOST_TEST_CONTEXT(entry_of(code).code) {
            auto final = flight(2);
            (void) final.begin(start);
            check_end(final.failed(error(code).with_remedy(remedy::none), false, start), code, 0);

            auto next = flight(2);
            (void)next.begin(start);
            check_call(next.failed(elsewhere(code), false, start + 1s), 1, start + 1s);

            auto same = flight(2);
            (void)same.begin(start);
            check_call(same.failed(again(code), false, start + 1s), 0, start + 1500ms);

            auto by_itself = flight(2);
            (void)by_itself.begin(start);
            const auto after = by_itself.failed(error(code), false, start);
            switch (remedy_of(code)) {
                case remedy::none: check_end(after, code, 0); break;
                case remedy::elsewhere: check_call(after, 1, start); break;
                case remedy::again: check_call(after, 0, start + 500ms); break;
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(what_somebody_read_ends_it_whatever_the_failure) {
    for (const auto& why : {again(), elsewhere(), error(errc::rate_limit_exceeded)}) {
        auto one = flight(2);
        (void)one.begin(start);
        check_end(one.failed(why, true, start), why.code(), 0);
    }
}

BOOST_AUTO_TEST_CASE(attempts_are_counted_for_each_backend_and_pauses_repeat_the_last) {
    rule.attempts = 4;
    auto one = flight(2);
    check_call(one.begin(start), 0, start);
    check_call(one.failed(again(), false, start), 0, start + 500ms);
    check_call(one.failed(again(), false, start + 500ms), 0, start + 2500ms);
    check_call(one.failed(again(), false, start + 2500ms), 0, start + 4500ms);
    check_call(one.failed(again(), false, start + 4500ms), 1, start + 4500ms);
    check_call(one.failed(again(), false, start + 5s), 1, start + 5500ms);
    check_call(one.failed(again(), false, start + 6s), 1, start + 8s);
    check_call(one.failed(again(), false, start + 9s), 1, start + 11s);
    check_end(one.failed(again(), false, start + 12s), errc::upstream_error, 0);
}

BOOST_AUTO_TEST_CASE(no_pauses_mean_no_pause) {
    rule.pauses.clear();
    auto one = flight();
    (void)one.begin(start);
    check_call(one.failed(again(), false, start + 3s), 0, start + 3s);
}

BOOST_AUTO_TEST_CASE(what_the_client_tried_counts_but_one_attempt_is_left) {
    const unsigned calls_after_spent[][2] = {{0, 3}, {1, 2}, {2, 1}, {3, 1}, {4, 1}, {4294967295U, 1}};
    for (const auto& [spent, calls] : calls_after_spent) {
        auto one = flight(1, spent);
        auto next = one.begin(start);
        unsigned made = 0;
        while (next.call) {
            ++made;
            next = one.failed(again(), false, next.at);
        }
        BOOST_TEST(made == calls, spent << " spent");
    }
}

BOOST_AUTO_TEST_CASE(the_window_ends_repeated_calls_exactly) {
    const struct {
        std::chrono::nanoseconds failed_after;
        bool again;
    } rows[] = {{19500ms - 1ns, true}, {19500ms, true}, {19500ms + 1ns, false}};
    for (const auto& row : rows) {
        auto alone = flight();
        (void)alone.begin(start);
        const auto next = alone.failed(again(), false, start + row.failed_after);
        BOOST_TEST(next.call.has_value() == row.again);
    }
}

BOOST_AUTO_TEST_CASE(another_backend_is_called_after_the_window_too) {
    auto one = flight(2);
    (void)one.begin(start);
    check_call(one.failed(again(), false, start + 25s), 1, start + 25s);
}

BOOST_AUTO_TEST_CASE(the_limit_ends_repeated_calls_exactly) {
    const struct {
        std::chrono::nanoseconds limit;
        bool again;
    } rows[] = {{1500ms - 1ns, false}, {1500ms, false}, {1500ms + 1ns, true}};
    for (const auto& row : rows) {
        dispatch_policy one(rule, {deadline(start + row.limit)}, start, 0);
        (void)one.begin(start);
        const auto next = one.failed(again(), false, start + 1s);
        BOOST_TEST(next.call.has_value() == row.again);
    }
}

BOOST_AUTO_TEST_CASE(a_backend_whose_own_limit_has_passed_is_passed_over) {
    dispatch_policy one(rule, {deadline(start + 30s), deadline(start + 10s), deadline(start + 60s)}, start, 0);
    (void)one.begin(start);
    check_call(one.failed(elsewhere(), false, start + 10s), 2, start + 10s);
    dispatch_policy other(rule, {deadline(start + 30s), deadline(start + 10s)}, start, 0);
    (void)other.begin(start);
    check_call(other.failed(elsewhere(), false, start + 10s - 1ns), 1, start + 10s - 1ns);
}

BOOST_AUTO_TEST_CASE(retry_after_is_obeyed_within_the_window) {
    const struct {
        std::chrono::seconds asked;
        std::optional<std::chrono::milliseconds> called_after;
    } rows[] = {{0s, 500ms}, {1s, 1s}, {19s, 19s}, {20s, 20s}, {21s, std::nullopt}, {std::chrono::seconds::max(), std::nullopt}};
    for (const auto& row : rows) {
        auto one = flight();
        (void)one.begin(start);
        const auto why = again(errc::rate_limit_exceeded).with_retry_after(row.asked);
        const auto next = one.failed(why, false, start);
        if (row.called_after) {
            check_call(next, 0, start + *row.called_after);
        } else {
            check_end(next, errc::rate_limit_exceeded, 0);
            BOOST_TEST((next.why.retry_after() == row.asked));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_retry_after_that_does_not_fit_goes_on_to_the_next) {
    auto one = flight(2);
    (void)one.begin(start);
    check_call(one.failed(error(errc::rate_limit_exceeded).with_retry_after(60s), false, start + 1s), 1, start + 1s);
    dispatch_policy short_of_time(rule, {deadline(start + 5s)}, start, 0);
    (void)short_of_time.begin(start);
    check_end(short_of_time.failed(error(errc::rate_limit_exceeded).with_retry_after(5s), false, start), errc::rate_limit_exceeded, 0);
}

BOOST_AUTO_TEST_CASE(who_is_not_asked_costs_no_attempt_and_no_time) {
    auto one = flight(2);
    (void)one.begin(start);
    check_call(one.refused(errc::overloaded, start), 1, start);
    check_call(one.failed(again(), false, start), 1, start + 500ms);
}

BOOST_AUTO_TEST_CASE(when_nobody_is_asked_the_first_refusal_is_the_answer) {
    auto one = flight(2);
    (void)one.begin(start);
    (void)one.refused(error(errc::overloaded).with_retry_after(7s), start);
    const auto end = one.refused(error(errc::overloaded).with_retry_after(3s), start);
    check_end(end, errc::overloaded, 0);
    BOOST_TEST((end.why.retry_after() == 7s));
}

BOOST_AUTO_TEST_CASE(the_most_telling_failure_is_the_answer_whichever_came_first) {
    const errc by_telling[] = {errc::rate_limit_exceeded, errc::upstream_error, errc::insufficient_quota};
    for (std::size_t more = 0; more < std::size(by_telling); ++more) {
        for (std::size_t less = more + 1; less < std::size(by_telling); ++less) {
            for (const bool first : {true, false}) {
                auto one = flight(2);
                (void)one.begin(start);
                (void)one.failed(elsewhere(by_telling[first ? more : less]), false, start);
                check_end(one.failed(elsewhere(by_telling[first ? less : more]), false, start), by_telling[more], first ? 0 : 1);
            }
        }
    }
    for (const auto code : by_telling) {
        auto one = flight(2);
        (void)one.begin(start);
        (void)one.refused(errc::overloaded, start);
        check_end(one.failed(elsewhere(code), false, start), code, 1);
    }
}

BOOST_AUTO_TEST_CASE(among_equals_the_first_backends_failure_is_told) {
    auto one = flight(2);
    (void)one.begin(start);
    (void)one.failed(error(errc::rate_limit_exceeded).with_retry_after(40s), false, start);
    const auto end = one.failed(error(errc::overloaded).with_retry_after(1s), false, start);
    check_end(end, errc::rate_limit_exceeded, 0);
    BOOST_TEST((end.why.retry_after() == 40s));
}

BOOST_AUTO_TEST_CASE(a_failure_that_ends_it_is_told_before_all_others) {
    auto one = flight(2);
    (void)one.begin(start);
    (void)one.failed(elsewhere(errc::rate_limit_exceeded), false, start);
    check_end(one.failed(errc::unsupported_audio, false, start), errc::unsupported_audio, 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
