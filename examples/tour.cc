/* SPDX-License-Identifier: MIT */
/*
 * A program to try a profiler on: about two seconds of CPU on three threads that do different
 * things.
 *
 *     main ─┬─ "queens"    a recursion, in C
 *           ├─ "mandel"    arithmetic in small functions that the compiler inlines
 *           └─ "words"     the standard library: strings, a map, a sort
 */
#include "queens.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

namespace tour
{

struct Point {
    double x, y;
};

static inline double squared_length(Point p)
{
    return p.x * p.x + p.y * p.y;
}

static inline Point next(Point z, Point c)
{
    return {z.x * z.x - z.y * z.y + c.x, 2 * z.x * z.y + c.y};
}

static inline int escape_time(Point c, int limit)
{
    Point z = {0, 0};
    int steps = 0;
    while (steps < limit && squared_length(z) < 4) {
        z = next(z, c);
        steps++;
    }
    return steps;
}

static long mandelbrot(int size, int limit)
{
    long inside = 0;
    for (int row = 0; row < size; row++)
        for (int column = 0; column < size; column++)
            inside += escape_time({3.0 * column / size - 2, 2.0 * row / size - 1}, limit) == limit;
    return inside;
}

class Dictionary
{
  public:
    void add(const std::string &word)
    {
        counts_[word]++;
    }

    std::vector<std::pair<int, std::string>> most_frequent() const
    {
        std::vector<std::pair<int, std::string>> sorted;
        for (const auto &entry : counts_)
            sorted.emplace_back(entry.second, entry.first);
        std::sort(sorted.rbegin(), sorted.rend());
        return sorted;
    }

  private:
    std::map<std::string, int> counts_;
};

static std::string count_words(int rounds)
{
    Dictionary dictionary;
    unsigned seed = 1;
    for (int i = 0; i < rounds; i++) {
        seed = seed * 1103515245 + 12345;
        dictionary.add("word" + std::to_string(seed % 20011));
    }
    return dictionary.most_frequent().front().second;
}

template <typename Work> static std::thread start(const char *name, Work work)
{
    std::thread thread(work);
    pthread_setname_np(thread.native_handle(), name);
    return thread;
}

} // namespace tour

int main()
{
    unsigned long solutions = 0;
    long inside = 0;
    std::string word;
    std::thread threads[] = {
        tour::start("queens", [&] { solutions = queens_solutions(15); }),
        tour::start("mandel", [&] { inside = tour::mandelbrot(1200, 600); }),
        tour::start("words", [&] { word = tour::count_words(2000000); }),
    };
    for (std::thread &thread : threads)
        thread.join();
    std::printf("%lu solutions, %ld points inside, most frequent %s\n", solutions, inside,
                word.c_str());
    return 0;
}
