// SPDX-License-Identifier: MIT
// Names for the symbol tests: templates, lambdas, unnamed namespaces, constructors, nested
// inlining.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

namespace shop
{
namespace
{
struct account {
    explicit account(long start);
    void add(int x)
    {
        sum += x * 3L;
    }
    long sum;
};

__attribute__((noinline)) account::account(long start) : sum(start)
{
    std::printf("%ld\n", start);
}

int hidden(int x)
{
    return x * 7 + 1;
}
} // namespace

template <class T> T twice(T value)
{
    return value + value;
}

template <class T> struct shelf {
    __attribute__((noinline)) T total(const std::vector<T> &values) const
    {
        T sum{};
        for (const T &value : values)
            sum += twice(value);
        return sum;
    }
};

__attribute__((noinline)) long run(std::vector<int> &values)
{
    account a(1);
    auto add = [&](int x) { a.add(hidden(twice(x))); };
    std::for_each(values.begin(), values.end(), add);
    std::sort(values.begin(), values.end(), [](int l, int r) { return hidden(l) > hidden(r); });
    return a.sum + shelf<int>().total(values);
}

class base
{
  public:
    virtual ~base() = default;
    virtual double area(double x) const = 0;
};

class round_thing : public base
{
  public:
    double area(double x) const override
    {
        return x * x * 3.14;
    }
};
} // namespace shop

int main(int argc, char **)
{
    std::vector<int> values(static_cast<std::size_t>(argc) * 100, 3);
    std::unique_ptr<shop::base> thing = std::make_unique<shop::round_thing>();
    std::printf("%ld %f\n", shop::run(values), thing->area(argc));
}
