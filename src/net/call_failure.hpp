// Why a call brought no answer, in one line for the user.
//
// Holds: failure_of(). Next file: one_call.cpp.
#pragma once

#include <net/one_call.hpp>

#include <boost/system/error_code.hpp>

namespace hearonce::net {

// What `ec` means for a call that had come as far as `stage`; `timed_out`: a limit closed the connection.
call_failure failure_of(call_stage stage, const http_url& url, const boost::system::error_code& ec, bool timed_out);

}  // namespace hearonce::net
