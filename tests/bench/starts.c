/* SPDX-License-Identifier: MIT */
/* starts processes COUNT: forks and executes `true`, one after the other.
 * starts AT_ONCE COUNT: creates and joins COUNT threads, AT_ONCE at a time.
 * Writes the wall time, in ns, to the file BENCH_RESULT. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int start_process(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/true", "true", NULL);
        _exit(99);
    }
    int status = -1;
    return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : -1;
}

static void *do_nothing(void *unused)
{
    return unused;
}

static int start_threads(unsigned at_once)
{
    static pthread_t threads[4096];
    unsigned made = 0;
    while (made < at_once && pthread_create(&threads[made], NULL, do_nothing, NULL) == 0)
        made++;
    for (unsigned i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
    return made == at_once ? 0 : -1;
}

static int64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int report(int64_t ns)
{
    const char *path = getenv("BENCH_RESULT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return -1;
    fprintf(file, "%lld\n", (long long)ns);
    return fclose(file);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    unsigned long at_once = strtoul(argv[1], NULL, 10), count = strtoul(argv[2], NULL, 10);
    if (at_once > 4096)
        return 2;
    int64_t start_ns = wall_ns();
    for (unsigned long i = 0; i < count; i += at_once ? at_once : 1)
        if ((at_once ? start_threads((unsigned)at_once) : start_process()) != 0)
            return 1;
    return report(wall_ns() - start_ns) == 0 ? 0 : 1;
}
