/* SPDX-License-Identifier: MIT */
/*
 * What seccomp_eval.c says of a filter, the kernel does: children install filters that are made up and make a system call that
 * takes no arguments with those that are asked about. For whom a filter would be misread: a program would be killed.
 *
 *     ld nr; jeq getppid ─ no ─▶ allow
 *                        └ yes ▶ random instructions ─▶ ret
 */
#include "sampler/seccomp/seccomp_eval.c"

#include <errno.h>
#include <linux/audit.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { FILTERS = 300, CALLS = 6, LENGTH_MAX = 24, VALUES = 40 };

struct filter {
    struct sock_filter code[LENGTH_MAX];
    uint32_t count;
    bool reads_pc;
};

static uint64_t state = 88172645463325252;

static uint32_t random_below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % limit;
}

static uint32_t random_word(void)
{
    static const uint32_t words[] = {0,  1,    2,          3,          7,         31,
                                     32, 4096, 0x7fffffff, 0x80000000, UINT32_MAX};
    return words[random_below(sizeof(words) / sizeof(words[0]))];
}

static uint32_t random_action(void)
{
    static const uint32_t actions[] = {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD,
                                       SECCOMP_RET_TRAP,         SECCOMP_RET_TRACE,
                                       SECCOMP_RET_USER_NOTIF,   SECCOMP_RET_ERRNO | EPERM};
    if (random_below(2))
        return SECCOMP_RET_ALLOW | random_below(3);
    return random_below(4) ? SECCOMP_RET_ERRNO | EIO : actions[random_below(6)];
}

static void add(struct filter *filter, uint32_t code, uint32_t k, uint32_t jt, uint32_t jf)
{
    filter->code[filter->count++] =
        (struct sock_filter){(uint16_t)code, (uint8_t)jt, (uint8_t)jf, k};
}

/* Of those that are left. */
static uint32_t random_jump(const struct filter *filter, uint32_t last)
{
    uint32_t most = last - filter->count - 1;
    return random_below(most < 6 ? most + 1 : 6);
}

static void add_random(struct filter *filter, uint32_t last)
{
    static const uint32_t tests[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
    uint32_t field = 4 * random_below(16);
    switch (random_below(8)) {
    case 0:
    case 1:
        filter->reads_pc |= field == 8 || field == 12;
        add(filter, BPF_LD | BPF_W | BPF_ABS, field, 0, 0);
        break;
    case 2:
        add(filter, BPF_JMP | BPF_JA, random_jump(filter, last), 0, 0);
        break;
    case 3:
        add(filter, BPF_ALU | BPF_AND | BPF_K, random_word(), 0, 0);
        break;
    case 4:
        add(filter, BPF_RET | BPF_K, random_action(), 0, 0);
        break;
    default:
        add(filter, BPF_JMP | tests[random_below(4)] | BPF_K, random_word(),
            random_jump(filter, last), random_jump(filter, last));
    }
}

static struct filter random_filter(void)
{
    struct filter filter = {.count = 0};
    uint32_t last = 7 + random_below(LENGTH_MAX - 7);
    add(&filter, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
    add(&filter, BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 1, 0);
    add(&filter, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    while (filter.count < last)
        add_random(&filter, last);
    add(&filter, BPF_RET | BPF_K, random_action(), 0, 0);
    return filter;
}

static struct seccomp_call random_call(void)
{
    struct seccomp_call call = {.data = {.nr = SYS_getppid, .arch = AUDIT_ARCH_X86_64}};
    for (int i = 0; i < 6; i++)
        call.data.args[i] = (uint64_t)random_word() << 32 | random_word();
    return call;
}

static bool filter_allows(const struct filter *filter, const struct seccomp_call *call)
{
    return seccomp_eval_allows(filter->code, filter->count, call);
}

/* In shared memory: what became of each call that a child made. */
enum fate { NOT_MADE, DIED, FAILED, DONE };
static volatile int *fates;

static void make_calls(const struct filter *filter, const struct seccomp_call *calls)
{
    const struct rlimit none = {0, 0};
    struct sock_fprog program = {(unsigned short)filter->count,
                                 (struct sock_filter *)(uintptr_t)filter->code};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGSYS, SIG_DFL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(1);
    for (int i = 0; i < CALLS; i++) {
        if (fates[i] != NOT_MADE)
            continue;
        const uint64_t *a = (const uint64_t *)calls[i].data.args;
        fates[i] = DIED;
        fates[i] = syscall(SYS_getppid, a[0], a[1], a[2], a[3], a[4], a[5]) < 0 ? FAILED : DONE;
    }
    _exit(0);
}

/* False: the kernel does not take the filter. */
static bool ask_kernel(const struct filter *filter, const struct seccomp_call *calls)
{
    for (int i = 0; i < CALLS; i++)
        fates[i] = NOT_MADE;
    for (int turn = 0; turn < CALLS && fates[CALLS - 1] == NOT_MADE; turn++) {
        int status;
        pid_t child = fork();
        if (child == 0)
            make_calls(filter, calls);
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
            return false;
    }
    return true;
}

static void test_the_kernel_agrees(void **unused)
{
    (void)unused;
    int asked = 0, allowed = 0;
    fates = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < FILTERS; i++) {
        struct filter filter = random_filter();
        struct seccomp_call calls[CALLS];
        for (int j = 0; j < CALLS; j++)
            calls[j] = random_call();
        if (!ask_kernel(&filter, calls))
            continue;
        for (int j = 0; j < CALLS; j++) {
            bool is_allowed = filter_allows(&filter, &calls[j]);
            if (is_allowed || !filter.reads_pc)
                assert_int_equal(is_allowed, fates[j] == DONE);
            asked++;
            allowed += is_allowed;
        }
    }
    assert_true(asked > FILTERS * CALLS * 9 / 10);
    assert_in_range(allowed, asked / 4, asked * 3 / 4);
}

static void test_what_is_allowed_is_so_for_all_values(void **unused)
{
    (void)unused;
    int allowed = 0, depends = 0;
    for (int i = 0; i < 20000; i++) {
        struct filter filter = random_filter();
        struct seccomp_call call = random_call();
        bool was_allowed = filter_allows(&filter, &call);
        call.unknown = random_below(64);
        if (!filter_allows(&filter, &call)) {
            depends += was_allowed;
            continue;
        }
        assert_true(was_allowed);
        allowed++;
        for (int j = 0; j < VALUES; j++) {
            struct seccomp_call one = random_call();
            for (int k = 0; k < 6; k++)
                if (!(call.unknown >> k & 1))
                    one.data.args[k] = call.data.args[k];
            assert_true(filter_allows(&filter, &one));
        }
    }
    assert_true(allowed > 1000 && depends > 10);
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define COUNT(code) (sizeof(code) / sizeof((code)[0]))

static void test_what_is_allowed_but_noticed_is_not(void **unused)
{
    (void)unused;
    const struct sock_filter logs[] = {RETURN(SECCOMP_RET_LOG)};
    const struct sock_filter allows_all[] = {RETURN(SECCOMP_RET_ALLOW)};
    struct seccomp_call call = {.unknown = 63};
    assert_false(seccomp_eval_allows(logs, COUNT(logs), &call));
    assert_true(seccomp_eval_allows(allows_all, COUNT(allows_all), &call));
    assert_false(seccomp_eval_allows(allows_all, 0, &call));
}

static void test_other_instructions_are_refused(void **unused)
{
    (void)unused;
    static const uint16_t others[] = {BPF_ST,
                                      BPF_STX,
                                      BPF_MISC | BPF_TAX,
                                      BPF_MISC | BPF_TXA,
                                      BPF_LD | BPF_IMM,
                                      BPF_LDX | BPF_IMM,
                                      BPF_LD | BPF_MEM,
                                      BPF_LD | BPF_W | BPF_LEN,
                                      BPF_ALU | BPF_NEG,
                                      BPF_ALU | BPF_ADD | BPF_K,
                                      BPF_ALU | BPF_AND | BPF_X,
                                      BPF_JMP | BPF_JEQ | BPF_X,
                                      BPF_LD | BPF_B | BPF_ABS,
                                      0x100 | BPF_LD | BPF_W | BPF_ABS};
    const struct seccomp_call call = {.data = {.nr = 1}};
    for (size_t i = 0; i < COUNT(others); i++) {
        const struct sock_filter code[] = {{.code = others[i]}, RETURN(SECCOMP_RET_ALLOW)};
        assert_false(seccomp_eval_allows(code, COUNT(code), &call));
    }
    const struct sock_filter returns_a[] = {{.code = BPF_RET | BPF_A}};
    assert_false(seccomp_eval_allows(returns_a, COUNT(returns_a), &call));
}

/* Rows of tests as libseccomp and Chromium write them, of a value that is not known. */
static void test_long_rows_of_tests(void **unused)
{
    (void)unused;
    enum { TESTS = 100 };
    struct sock_filter near[2 * TESTS + 2] = {LOAD(args[0])};
    struct sock_filter far[TESTS + 3] = {LOAD(args[0])};
    for (unsigned i = 0; i < TESTS; i++) {
        near[1 + 2 * i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, i, 0, 1);
        near[2 + 2 * i] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
        far[1 + i] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, i, (uint8_t)(TESTS - i), 0);
    }
    near[2 * TESTS + 1] = far[TESTS + 1] = far[TESTS + 2] =
        (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
    struct seccomp_call call = {.unknown = 1};
    assert_true(seccomp_eval_allows(near, COUNT(near), &call));
    assert_true(seccomp_eval_allows(far, COUNT(far), &call));
    near[2 * TESTS].k = SECCOMP_RET_KILL_PROCESS;
    far[TESTS + 2].k = SECCOMP_RET_KILL_PROCESS;
    assert_false(seccomp_eval_allows(near, COUNT(near), &call));
    assert_false(seccomp_eval_allows(far, COUNT(far), &call));
}

static void test_whatever_lies_there_is_survived(void **unused)
{
    (void)unused;
    struct sock_filter *code = malloc(LENGTH_MAX * sizeof(*code));
    assert_non_null(code);
    for (int i = 0; i < 200000; i++) {
        for (int j = 0; j < LENGTH_MAX; j++)
            code[j] = (struct sock_filter){
                (uint16_t)random_below(random_below(9) ? 0x100 : 0x10000),
                (uint8_t)random_below(16), (uint8_t)random_below(16), random_word()};
        struct seccomp_call call = random_call();
        call.unknown = random_below(64);
        seccomp_eval_allows(code, LENGTH_MAX, &call);
    }
    free(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_kernel_agrees),
        cmocka_unit_test(test_what_is_allowed_is_so_for_all_values),
        cmocka_unit_test(test_what_is_allowed_but_noticed_is_not),
        cmocka_unit_test(test_other_instructions_are_refused),
        cmocka_unit_test(test_long_rows_of_tests),
        cmocka_unit_test(test_whatever_lies_there_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
