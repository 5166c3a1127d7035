// The whole gateway over real sockets, its engine scripted.
#define BOOST_TEST_MODULE flow
#include <boost/test/unit_test.hpp>
