// The whole gateway with its cloud backends in front of upstream doubles, over real sockets in one process.
#define BOOST_TEST_MODULE upstream_flow
#include <boost/test/unit_test.hpp>
