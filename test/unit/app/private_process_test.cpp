// What the process holds stays in it: asked of the kernel in a child, so that this program stays as it is.
#define BOOST_TEST_MODULE private_process
#include <app/private_process.hpp>

#include <boost/test/unit_test.hpp>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

// Bits of what is still open in a child after `prepare` ran there.
template <class Prepare>
int openings_after(Prepare prepare) {
    const auto child = ::fork();
    BOOST_REQUIRE(child >= 0);
    if (child == 0) {
        prepare();
        rlimit core{};
        int open = ::prctl(PR_GET_DUMPABLE) != 0 ? 1 : 0;
        if (::getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_cur != 0 || core.rlim_max != 0) open |= 2;
        ::_exit(open);
    }
    int status = 0;
    BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
    BOOST_REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

BOOST_AUTO_TEST_CASE(neither_core_files_nor_readers_of_memory) {
    BOOST_REQUIRE((openings_after([] {}) & 1) == 1);
#ifdef HEARONCE_SANITIZED
    // A leak checker attaches to its own process.
    BOOST_TEST((openings_after([] { hearonce::app::keep_memory_private(); }) & 1) == 1);
#else
    BOOST_TEST(openings_after([] { hearonce::app::keep_memory_private(); }) == 0);
#endif
}

}  // namespace
