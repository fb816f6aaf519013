// SPDX-License-Identifier: MIT
// storm_throw ROUNDS: throws through frames with destructors, catches, throws again.
#include "storm.h"

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

struct counted {
    uint64_t &count;
    ~counted()
    {
        count++;
    }
};

__attribute__((noinline)) static uint64_t go_down(unsigned depth, uint64_t &count, uint64_t random)
{
    counted here{count};
    std::vector<uint64_t> local(depth, random);
    if (depth == 0) {
        if (random % 3 == 0)
            throw std::runtime_error(std::to_string(random));
        if (random % 3 == 1)
            throw random;
        throw std::bad_alloc();
    }
    return go_down(depth - 1, count, random) + local.back();
}

static uint64_t throw_and_catch(unsigned depth, uint64_t random)
{
    uint64_t count = 0;
    try {
        try {
            return go_down(depth, count, random);
        } catch (const std::runtime_error &caught) {
            count += std::stoull(caught.what());
            throw;
        } catch (uint64_t number) {
            return count + number;
        }
    } catch (const std::exception &caught) {
        return count + std::string(caught.what()).size();
    }
}

static void *work(void *argument)
{
    storm *own = static_cast<storm *>(argument);
    for (unsigned long round = 0; round < own->rounds; round++) {
        uint64_t random = storm_random(own);
        own->sum = own->sum * 31 + throw_and_catch(random % 8, random);
    }
    return nullptr;
}

int main(int argc, char **argv)
{
    return storm_run(argc, argv, work);
}
