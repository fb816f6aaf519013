/* SPDX-License-Identifier: MIT */
/* throws MILLISECONDS: two threads throw and catch through five frames all the time. */
#include "burn.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

static uint64_t end_ns;

struct destroyed {
    long &count;
    ~destroyed()
    {
        count++;
    }
};

__attribute__((noinline)) static long go_down(int depth, long &count)
{
    destroyed here{count};
    if (depth == 0)
        throw std::runtime_error(std::to_string(count));
    return go_down(depth - 1, count) + 1;
}

static void throw_and_catch(long *wrong)
{
    while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns) {
        long count = 0;
        try {
            go_down(4, count);
            ++*wrong;
        } catch (const std::exception &caught) {
            *wrong += count != 5 || std::string(caught.what()) != "0";
        }
    }
}

int main(int argc, char **argv)
{
    end_ns = std::strtoull(argc > 1 ? argv[1] : "500", nullptr, 10) * 1000000;
    long wrong[2] = {0, 0};
    std::thread first(throw_and_catch, &wrong[0]), second(throw_and_catch, &wrong[1]);
    first.join();
    second.join();
    std::printf("%ld wrong\n", wrong[0] + wrong[1]);
    return 0;
}
