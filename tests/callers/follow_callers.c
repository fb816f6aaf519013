/* SPDX-License-Identifier: MIT */
/*
 * Callers found in the code of a library, held against the calls and returns that the program executes. The program
 * runs freely and is stopped at random times. Stopped in the library, the program continues by single steps:
 *
 *     stop: unwind ─▶ step ─▶ call: push ─▶ step: unwind, compare with the shadow stack ─▶ return: pop ─▶ …
 *                                           return with an empty shadow stack: the next caller of the stop itself
 *
 * Two unwinders are compared: rows as the sampler applies them (CFI, and rows from code), and the launcher's unwinder
 * with its caller search. A stack is wrong if one of its callers differs from the calls made, or if it ends as complete
 * before them.
 *
 * Usage: follow_callers LIBRARY SECONDS PCS PROGRAM [ARG…]
 */
#include "../unit/unwind/shadow.h"

#include "base/containers/array.h"
#include "unwind/code/code_rows.h"
#include "unwind/rows/row_index.h"
#include "wire/records.h"

#include "../unit/unwind/real_files.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

enum {
    FRAMES_MAX = 1024,
    WINDOW_STEPS = 3000,  /* from a stop on */
    RETURN_STEPS = 60000, /* at most, to the return from the function of a stop at a new PC */
    JUDGED_MAX = 2,       /* stacks at the same PC */
    RUN_US_MAX = 1500,    /* between two stops */
    REPORTED_MAX = 20,
    PIECES_MAX = 512,
};

struct walk {
    uint64_t frames[FRAMES_MAX];
    size_t count;
    bool is_complete;
};

/* Both unwinders at one PC. */
struct found {
    struct walk by_rows, by_launcher;
};

struct totals {
    size_t stops, pcs, callers, wrong_callers;
    size_t stacks, wrong_by_rows, wrong_by_launcher, without_caller, incomplete;
    size_t row_pcs; /* PCs whose caller the rows give */
};

struct follower {
    struct tracee tracee;
    struct code_image *images[TRACEE_MAPPINGS_MAX]; /* by mapping */
    struct compiled_rows rows[TRACEE_MAPPINGS_MAX][PIECES_MAX];
    bool is_compiled[TRACEE_MAPPINGS_MAX][PIECES_MAX];
    struct caller_cache callers;
    uint64_t generation;
    struct shadow shadow;
    struct stack_bytes stack;
    const char *library;
    uint8_t *judged; /* stacks, by PC in the library's text */
    size_t judged_bytes;
    size_t pcs_wanted;
    bool has_left_map; /* a walk led out of the mappings known */
    time_t end_s;
    struct totals totals;
};

/* As the recorder does: large files in pieces. */
static void open_image(struct follower *f, size_t mapping)
{
    struct elf_file *elf = f->tracee.elfs[mapping];
    if (code_image_is_possible(elf))
        (void)code_image_open(&f->images[mapping], elf);
    else if ((elf = open_real_file(f->tracee.names[mapping])))
        (void)code_image_open_in_pieces(&f->images[mapping], elf);
}

static bool find_code(void *context, uint64_t avma, struct code_place *place)
{
    struct follower *f = context;
    size_t i = tracee_find(&f->tracee, avma);
    if (i == f->tracee.mapping_count)
        return false;
    if (!f->images[i] && f->tracee.elfs[i])
        open_image(f, i);
    *place = (struct code_place){f->images[i], f->tracee.mappings[i].bias};
    return true;
}

static bool find_mapping(void *context, uint64_t avma, struct offline_mapping *mapping)
{
    struct follower *f = context;
    size_t i = tracee_find(&f->tracee, avma);
    if (i < f->tracee.mapping_count)
        *mapping = f->tracee.mappings[i];
    return i < f->tracee.mapping_count;
}

static void forget_mappings(struct follower *f)
{
    f->generation++;
    for (size_t i = 0; i < TRACEE_MAPPINGS_MAX; i++) {
        code_image_close(f->images[i]);
        f->images[i] = NULL;
        for (size_t k = 0; k < PIECES_MAX; k++) {
            compile_free(&f->rows[i][k]);
            f->rows[i][k] = (struct compiled_rows){0};
            f->is_compiled[i][k] = false;
        }
    }
}

static void walk_by_launcher(struct follower *f, const struct full_regs *now,
                             const struct stack_view *stack, struct walk *walk)
{
    const struct code_map code = {
        .find = find_code, .context = f, .cache = &f->callers, .generation = f->generation};
    const struct offline_map map = {.find = find_mapping, .context = f, .code = &code};
    const struct offline_frames out = {.pcs = walk->frames, .max = FRAMES_MAX};
    struct offline_result result = offline_unwind_in(&map, now, false, stack, &out);
    walk->count = result.frame_count;
    walk->is_complete = result.end == OFFLINE_ROOT;
    f->has_left_map |= result.end == OFFLINE_UNMAPPED;
}

/* The rows of a piece of a module, as the recorder compiles them. */
static const struct compiled_rows *rows_of(struct follower *f, size_t mapping, uint32_t piece)
{
    const struct unwind_module *module = f->tracee.mappings[mapping].module;
    struct compiled_rows *rows = &f->rows[mapping][piece];
    const uint32_t start = piece << ROW_PIECE_SHIFT, end = start + ROW_PIECE_BYTES;
    struct code_place place;
    if (f->is_compiled[mapping][piece])
        return rows;
    f->is_compiled[mapping][piece] = true;
    assert_int_equal(unwind_module_compile(module, start, end, rows), 0);
    if (find_code(f, f->tracee.mappings[mapping].start_avma, &place) && place.image)
        assert_int_equal(
            code_rows_fill(place.image, unwind_module_base_svma(module), start, end, rows), 0);
    return rows;
}

static uint32_t rule_at(struct follower *f, uint64_t avma)
{
    const uint32_t none = row_rule(ROW_NONE, ROW_FP_SAME, 0);
    size_t i = tracee_find(&f->tracee, avma);
    if (i == f->tracee.mapping_count || !f->tracee.mappings[i].module)
        return none;
    const struct offline_mapping *mapping = &f->tracee.mappings[i];
    uint64_t relative = avma - mapping->bias - unwind_module_base_svma(mapping->module);
    if (relative >> ROW_PIECE_SHIFT >= PIECES_MAX)
        return none;
    const struct compiled_rows *rows = rows_of(f, i, (uint32_t)(relative >> ROW_PIECE_SHIFT));
    size_t count = ARRAY_COUNT_UP_TO(rows->rows, rows->count, start, relative);
    return count ? rows->rows[count - 1].rule : none;
}

/* Up to the first frame without a row for its PC. */
static void walk_by_rows(struct follower *f, const struct full_regs *now,
                         const struct stack_view *stack, struct walk *walk)
{
    struct unwind_regs regs = {now->value[UNWIND_DWARF_PC], now->value[UNWIND_DWARF_SP],
                               now->value[UNWIND_DWARF_FP]};
    bool is_return_address = false;
    for (walk->count = 0; walk->count < FRAMES_MAX;) {
        walk->frames[walk->count++] = regs.pc;
        uint32_t rule = rule_at(f, unwind_lookup_pc(regs.pc, is_return_address));
        enum unwind_result result = unwind_apply(rule, &regs, stack);
        walk->is_complete = result == UNWIND_END;
        if (result != UNWIND_OK)
            return;
        is_return_address = row_kind(rule) != ROW_SIGNAL;
    }
}

static void find(struct follower *f, const struct full_regs *now, struct found *found)
{
    struct stack_view stack =
        read_stack(&f->tracee, &f->stack, now->value[UNWIND_DWARF_SP], SIZE_MAX);
    walk_by_launcher(f, now, &stack, &found->by_launcher);
    walk_by_rows(f, now, &stack, &found->by_rows);
}

static void print_frame(const struct follower *f, uint64_t pc)
{
    size_t i = tracee_find(&f->tracee, pc);
    bool is_known = i < f->tracee.mapping_count;
    const char *name = is_known ? strrchr(f->tracee.names[i], '/') : NULL;
    printf(" %.12s+%" PRIx64, name ? name + 1 : "?",
           pc - (is_known ? f->tracee.mappings[i].bias : 0));
}

static void report(const struct follower *f, const char *what, const struct walk *walk,
                   const uint64_t *truth, size_t count)
{
    printf("%s%s: found", what, walk->is_complete ? ", complete" : "");
    for (size_t i = 0; i < walk->count && i < 6; i++)
        print_frame(f, walk->frames[i]);
    printf("; made");
    for (size_t i = 0; i < count && i < 5; i++)
        print_frame(f, truth[i]);
    printf("\n");
}

/* truth: the callers, innermost first. */
static bool is_wrong(struct follower *f, const struct walk *walk, const uint64_t *truth,
                     size_t count)
{
    size_t compared = walk->count - 1 < count ? walk->count - 1 : count, wrong = 0;
    for (size_t i = 0; i < compared; i++)
        wrong += walk->frames[1 + i] != truth[i];
    f->totals.callers += compared;
    f->totals.wrong_callers += wrong;
    return wrong > 0 || (walk->is_complete && compared < count);
}

static void judge(struct follower *f, const struct found *found, const uint64_t *truth,
                  size_t count)
{
    struct totals *t = &f->totals;
    bool is_wrong_by_rows = is_wrong(f, &found->by_rows, truth, count);
    bool is_wrong_by_launcher = is_wrong(f, &found->by_launcher, truth, count);
    t->stacks++;
    t->row_pcs += found->by_rows.count > 1;
    t->incomplete += !found->by_launcher.is_complete;
    t->without_caller += found->by_launcher.count == 1;
    if (is_wrong_by_rows && t->wrong_by_rows++ < REPORTED_MAX)
        report(f, "rows", &found->by_rows, truth, count);
    if (is_wrong_by_launcher && t->wrong_by_launcher++ < REPORTED_MAX)
        report(f, "launcher", &found->by_launcher, truth, count);
    if (!is_wrong_by_launcher && !found->by_launcher.is_complete && t->incomplete < REPORTED_MAX)
        report(f, "incomplete", &found->by_launcher, truth, count);
}

/* The count of stacks judged at a PC of the library; NULL: outside. */
static uint8_t *judged_at(struct follower *f, uint64_t pc)
{
    size_t i = tracee_find(&f->tracee, pc);
    if (i == f->tracee.mapping_count || !f->tracee.mappings[i].module ||
        !strstr(f->tracee.names[i], f->library))
        return NULL;
    const struct offline_mapping *mapping = &f->tracee.mappings[i];
    size_t bytes = unwind_module_text_bytes(mapping->module);
    if (!f->judged) {
        f->judged = calloc(bytes, 1);
        f->judged_bytes = bytes;
        assert_non_null(f->judged);
    }
    uint64_t at = pc - mapping->bias - unwind_module_base_svma(mapping->module);
    return at < f->judged_bytes ? &f->judged[at] : NULL;
}

static void count_judged(struct follower *f, uint8_t *judged)
{
    f->totals.pcs += *judged == 0;
    ++*judged;
}

static void judge_by_shadow(struct follower *f, const struct full_regs *now)
{
    static struct found found;
    static uint64_t truth[SHADOW_MAX];
    uint8_t *judged = f->shadow.depth ? judged_at(f, now->value[UNWIND_DWARF_PC]) : NULL;
    if (!judged || *judged >= JUDGED_MAX)
        return;
    for (size_t i = 0; i < f->shadow.depth; i++)
        truth[i] = f->shadow.entries[f->shadow.depth - 1 - i].caller.pc;
    find(f, now, &found);
    judge(f, &found, truth, f->shadow.depth);
    count_judged(f, judged);
}

static bool is_return(const struct tracee *tracee, uint64_t pc)
{
    uint8_t code[2] = {0};
    if (!tracee_read(tracee, pc, code, sizeof(code)))
        return false;
    bool has_prefix = code[0] == 0xf2 || code[0] == 0xf3;
    return code[has_prefix] == 0xc3 || code[0] == 0xc2;
}

/* Stops with a SIGSTOP of ours, with other signals of the program, or ends. */
static bool wait_for(struct follower *f, int *signal)
{
    int status;
    if (waitpid(f->tracee.pid, &status, 0) < 0 || !WIFSTOPPED(status))
        return false;
    *signal = WSTOPSIG(status);
    return true;
}

static struct full_regs read_regs(const struct follower *f)
{
    struct user_regs_struct user;
    assert_int_equal(ptrace(PTRACE_GETREGS, f->tracee.pid, NULL, &user), 0);
    return tracee_regs(&user);
}

/* The dynamic linker may not have mapped all at the first stops. */
static void map_again(struct follower *f)
{
    f->has_left_map = false;
    forget_mappings(f);
    tracee_map(&f->tracee);
}

/* From a stop on by single steps. False: the program has ended. *signal: of the program, to be delivered. */
static bool follow(struct follower *f, uint8_t *judged, int *signal)
{
    static struct found at_stop;
    uint64_t truth[64];
    size_t known = 0;
    bool has_ended = false;
    struct full_regs before = read_regs(f);
    const bool is_new = *judged < JUDGED_MAX;
    find(f, &before, &at_stop);
    if (f->has_left_map) {
        map_again(f);
        judged = judged_at(f, before.value[UNWIND_DWARF_PC]);
        find(f, &before, &at_stop);
    }
    f->shadow.depth = 0;
    f->totals.stops++;
    *signal = 0;
    for (size_t step = 0; step < (is_new && !known ? RETURN_STEPS : WINDOW_STEPS); step++) {
        bool returns = f->shadow.depth == 0 && is_return(&f->tracee, before.value[UNWIND_DWARF_PC]);
        if (ptrace(PTRACE_SINGLESTEP, f->tracee.pid, NULL, NULL) != 0 || !wait_for(f, signal)) {
            has_ended = true;
            break;
        }
        if (*signal != SIGTRAP)
            break;
        *signal = 0;
        struct full_regs after = read_regs(f);
        if (returns && known < sizeof(truth) / sizeof(truth[0]))
            truth[known++] = after.value[UNWIND_DWARF_PC];
        else
            shadow_follow(&f->shadow, &f->tracee, &before, &after);
        judge_by_shadow(f, &after);
        before = after;
    }
    if (is_new && known) {
        judge(f, &at_stop, truth, known);
        count_judged(f, judged);
    }
    return !has_ended;
}

/* Runs freely for a random time, and stops. False: the program has ended. */
static bool run_freely(struct follower *f, int signal)
{
    const struct timespec time = {.tv_nsec = 1000L * (100 + random() % RUN_US_MAX)};
    if (ptrace(PTRACE_CONT, f->tracee.pid, NULL, (void *)(intptr_t)signal) != 0)
        return false;
    nanosleep(&time, NULL);
    syscall(SYS_tgkill, f->tracee.pid, f->tracee.pid, SIGSTOP);
    while (wait_for(f, &signal)) {
        if (signal == SIGSTOP)
            return true;
        ptrace(PTRACE_CONT, f->tracee.pid, NULL, (void *)(intptr_t)signal);
    }
    return false;
}

static void run(struct follower *f)
{
    int signal = 0;
    while (f->totals.pcs < f->pcs_wanted && time(NULL) < f->end_s && run_freely(f, signal)) {
        uint64_t pc = read_regs(f).value[UNWIND_DWARF_PC];
        signal = 0;
        if (tracee_find(&f->tracee, pc) == f->tracee.mapping_count)
            map_again(f);
        uint8_t *judged = judged_at(f, pc);
        if (judged && !follow(f, judged, &signal))
            return;
    }
}

/* The program's output is discarded, ours is not. */
static bool start(struct follower *f, char *const argv[])
{
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3),
        null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, STDOUT_FILENO);
    bool is_started = tracee_start(&f->tracee, argv);
    dup2(out, STDOUT_FILENO);
    close(out);
    close(null);
    return is_started;
}

int main(int argc, char **argv)
{
    static struct follower f;
    cpu_set_t one;
    if (argc < 5) {
        fprintf(stderr, "usage: follow_callers LIBRARY SECONDS PCS PROGRAM [ARG...]\n");
        return 2;
    }
    /* Steps are faster without a switch to another processor. */
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
    f.library = argv[1];
    f.end_s = time(NULL) + atoi(argv[2]);
    f.pcs_wanted = (size_t)atoi(argv[3]);
    if (!start(&f, argv + 4))
        return 77;
    run(&f);
    tracee_end(&f.tracee);
    const struct totals *t = &f.totals;
    printf("stops %zu pcs %zu stacks %zu by_rows %zu callers %zu wrong_callers %zu wrong_by_rows "
           "%zu wrong_by_launcher %zu "
           "without_caller %zu incomplete %zu\n",
           t->stops, t->pcs, t->stacks, t->row_pcs, t->callers, t->wrong_callers, t->wrong_by_rows,
           t->wrong_by_launcher, t->without_caller, t->incomplete);
    return 0;
}
