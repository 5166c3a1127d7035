// Every order of events for up to three callers of one key, and long random ones, each step compared with the model.
#define BOOST_TEST_MODULE flight_orders
#include <test/flight/flight_model.hpp>

#include <algorithm>
#include <functional>
#include <random>
#include <sstream>

namespace {

enum class act : std::uint8_t { come, come_briefly, refresh, no_store, leave, cancel, succeed, unkept, fail, tick, abandon, stop, destroy };

struct event {
    act what;
    std::size_t which = 0;  // Caller of a leave or cancel, run of an end.
};

std::ostream& operator<<(std::ostream& out, const event& one) {
    static const char* const names[] = {"come",   "come_briefly", "refresh", "no_store", "leave", "cancel", "succeed",
                                        "unkept", "fail",         "tick",    "abandon",  "stop",  "destroy"};
    return out << names[static_cast<std::size_t>(one.what)] << ' ' << one.which << "; ";
}

// One step of the clock is half a grace, a third of a life and the whole of a brief caller's patience.
constexpr milliseconds tick(50);
static_assert(grace == 2 * tick);

// Which events can happen, were the table as the model says. `callers_max`: how many may ever come.
std::vector<event> possible(const flight_model& model, std::size_t callers_max) {
    std::vector<event> found;
    if (model.waiters.size() < callers_max && !model.destroyed) {
        for (const auto what : {act::come, act::come_briefly, act::refresh, act::no_store}) found.push_back({what});
    }
    for (std::size_t one = 0; one != model.waiters.size(); ++one) {
        if (!model.waiting(one)) continue;
        found.push_back({act::leave, one});
        found.push_back({act::cancel, one});
    }
    for (std::size_t run = 0; run != model.runs.size(); ++run) {
        if (!model.runs[run].running) continue;
        for (const auto what : {act::succeed, act::unkept, act::fail}) found.push_back({what, run});
    }
    found.push_back({act::tick});
    if (model.destroyed) return found;
    if (model.grace_now != milliseconds(0) && !model.stopped) found.push_back({act::abandon});
    if (!model.stopped) found.push_back({act::stop});
    found.push_back({act::destroy});
    return found;
}

void happen(flight_model& model, const event& one, milliseconds step) {
    switch (one.what) {
        case act::come: model.come(enter_as::usual, forever); break;
        case act::come_briefly: model.come(enter_as::usual, model.now + tick); break;
        case act::refresh: model.come(enter_as::refresh, forever); break;
        case act::no_store: model.come(enter_as::no_store, forever); break;
        case act::leave:
        case act::cancel: model.go(one.which, wait_status::left); break;
        case act::succeed: model.end(static_cast<int>(one.which), verdict::success); break;
        case act::unkept: model.end(static_cast<int>(one.which), verdict::unkept); break;
        case act::fail: model.end(static_cast<int>(one.which), verdict::thrown); break;
        case act::tick: model.pass(step); break;
        case act::abandon: model.abandon_now(); break;
        case act::stop: model.stop(); break;
        case act::destroy: model.stop(); model.destroyed = true;
    }
}

// Callers live on two loops in turn, and so does the work they lead.
void happen(flight_bed& bed, const event& one, milliseconds step) {
    auto* where = bed.callers.size() % 2 == 0 ? &bed.loop : &bed.other;
    switch (one.what) {
        case act::come: bed.come(0, enter_as::usual, forever, where); break;
        case act::come_briefly: bed.come(0, enter_as::usual, fake_clock::now() + tick, where); break;
        case act::refresh: bed.come(0, enter_as::refresh, forever, where); break;
        case act::no_store: bed.come(0, enter_as::no_store, forever, where); break;
        case act::leave: bed.leave(*bed.callers[one.which]); break;
        case act::cancel: bed.cancel(*bed.callers[one.which]); break;
        case act::succeed: bed.end(one.which, verdict::success); break;
        case act::unkept: bed.end(one.which, verdict::unkept); break;
        case act::fail: bed.end(one.which, verdict::thrown); break;
        case act::tick: bed.pass(step); break;
        case act::abandon: bed.table->abandon_now(); break;
        case act::stop: bed.table->stop(); break;
        case act::destroy: bed.table.reset(); break;
    }
    if (one.what >= act::abandon) settle(bed.loop, bed.other);
}

// What differs; empty: nothing does.
std::string difference(const flight_bed& bed, const flight_model& model) {
    if (bed.runs.size() != model.runs.size()) return "number of runs";
    for (std::size_t run = 0; run != bed.runs.size(); ++run) {
        if (bed.runs[run]->ended == model.runs[run].running) return "whether run " + std::to_string(run) + " runs";
        if (bed.runs[run]->cancelled != model.runs[run].cancelled) return "whether run " + std::to_string(run) + " was cancelled";
    }
    for (std::size_t one = 0; one != bed.callers.size(); ++one) {
        const auto& seen = *bed.callers[one];
        const auto& thought = model.waiters[one];
        const auto who = " of caller " + std::to_string(one);
        if (seen.role != thought.role) return "role" + who;
        if (seen.end.has_value() != thought.end.has_value()) return "whether there is an end" + who;
        if (!seen.end) continue;
        if (seen.end->status != *thought.end) return "end" + who;
        const bool has_run = *thought.end == wait_status::done || *thought.end == wait_status::failed;
        if (seen.run() != (has_run ? thought.run : -1)) return "run" + who;
        if (seen.end->stored != thought.stored) return "stored" + who;
    }
    if (model.destroyed) return {};
    const auto stats = bed.table->stats();
    if (stats.flights != static_cast<std::size_t>(model.flights())) return "stats: flights";
    if (stats.waiters != static_cast<std::size_t>(model.places())) return "stats: waiters";
    if (stats.entries != (model.kept >= 0 ? 1u : 0u)) return "stats: entries";
    if (stats.bytes != (model.kept >= 0 ? 10u : 0u)) return "stats: bytes";
    return {};
}

std::string text(const std::vector<event>& events) {
    std::ostringstream out;
    for (auto& one : events) out << one;
    return out.str();
}

// Nothing may be left once the table is gone: no coroutine, no outcome.
std::string left_behind(flight_bed& bed) {
    bed.table.reset();
    settle(bed.loop, bed.other);
    if (frame::alive != 0) return "a coroutine is left";
    bed.callers.clear();
    if (outcome::alive != 0) return "an outcome is left";
    return {};
}

// Plays the events on a table and on a model, compares after each.
void play(const std::vector<event>& events, milliseconds step, const std::shared_ptr<two_loops>& loops) {
    flight_bed bed(usual_settings(), loops);
    flight_model model;
    for (auto& one : events) {
        happen(model, one, step);
        happen(bed, one, step);
        auto what = difference(bed, model);
        if (!what.empty()) BOOST_FAIL(what << ", step " << &one - events.data() + 1 << " of " << text(events));
    }
    auto what = left_behind(bed);
    if (!what.empty()) BOOST_FAIL(what << " after " << text(events));
}

// Every order of so many events, of those that `taken` takes. The model alone says what is possible; each whole order is played.
struct explorer {
    std::function<bool(const flight_model&, const event&)> taken;
    milliseconds step;
    std::size_t played = 0;
    std::vector<event> events{};
    std::shared_ptr<two_loops> loops = std::make_shared<two_loops>();

    void go(const flight_model& model, std::size_t depth) {
        if (depth == 0) {
            play(events, step, loops);
            ++played;
            return;
        }
        for (auto& one : possible(model, 3)) {
            if (!taken(model, one)) continue;
            auto after = model;
            happen(after, one, step);
            events.push_back(one);
            go(after, depth - 1);
            events.pop_back();
        }
    }
};

#ifdef HEARONCE_SANITIZED
constexpr std::size_t shallower = 1;
constexpr unsigned seeds = 300;
#else
constexpr std::size_t shallower = 0;
constexpr unsigned seeds = 3000;
#endif

void explore(std::function<bool(const flight_model&, const event&)> taken, std::size_t depth, milliseconds step) {
    explorer all{std::move(taken), step};
    all.go(flight_model{}, depth - shallower);
    BOOST_TEST_MESSAGE(all.played << " orders of " << depth - shallower << " events");
    BOOST_TEST(all.played > 1000u);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_order_of_everything) {
    explore([](auto&, auto&) { return true; }, 5, tick);
}

// Without those that the model treats alike (a cancellation is a leave, an unkept outcome a failure), longer orders are few enough.
// A caller that comes, goes, comes back in the grace or after it; ends, lives and the table's end at every place between.
BOOST_AUTO_TEST_CASE(every_long_order_of_what_differs) {
    const auto taken = [](const flight_model& model, const event& one) {
        switch (one.what) {
            case act::come:
            case act::leave:
            case act::succeed:
            case act::fail:
            case act::tick: return true;
            case act::destroy: return model.waiters.size() > 1;
            default: return false;
        }
    };
    explore(taken, 9, tick);
    explore(taken, 7, ttl);
}

BOOST_AUTO_TEST_CASE(every_long_order_with_refresh_and_deadlines) {
    const auto taken = [](const flight_model& model, const event& one) {
        switch (one.what) {
            case act::come_briefly: return model.waiters.size() < 2;
            case act::refresh: return !model.waiters.empty();
            case act::leave:
            case act::succeed:
            case act::tick: return true;
            default: return false;
        }
    };
    explore(taken, 8, tick);
}

BOOST_AUTO_TEST_CASE(long_random_orders) {
    const auto loops = std::make_shared<two_loops>();
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        std::mt19937 random(seed);
        const auto step = random() % 2 == 0 ? tick : milliseconds(300);
        std::vector<event> events;
        flight_model model;
        for (int length = 0; length != 60; ++length) {
            auto next = possible(model, 25);
            // What ends everything is a choice only now and then, else no order would be long.
            std::erase_if(next, [&](auto& one) { return one.what >= act::abandon && random() % 40 != 0; });
            events.push_back(next[random() % next.size()]);
            happen(model, events.back(), step);
        }
        BOOST_TEST_CONTEXT("seed " << seed) {
            play(events, step, loops);
        }
    }
}
