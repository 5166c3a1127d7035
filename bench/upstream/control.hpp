// What is asked of the upstream double itself, and what costs nothing at a real one. Pure but for the script it sets.
//
// Holds: set_faults(), answer_other(). Next file: scenario.hpp.
#pragma once

#include <bench/upstream/answer.hpp>
#include <bench/upstream/route.hpp>
#include <bench/upstream/scenario.hpp>
#include <bench/upstream/settings.hpp>

#include <http/exchange.hpp>

#include <string_view>

namespace hearonce::upstream {

// POST /_faults. A list of specs is a script, one a call; {"script": [...], "always": "...", "others": "..."} sets any of them.
answer set_faults(scenario& of, std::string_view json);

// Models, and what there is not.
answer answer_other(const http::request_head& head, const route& to, const settings& how);

}  // namespace hearonce::upstream
